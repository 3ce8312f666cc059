"""Factories of expressions by subject; programs import them from ``flintstream.table.expressions``."""
