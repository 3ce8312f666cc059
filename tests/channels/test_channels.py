"""Channels: what strangers at either end of a connection can and cannot do."""

from __future__ import annotations

import os
import pickle
import socket
import sys
import threading
import time
from contextlib import suppress
from dataclasses import replace

import pytest
from tests.waiting import wait_for

from flintstream.channels import channel as channels
from flintstream.channels import listener as listeners
from flintstream.channels.channel import Channel, Endpoint, StrangerError, connect, new_key
from flintstream.channels.listener import Listener
from flintstream.channels.tls import OwnCertificate
from flintstream.errors import MissingDependencyError

HERE = ("127.0.0.1", 0)
LONG = 60
GREETING = len(channels._GREETING) + channels._NONCE_BYTES
ANSWER = channels._NONCE_BYTES + channels._PROOF_BYTES


def echo(channel):
    with channel, suppress(OSError):
        while (message := channel.receive()) is not None:
            channel.send(message)


class Served(Listener):
    """Keeps the channels of the callers that it has let in."""

    def __init__(self, address):
        self.served: list[Channel] = []
        super().__init__(address, new_key(), self.served.append)


@pytest.fixture(params=["unix", "tcp", "tls"])
def echoing(request, tmp_path):
    address = str(tmp_path / "socket") if request.param == "unix" else HERE
    listener = Listener(address, new_key(), echo, encryption=OwnCertificate() if request.param == "tls" else None)
    yield listener
    listener.close()


@pytest.fixture
def plain(tmp_path):
    listener = Served(str(tmp_path / "socket"))
    yield listener
    listener.close()


def raw(listener):
    """Return a connection of a stranger."""
    connection = socket.socket(socket.AF_UNIX if isinstance(listener.address, str) else socket.AF_INET)
    connection.connect(listener.address)
    connection.settimeout(LONG)
    return connection


def read(connection, size):
    data = b""
    while len(data) < size and (more := connection.recv(size - len(data))):
        data += more
    return data


def rest(connection):
    with suppress(ConnectionResetError):
        return read(connection, 1 << 20)
    return b""


def test_messages_arrive_whole_and_in_order(echoing):
    messages = [b"", b"a", bytes(channels._SENT_AT_ONCE + 1), bytes(range(256)) * 10_000, b"end"]
    with connect(echoing.endpoint(), LONG) as channel:
        for message in messages:
            channel.send(message)
            assert channel.receive() == message


def test_many_callers_get_in_at_the_same_time(echoing):
    channels_ = [connect(echoing.endpoint(), LONG) for _ in range(20)]
    for number, channel in enumerate(channels_):
        channel.send(b"%d" % number)
    assert [channel.receive(seconds=LONG) for channel in channels_] == [b"%d" % number for number in range(20)]
    for channel in channels_:
        channel.close()


def test_a_caller_with_another_key_is_refused(echoing):
    with pytest.raises(StrangerError):
        connect(replace(echoing.endpoint(), key=new_key()), LONG)
    connect(echoing.endpoint(), LONG).close()


def test_a_key_that_could_be_guessed_is_refused():
    with pytest.raises(ValueError, match="at least 32 bytes"):
        Listener(HERE, b"secret", echo)


@pytest.mark.promise("S12")
def test_neither_end_sends_the_key(plain, tmp_path):
    """A process between both ends sees all that they send."""
    key, seen = new_key(), []
    own = Listener(str(tmp_path / "own"), key, echo)

    def pass_on(source, target):
        with suppress(OSError):
            while data := source.recv(1 << 16):
                seen.append(data)
                target.sendall(data)

    with socket.socket(socket.AF_UNIX) as between:
        between.bind(str(tmp_path / "between"))
        between.listen()
        with Connecting(Endpoint(str(tmp_path / "between"), key)) as found:
            caller, _ = between.accept()
            behind = raw(own)
            for pair in ((caller, behind), (behind, caller)):
                threading.Thread(target=pass_on, args=pair, daemon=True).start()
    found[0].send(b"hello")
    assert found[0].receive() == b"hello"
    assert b"hello" in b"".join(seen)
    assert key not in b"".join(seen)
    for item in (found[0], caller, behind, own):
        item.close()


class Connecting:
    """Connect in another thread; the list gets the channel, or the error."""

    def __init__(self, endpoint, seconds=LONG):
        self.found = []
        self.thread = threading.Thread(target=self.connect, args=(endpoint, seconds), daemon=True)

    def connect(self, endpoint, seconds):
        try:
            self.found.append(connect(endpoint, seconds))
        except OSError as error:
            self.found.append(error)

    def __enter__(self):
        self.thread.start()
        return self.found

    def __exit__(self, *_):
        self.thread.join(2 * LONG)


@pytest.fixture
def stranger(tmp_path):
    """A process that listens where a caller expects someone else."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "stranger"))
        listener.listen()
        yield listener


class Explodes:
    def __reduce__(self):
        return os.abort, ()


def said_by_stranger(stranger, say, key=None):
    with Connecting(Endpoint(stranger.getsockname(), key or new_key())) as found:
        connection, _ = stranger.accept()
        with connection:
            say(connection)
            connection.shutdown(socket.SHUT_WR)
    return found[0]


@pytest.mark.promise("S12")
def test_a_caller_accepts_no_stranger_that_knows_no_key(stranger):
    bomb = pickle.dumps(Explodes())

    def say(connection):
        connection.sendall(channels._GREETING + bytes(32))
        read(connection, ANSWER)
        connection.sendall(bytes(32) + len(bomb).to_bytes(8, "big") + bomb)

    assert isinstance(said_by_stranger(stranger, say), StrangerError)


def test_a_caller_accepts_no_stranger_that_does_not_greet(stranger):
    bomb = pickle.dumps(Explodes())
    said = len(bomb).to_bytes(8, "big") + bomb
    assert isinstance(said_by_stranger(stranger, lambda connection: connection.sendall(said * 9)), StrangerError)


@pytest.mark.promise("S12")
def test_a_caller_does_not_accept_its_own_proof(stranger):
    def say(connection):
        connection.sendall(channels._GREETING + bytes(32))
        connection.sendall(read(connection, ANSWER)[channels._NONCE_BYTES :])

    assert isinstance(said_by_stranger(stranger, say), StrangerError)


@pytest.mark.parametrize("length", [0, 1, GREETING - 1, GREETING, GREETING + 31])
def test_a_caller_accepts_no_truncated_handshake(stranger, length):
    whole = channels._GREETING + bytes(64)
    found = said_by_stranger(stranger, lambda connection: connection.sendall(whole[:length]))
    assert isinstance(found, ConnectionError)


@pytest.mark.parametrize("greets", [False, True])
def test_a_caller_does_not_wait_longer_than_it_was_told(stranger, greets):
    began = time.monotonic()
    with Connecting(Endpoint(stranger.getsockname(), new_key()), 0.2) as found:
        connection, _ = stranger.accept()
        if greets:
            connection.sendall(channels._GREETING + bytes(32))
    assert isinstance(found[0], TimeoutError)
    assert time.monotonic() - began < LONG
    connection.close()


def test_a_caller_that_drips_does_not_get_more_time(plain, monkeypatch):
    monkeypatch.setattr(listeners, "HANDSHAKE_SECONDS", 0.2)
    with raw(plain) as connection:
        ended = threading.Event()

        def drip():
            with suppress(OSError):
                while not ended.wait(0.02):
                    connection.sendall(b"x")

        thread = threading.Thread(target=drip)
        thread.start()
        read(connection, GREETING)
        assert rest(connection) == b""  # less than a whole answer was sent
        ended.set()
        thread.join()
    assert plain.served == []


@pytest.mark.promise("S12")
def test_a_listener_accepts_no_proof_of_an_earlier_connection(plain):
    """Nor does it accept one for numbers that the stranger chose for itself."""
    key = plain.endpoint().key
    with raw(plain) as first, raw(plain) as second:
        nonces = [read(item, GREETING)[-32:] for item in (first, second)]
        assert nonces[0] != nonces[1]
        answer = bytes(32) + channels._proof(key, channels._CALLER, nonces[0], bytes(32))
        first.sendall(answer)
        assert read(first, 32) == channels._proof(key, channels._LISTENER, nonces[0], bytes(32))
        second.sendall(answer)
        assert read(second, 32) == channels._REFUSED
        assert rest(second) == b""
    wait_for(lambda: plain.served)  # the listener answers the first one before it serves it
    wait_for(lambda: not plain._pending)  # and both are decided about
    assert len(plain.served) == 1


def test_a_listener_does_not_accept_the_proof_of_a_listener(plain, tmp_path):
    key = plain.endpoint().key
    with raw(plain) as connection:
        nonce = read(connection, GREETING)[-32:]
        connection.sendall(bytes(32) + channels._proof(key, channels._LISTENER, nonce, bytes(32)))
        assert read(connection, 32) == channels._REFUSED
    assert plain.served == []


@pytest.mark.parametrize("length", [0, 1, 32, 63])
def test_a_listener_accepts_no_truncated_handshake(plain, length):
    with raw(plain) as connection:
        read(connection, GREETING)
        connection.sendall(bytes(length))
        connection.shutdown(socket.SHUT_WR)
        assert rest(connection) == b""
    assert plain.served == []


def test_silent_strangers_hold_up_neither_callers_nor_the_end(echoing):
    began = time.monotonic()
    silent = [raw(echoing) for _ in range(3 * listeners.MOST_PENDING)]
    with connect(echoing.endpoint(), LONG) as channel:
        channel.send(b"here")
        assert channel.receive() == b"here"
    assert len(echoing._pending) <= listeners.MOST_PENDING
    echoing.close()
    assert time.monotonic() - began < listeners.HANDSHAKE_SECONDS
    assert not echoing._thread.is_alive()
    for item in silent:
        item.close()


def test_a_stranger_is_turned_away_after_some_time(plain, monkeypatch):
    monkeypatch.setattr(listeners, "HANDSHAKE_SECONDS", 0.05)
    with raw(plain) as connection:
        read(connection, GREETING)
        assert rest(connection) == b""
    wait_for(lambda: not plain._pending)


def test_a_closed_listener_lets_go_of_its_address_and_leaves_channels_open(echoing):
    with connect(echoing.endpoint(), LONG) as channel:
        echoing.close()
        echoing.close()
        channel.send(b"still")
        assert channel.receive() == b"still"
        with pytest.raises(OSError):
            raw(echoing)
        Listener(echoing.address, new_key(), echo).close()


def test_a_message_that_is_too_long_is_not_read(plain):
    with connect(plain.endpoint(), LONG) as channel:
        wait_for(lambda: plain.served)
        plain.served[0]._connection.sendall((1 << 62).to_bytes(8, "big"))
        with pytest.raises(OSError, match="longer than 100"):
            channel.receive(longest=100)


def test_a_silent_end_of_a_channel_is_noticed(plain):
    with connect(plain.endpoint(), LONG) as channel, pytest.raises(TimeoutError):
        channel.receive(seconds=0.01)


def test_a_process_that_was_forked_has_no_end_of_a_channel(plain):
    channel = connect(plain.endpoint(), LONG)
    wait_for(lambda: plain.served)
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        os.read(ours, 1)
        os._exit(0)
    plain.served[0].close()
    assert channel.receive(seconds=LONG) is None
    os.write(theirs, b"x")
    os.waitpid(child, 0)
    for item in (ours, theirs):
        os.close(item)
    channel.close()


def test_an_endpoint_does_not_show_its_key(plain):
    endpoint = plain.endpoint()
    assert pickle.loads(pickle.dumps(endpoint)) == endpoint
    assert repr(endpoint.key) not in repr(endpoint)


# -- encryption -------------------------------------------------------------------------------------------------------


@pytest.fixture
def encrypted():
    listener = Listener(HERE, new_key(), echo, encryption=OwnCertificate())
    yield listener
    listener.close()


@pytest.mark.promise("S32")
def test_a_caller_accepts_only_the_certificate_that_it_was_given(encrypted):
    with pytest.raises(OSError, match="CERTIFICATE_VERIFY_FAILED"):
        connect(replace(encrypted.endpoint(), certificate=OwnCertificate().certificate), LONG)


@pytest.mark.promise("S32")
def test_a_caller_that_expects_encryption_does_not_go_without(plain):
    endpoint = replace(plain.endpoint(), certificate=OwnCertificate().certificate)
    with pytest.raises(OSError):
        connect(endpoint, 5)


@pytest.mark.promise("S32")
def test_a_caller_without_encryption_gets_nothing(encrypted):
    with pytest.raises(OSError):
        connect(replace(encrypted.endpoint(), certificate=None), 1)


def test_without_the_package_for_certificates_the_error_names_the_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "cryptography", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'flintstream\[tls\]'"):
        OwnCertificate()


def test_no_private_key_stays_in_a_file(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    OwnCertificate()
    assert list(tmp_path.iterdir()) == []
