"""Experiments of many runs, each kept as soon as it is finished: what a bench and the reproduction have in common."""
