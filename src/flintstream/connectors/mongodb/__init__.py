"""The source and the sink of MongoDB, on its Python driver. They need the extra ``mongodb``."""
