"""Python objects: graphs, tables, pairs, and nested mappings and lists, which are also what JSON and YAML hold."""
