"""Formats of files of vectors, one a module; `registry` has the table of them."""
