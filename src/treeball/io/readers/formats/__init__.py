"""Formats of files, one a module with ``sniff`` and ``read``; the table of them is in ``readers/_read.py``."""
