"""Tables of Delta Lake and Iceberg."""
