"""Formats of files, one a module with ``sniff`` and ``read``.

Adding one is a module here, a line in the table of ``readers/_read.py``, and its name among the choices of
``readers/settings.py``, which a test compares with the table.
"""
