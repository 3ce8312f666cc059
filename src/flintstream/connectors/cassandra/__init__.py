"""The sink of Cassandra, on its Python driver. It needs the extra ``cassandra``."""
