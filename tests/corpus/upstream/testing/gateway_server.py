"""``pyflink.pyflink_gateway_server``: what tests of dependencies ask."""

from __future__ import annotations


def on_windows():
    """Return False: flintstream runs where Spark's daemons do."""
    return False
