"""Loops over nodes, compiled by numba for the processor; `engine.CpuEngine` is what the rooms above use of it."""
