"""Lines of a TCP server, read like by programs that use Java's environment."""

from __future__ import annotations

import socket
import threading
from contextlib import contextmanager

import pytest

from flintstream.connectors.socket_text import SocketText
from flintstream.datastream import DataStream, StreamExecutionEnvironment


@contextmanager
def server(*connections):
    """Send each connection its parts, then close it."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve():
            for parts in connections:
                connection, _ = listening.accept()
                with connection:
                    for part in parts:
                        connection.sendall(part)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield listening.getsockname()[1]
        thread.join(300)


def collect(stream):
    with stream.execute_and_collect() as records:
        return list(records)


@pytest.fixture
def env():
    return StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"}).set_parallelism(2)


def test_lines_are_records_however_they_arrive(env):
    with server([b"to be\r\nor", b" not\n\ngr\xc3", b"\xbc\xc3\x9fe\nthe rest\r"]) as port:
        lines = DataStream(env._j_stream_execution_environment.socketTextStream("127.0.0.1", port))
        assert collect(lines.map(str.upper)) == ["TO BE", "OR NOT", "", "GRÜSSE", "THE REST\r"]


def test_a_delimiter_parts_records_and_belongs_to_none(env):
    with server([b"a||b|", b"|c||"]) as port:
        assert collect(env.socket_text_stream("127.0.0.1", port, "||")) == ["a", "b", "c"]


def test_a_closed_connection_is_made_again_as_often_as_asked_for(env):
    with server([b"first\n"], [b"second\n"]) as port:
        assert collect(env.socket_text_stream("127.0.0.1", port, "\n", 2)) == ["first", "second"]


def test_a_server_that_is_not_there_fails_the_job(env):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    env.socket_text_stream("127.0.0.1", port).print()
    with pytest.raises(ConnectionError, match=rf"cannot connect to 127\.0\.0\.1:{port}"):
        env.execute()


def test_a_port_or_delimiter_that_is_none_is_refused_at_once(env):
    with pytest.raises(ValueError, match="the port must be a number from 1 to 65535, got 70000"):
        env.socket_text_stream("127.0.0.1", 70_000)
    with pytest.raises(ValueError, match="delimiter"):
        SocketText("127.0.0.1", 1, "")


def test_a_stream_of_something_else_is_refused():
    with pytest.raises(TypeError, match="needs the Java object behind a stream, got 'text'"):
        DataStream("text")  # type: ignore[arg-type]
