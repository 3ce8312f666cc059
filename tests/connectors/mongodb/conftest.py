"""One server for all tests here; it ends with them."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    pytest.importorskip("pymongo", reason="the extra 'mongodb' is not installed: make setup")
    from tests.connectors.mongodb.server import NoServerError, Server

    try:
        found = Server(tmp_path_factory.mktemp("mongodb"))
    except NoServerError as error:
        pytest.skip(f"no FerretDB on this machine: {error}")
    yield found
    found.close()
