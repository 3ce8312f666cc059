"""Results of tables, as text and as pandas data."""
