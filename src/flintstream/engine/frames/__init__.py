"""DataFrames as streams, and streams as DataFrames."""
