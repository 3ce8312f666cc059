"""One broker for all tests of a session."""

from __future__ import annotations

import pytest
from tests.connectors.kafka.broker import Broker, NoBrokerError


@pytest.fixture(scope="session")
def broker(tmp_path_factory):
    try:
        found = Broker(tmp_path_factory.mktemp("kafka"))
    except NoBrokerError as error:
        pytest.skip(f"no Kafka broker on this machine: {error}")
    yield found
    found.close()
