"""Hierarchies that outgrow one process: read out of core, placed branch by branch, kept as a folder of Parquet."""
