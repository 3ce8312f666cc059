"""Connections to the endpoint for Prometheus are few and short, and can be made to need a token."""

from __future__ import annotations

import socket
import threading
import urllib.error
import urllib.request
from contextlib import ExitStack, closing

import pytest
from tests.waiting import wait_for

from flintstream.errors import PlanError
from flintstream.reporters import limited_server, prometheus

pytest.importorskip("prometheus_client")


@pytest.fixture
def endpoint():
    with closing(prometheus.endpoint_at("127.0.0.1", 0)) as opened:
        yield opened


def scrape(port, **headers):
    asked = urllib.request.Request(f"http://127.0.0.1:{port}/metrics", headers=headers)
    with urllib.request.urlopen(asked, timeout=30) as reply:  # noqa: S310
        return reply.status


@pytest.mark.promise("S9")
def test_hundreds_of_silent_connections_take_few_threads_and_leave_the_endpoint_usable(endpoint):
    before = threading.active_count()
    with ExitStack() as stack:
        opened = [
            stack.enter_context(socket.create_connection(("127.0.0.1", endpoint.port), timeout=30)) for _ in range(200)
        ]
        assert scrape(endpoint.port) == 200
        assert threading.active_count() - before <= limited_server.MOST_CONNECTIONS
        assert all(connection.recv(1) == b"" for connection in opened[: -2 * limited_server.MOST_CONNECTIONS])


@pytest.mark.promise("S9")
def test_a_request_that_does_not_arrive_in_time_ends_the_connection(endpoint, monkeypatch):
    monkeypatch.setattr(limited_server, "CONNECTION_SECONDS", 0.2)
    with socket.create_connection(("127.0.0.1", endpoint.port), timeout=30) as connection:

        def send_a_byte():
            try:
                connection.sendall(b"G")
            except OSError:
                return True
            return False

        wait_for(send_a_byte)  # each byte in time does not help
    assert scrape(endpoint.port) == 200


@pytest.mark.promise("S37")
def test_the_endpoint_asks_for_the_token_of_a_file(tmp_path):
    file = tmp_path / "token"
    file.write_text("abc\n")
    with closing(prometheus.endpoint_at("127.0.0.1", 0, str(file))) as endpoint:
        assert scrape(endpoint.port, Authorization="Bearer abc") == 200
        for headers in (
            {},
            {"Authorization": "Bearer abd"},
            {"Authorization": "abc"},
            {"Authorization": "Bearer \xe9"},
        ):
            with pytest.raises(urllib.error.HTTPError, match="401"):
                scrape(endpoint.port, **headers)


@pytest.mark.promise("S37")
@pytest.mark.parametrize("content", [None, "", " \n"])
def test_a_file_without_a_token_is_refused(tmp_path, content):
    file = tmp_path / "token"
    if content is not None:
        file.write_text(content)
    with pytest.raises(
        PlanError,
        match=r"metrics\.prometheus\.token-file' (does not name a readable token file|names an empty file)",
    ):
        prometheus.endpoint_at("127.0.0.1", 0, str(file))
