"""Jobs in SQL."""
