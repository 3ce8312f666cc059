"""Windows, assigners and triggers; public under :mod:`flintstream.datastream.window`."""
