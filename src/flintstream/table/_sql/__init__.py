"""SQL statements: parsing with sqlglot, and planning."""
