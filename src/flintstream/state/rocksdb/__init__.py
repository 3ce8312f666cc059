"""The RocksDB backend: state on the local disk of a worker."""
