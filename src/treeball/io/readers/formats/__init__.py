"""Formats of trees and ontologies, one module each with ``sniff`` and ``read``; and Python objects."""
