"""Clients of Pulsar, and its interface of administration."""

from __future__ import annotations

import json
import os
import re
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol, cast

from flintstream.errors import FlintstreamError, PlanError, optional_module

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import ModuleType

PLUGINS = "org.apache.pulsar.client.impl.auth."
PASSING = (
    "AlreadyClosed",
    "BrokerMetadataError",
    "BrokerPersistenceError",
    "ConnectError",
    "Interrupted",
    "LookupError",
    "MemoryBufferIsFull",
    "NotConnected",
    "ProducerBlockedQuotaExceededError",
    "ProducerBlockedQuotaExceededException",
    "ProducerQueueIsFull",
    "ReadError",
    "ServiceUnitNotReady",
    "Timeout",
    "TooManyLookupRequestException",
    "UnknownError",
)
"""Errors that pass: brokers are overloaded or away."""


class PulsarError(FlintstreamError):
    """Pulsar cannot be reached, or refuses a request. The message names topic and reason."""


class MessageId(Protocol):
    """The id of a message."""

    def ledger_id(self) -> int:
        """Return the ledger."""

    def entry_id(self) -> int:
        """Return the entry of the ledger."""

    def batch_index(self) -> int:
        """Return the index in the entry; -1 if it has one message only."""

    def serialize(self) -> bytes:
        """Return the id as bytes."""


class Message(Protocol):
    """A message that was received."""

    def data(self) -> bytes:
        """Return the content."""

    def message_id(self) -> MessageId:
        """Return the id."""

    def event_timestamp(self) -> int:
        """Return the time that the producer has set (ms); 0 for none."""

    def publish_timestamp(self) -> int:
        """Return the time at which it was sent (ms)."""

    def partition_key(self) -> str:
        """Return the key; empty for none."""

    def ordering_key(self) -> str:
        """Return the ordering key; empty for none."""


class Reader(Protocol):
    """Reads a topic."""

    def read_next(self, timeout_millis: int) -> Message:
        """Return the next message."""

    def seek(self, position: object) -> None:
        """Go to an id or a time."""

    def is_connected(self) -> bool:
        """Return whether a broker is there."""

    def close(self) -> None:
        """Disconnect."""


class Consumer(Protocol):
    """A subscription."""

    def get_last_message_id(self) -> MessageId:
        """Return the id of the last message of the topic."""

    def acknowledge_cumulative(self, message: object) -> None:
        """Note that everything up to a message has been read."""

    def seek(self, position: object) -> None:
        """Go to an id or a time."""

    def close(self) -> None:
        """Disconnect."""


class Producer(Protocol):
    """Writes to a topic."""

    def send_async(self, content: bytes, callback: Callable[[object, object], None], **more: object) -> None:
        """Send a message."""

    def is_connected(self) -> bool:
        """Return whether a broker is there."""

    def close(self) -> None:
        """Disconnect."""


class Client(Protocol):
    """A client, as far as the connector needs it."""

    def get_topic_partitions(self, topic: str) -> list[str]:
        """Return the partitions of a topic, or the topic if it has none."""

    def create_reader(self, topic: str, start: object, **more: object) -> Reader:
        """Read a topic."""

    def create_producer(self, topic: str, **more: object) -> Producer:
        """Write to a topic."""

    def subscribe(self, topic: str, subscription: str, **more: object) -> Consumer:
        """Subscribe to a topic."""

    def close(self) -> None:
        """Disconnect."""


class Position(NamedTuple):
    """The place of a message in its partition; a later message has a larger one."""

    ledger: int
    entry: int
    batch_index: int

    @classmethod
    def of(cls, found: MessageId) -> Position:
        """Return the place of an id."""
        return cls(found.ledger_id(), found.entry_id(), found.batch_index())


def library() -> ModuleType:
    """Return the module ``pulsar``.

    Raises:
        MissingDependencyError: The client is not installed.
    """
    return optional_module("pulsar", extra="pulsar", purpose="the Pulsar connector", package="pulsar-client")


def passing(error: Exception) -> bool:
    """Return whether a request may succeed later."""
    return type(error).__name__ in PASSING and isinstance(error, library().PulsarException)


def read_id(data: bytes) -> MessageId:
    """Return the id that :meth:`MessageId.serialize` has written."""
    return cast("MessageId", library().MessageId.deserialize(data))


@dataclass(frozen=True)
class PulsarAccess:
    """The addresses and settings of a client. Tasks get a copy."""

    service_url: str
    admin_url: str = ""
    plugin: str = ""
    """Name of a class for authentication, as Java has it."""
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    settings: Mapping[str, object] = field(default_factory=dict)
    """Arguments of the client."""

    def client(self) -> Client:
        """Return a client, which connects when it is used."""
        pulsar = library()
        # For so long the client repeats a lookup without a warning; then the connector warns, and repeats it.
        more: dict[str, object] = {"operation_timeout_seconds": 5, **self.settings}
        if self.plugin:
            more["authentication"] = self._authentication()
        if self.service_url.startswith("pulsar+ssl:"):
            more["use_tls"] = True
        # The client writes a line for each attempt to connect; the connector warns once.
        quiet = pulsar.FileLogger(pulsar.LoggerLevel.Error, os.devnull)
        try:
            found = pulsar.Client(self.service_url, logger=quiet, **more)
        except (pulsar.PulsarException, ValueError, TypeError) as error:
            raise PulsarError(f"cannot create a Pulsar client for {self.service_url}: {error}") from None
        return cast("Client", found)

    def check(self) -> None:
        """Check the authentication.

        Raises:
            PlanError: It is unknown, or a parameter is missing.
            MissingDependencyError: The client is not installed.
        """
        library()
        if self.plugin:
            self._authentication()

    def _authentication(self) -> object:
        pulsar, given, found = library(), self.secrets, None
        name = self.plugin.removeprefix(PLUGINS).removeprefix("oauth2.")
        try:
            if name == "AuthenticationToken":
                found = pulsar.AuthenticationToken(self._token)
            elif name == "AuthenticationTls":
                found = pulsar.AuthenticationTLS(given["tlsCertFile"], given["tlsKeyFile"])
            elif name == "AuthenticationBasic":
                found = pulsar.AuthenticationBasic(given["userId"], given["password"])
            elif name == "AuthenticationOAuth2":
                found = pulsar.AuthenticationOauth2(json.dumps(dict(given)))
        except KeyError as error:
            raise PlanError(f"the authentication '{self.plugin}' needs the parameter {error}") from None
        if found is None:
            raise PlanError(
                f"the authentication '{self.plugin}' is unknown: use AuthenticationToken, AuthenticationTls, "
                f"AuthenticationBasic or AuthenticationOAuth2 of {PLUGINS.rstrip('.')}"
            )
        return found

    def _token(self) -> str:
        given = self.secrets.get("token", self.secrets.get("", ""))
        if given.startswith("file:"):
            path = urllib.request.url2pathname(given.removeprefix("file:").removeprefix("//"))
            return Path(path).read_text("utf-8").strip()
        return given.removeprefix("token:")

    def ask(self, path: str) -> object:
        """Return what the interface of administration has at a path; None if it has nothing there.

        Raises:
            OSError: It cannot be reached.
            PulsarError: It refuses the request.
        """
        request = urllib.request.Request(f"{self.admin_url.rstrip('/')}/admin/v2/{path}")
        if self.plugin.endswith("AuthenticationToken"):
            request.add_header("Authorization", f"Bearer {self._token()}")
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                found: object = json.load(answer)
        except urllib.error.HTTPError as error:
            error.close()
            if error.code == 404:
                return None
            if error.code >= 500:
                raise OSError(f"{path}: {error}") from None
            raise PulsarError(f"{self.admin_url} refuses {path}: {error}") from None
        return found


_TOPIC = re.compile(r"(?:(persistent|non-persistent)://)?(?:([^/]+)/([^/]+)/)?([^/]+)")


def full_name(topic: str) -> str:
    """Return the complete name of a topic.

    >>> full_name("orders"), full_name("shop/all/orders")
    ('persistent://public/default/orders', 'persistent://shop/all/orders')

    Raises:
        PlanError: It is not a name of a topic.
    """
    match = _TOPIC.fullmatch(topic)
    if match is None:
        raise PlanError(f"a topic must be named like 'orders' or 'persistent://public/default/orders', got '{topic}'")
    kind, tenant, namespace, name = match.groups()
    return f"{kind or 'persistent'}://{tenant or 'public'}/{namespace or 'default'}/{name}"


def without_partition(topic: str) -> str:
    """Return the topic of a partition.

    >>> without_partition("persistent://public/default/orders-partition-3")
    'persistent://public/default/orders'
    """
    return re.sub(r"-partition-\d+$", "", topic)


def path_of(topic: str) -> str:
    """Return the path of a topic in the interface of administration."""
    kind, _, rest = full_name(topic).partition("://")
    return f"{kind}/{'/'.join(urllib.parse.quote(word, safe='') for word in rest.split('/'))}"


def parse_secrets(given: str) -> dict[str, str]:
    """Return the parameters of an authentication from their text: JSON, or ``key:value,key:value``.

    >>> parse_secrets("token:abc"), parse_secrets('{"userId": "ann"}'), parse_secrets("tlsCertFile:/a,tlsKeyFile:/b")
    ({'token': 'abc'}, {'userId': 'ann'}, {'tlsCertFile': '/a', 'tlsKeyFile': '/b'})
    """
    if given.startswith("{"):
        return {str(key): str(value) for key, value in json.loads(given).items()}
    if given.startswith("file:"):
        return {"token": given}
    return dict(part.partition(":")[::2] for part in given.split(",") if part)
