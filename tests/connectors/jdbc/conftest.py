"""One server of each kind for all tests of a session."""

from __future__ import annotations

import pytest
from tests.connectors.jdbc.servers import Mariadb, NoServerError, Postgresql


def _server(kind):
    try:
        found = kind()
    except NoServerError as error:
        pytest.skip(f"no {kind.__name__} on this machine: {error}")
    yield found
    found.close()


@pytest.fixture(scope="session")
def postgresql():
    yield from _server(Postgresql)


@pytest.fixture(scope="session")
def mariadb():
    yield from _server(Mariadb)
