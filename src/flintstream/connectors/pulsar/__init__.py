"""The source and the sink of Pulsar, on its Python client. They need the extra ``pulsar``."""
