"""One server for all tests of a session."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    pytest.importorskip("pulsar", reason="pulsar-client is not installed")
    from tests.connectors.pulsar.server import NoServerError, Server

    try:
        found = Server(tmp_path_factory.mktemp("pulsar"))
    except NoServerError as error:
        pytest.skip(f"no Pulsar on this machine: {error}")
    yield found
    found.close()
