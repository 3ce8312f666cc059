"""User functions; public under :mod:`flintstream.datastream.functions`."""
