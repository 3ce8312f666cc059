"""JSON in SQL: paths, their steps and filters, and texts."""
