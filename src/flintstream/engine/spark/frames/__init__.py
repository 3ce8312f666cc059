"""DataFrames as streams and streams as DataFrames: sources, schemas and types."""
