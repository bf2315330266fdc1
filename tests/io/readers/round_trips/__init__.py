"""Hierarchies written at random in every format, and what must come back."""
