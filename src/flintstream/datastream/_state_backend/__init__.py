"""The parts of :mod:`flintstream.datastream.state_backend`."""
