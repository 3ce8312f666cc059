"""State in RocksDB, on the local disk of a worker."""
