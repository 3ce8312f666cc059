"""``pyflink.testing`` for PyFlink's own tests on flintstream."""
