"""Bounded queries in SQL, beside Flink's Java, Spark SQL and DuckDB."""
