"""One server for all tests of a session."""

from __future__ import annotations

import logging

import pytest

logging.getLogger("pika").setLevel(logging.CRITICAL)  # it logs a lot about unreachable servers


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    pytest.importorskip("pika", reason="pika is not installed")
    from tests.connectors.rabbitmq.server import NoServerError, Server

    try:
        found = Server.somewhere(tmp_path_factory.mktemp("rabbitmq"))
    except NoServerError as error:
        pytest.skip(f"no RabbitMQ on this machine: {error}")
    yield found
    found.close()
