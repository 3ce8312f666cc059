"""One server for all tests here; it ends with them."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    pytest.importorskip("cassandra", reason="cassandra-driver is not installed")
    from tests.connectors.cassandra.server import NoServerError, Server

    try:
        found = Server(tmp_path_factory.mktemp("cassandra"))
    except NoServerError as error:
        pytest.skip(f"no Cassandra on this machine: {error}")
    yield found
    found.close()
