"""Paths and URIs, and the file stores behind them: the local disk, memory and fsspec."""
