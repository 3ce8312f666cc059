"""Keyed state as users see it; public under :mod:`flintstream.datastream.state`."""
