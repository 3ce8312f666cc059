"""How records become bytes, and bytes records; mirrors ``pyflink.datastream.formats``."""
