"""Tables: edge lists, tables of parents, breadcrumbs; as text, Parquet, Arrow or data frames."""
