"""Clients of librdkafka, and their common error handling."""

from __future__ import annotations

import contextlib
import difflib
import logging
import re
import time
from functools import cache
from typing import TYPE_CHECKING, Any

from flintstream.connectors.kafka.properties import DOCUMENTED, Role, librdkafka
from flintstream.errors import FlintstreamError, PlanError, optional_module

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import ModuleType

_log = logging.getLogger(__name__)

LIBRARY_LOG = logging.getLogger(f"{__package__}.librdkafka")

TIMEOUT_SECONDS = 30.0
"""How long a request may take, retries included, before it fails."""

REQUEST_SECONDS = 5.0
"""How long to wait for an answer before retrying."""

CONSUMER_DEFAULTS = {
    "enable.auto.commit": "false",
    "isolation.level": "read_uncommitted",  # the default of Kafka's Java client
    "fetch.queue.backoff.ms": "10",  # librdkafka waits a second by default when its queue is full
    "queued.max.messages.kbytes": "32768",
}

PRODUCER_DEFAULTS = {
    "partitioner": "murmur2_random",  # sends keys to the same partitions as Kafka's Java client
    "message.max.bytes": "1048576",  # the Java client's 'max.request.size'
    "queue.buffering.max.messages": "1000000",
    "queue.buffering.max.kbytes": "131072",
}

ELSEWHERE = ("bootstrap.servers", "metadata.broker.list", ".location", ".keytab", ".file", "oauth_cb")
"""Endings of property names that refer to servers, to files of the workers, or to functions."""

FORCED = {"delivery.report.only.error": True}
"""Report only records that could not be delivered: reporting every record is too slow."""


class KafkaConnectorError(FlintstreamError):
    """Reading from or writing to Kafka failed. Names topic, partition and offset where known."""


def library() -> ModuleType:
    """Return the module ``confluent_kafka``.

    Raises:
        MissingDependencyError: confluent-kafka is not installed.
    """
    return optional_module("confluent_kafka", package="confluent-kafka", extra="kafka", purpose="the Kafka connector")


def consumer(properties: Mapping[str, str], **more: Any) -> Any:
    """Return a consumer that never commits offsets automatically.

    Raises:
        PlanError: librdkafka rejects the value of a property, or a keystore cannot be read.
    """
    return _consumer(librdkafka(properties), more)


def _consumer(translated: dict[str, Any], more: dict[str, Any], unknown: Callable[[str], None] | None = None) -> Any:
    config = {"group.id": "flintstream", **CONSUMER_DEFAULTS, **translated, **more}
    return _client(library().Consumer, {**config, "enable.auto.commit": "false"}, unknown)


def admin(properties: Mapping[str, str]) -> Any:
    """Return a client for requests that neither read nor write records.

    Raises:
        PlanError: librdkafka rejects the value of a property, or a keystore cannot be read.
    """
    library()
    from confluent_kafka.admin import AdminClient

    return _client(AdminClient, librdkafka(properties), None)


def producer(properties: Mapping[str, str], on_error: Callable[[Any, Any], None], **more: Any) -> Any:
    """Return a producer that calls ``on_error(error, message)`` for each record it could not deliver.

    Raises:
        PlanError: librdkafka rejects the value of a property, or a keystore cannot be read.
    """
    return _producer(librdkafka(properties, Role.PRODUCER), on_error, more)


def _producer(
    translated: dict[str, Any],
    on_error: Callable[[Any, Any], None],
    more: dict[str, Any],
    unknown: Callable[[str], None] | None = None,
) -> Any:
    config = {**PRODUCER_DEFAULTS, **translated, **more, **FORCED}
    return _client(library().Producer, {**config, "on_delivery": on_error}, unknown)


_UNKNOWN = re.compile('No such configuration property: "([^"]*)"')


def _client(kind: Any, config: dict[str, Any], unknown: Callable[[str], None] | None) -> Any:
    """Make a client without the properties that librdkafka does not know; report each of them to ``unknown``."""
    refusals: list[str] = []

    def note(error: Any) -> None:
        if error.code() in _refusing():
            refusals[:] = [error.str()]

    while True:
        try:
            client = _open(kind)({**config, "logger": LIBRARY_LOG, "error_cb": note})
            client.refusals = refusals
            return client  # noqa: TRY300 - the loop is left here
        except library().KafkaException as error:
            text = error.args[0].str().strip()
            name = _UNKNOWN.search(text)
            if name is None or name[1] not in config:
                raise PlanError(f"Kafka's client rejects the properties: {text}{_advice(text)}") from error
            if unknown is not None:
                unknown(name[1])
            del config[name[1]]


@cache
def _open(kind: Any) -> Any:
    """Return a subclass whose instances accept additional attributes."""
    return type(kind.__name__, (kind,), {})


def _refusing() -> set[int]:
    error = library().KafkaError
    return {error._AUTHENTICATION, error._SSL}


def _advice(text: str) -> str:
    if "GSSAPI" not in text:
        return ""
    return (
        "; the confluent-kafka wheels on PyPI lack Kerberos: build it against a librdkafka with Kerberos, with "
        "'pip install --no-binary confluent-kafka confluent-kafka'"
    )


def _warn_of_unknown(name: str) -> None:
    similar = difflib.get_close_matches(name, DOCUMENTED, n=1, cutoff=0.8)
    hint = f"; did you mean '{similar[0]}'?" if similar else ""
    _log.warning("the Kafka property '%s' is unknown and has no effect%s", name, hint)


def check_consumer(properties: Mapping[str, str]) -> None:
    """Refuse invalid consumer properties and warn about unknown ones, without connecting or reading files."""
    _consumer(_offline_properties(properties, Role.CONSUMER), {}, _warn_of_unknown).close()


def check_producer(properties: Mapping[str, str]) -> None:
    """Refuse invalid producer properties and warn about unknown ones, without connecting or reading files."""
    _producer(_offline_properties(properties, Role.PRODUCER), lambda _error, _message: None, {}, _warn_of_unknown)


def _offline_properties(properties: Mapping[str, str], role: Role) -> dict[str, Any]:
    """Leave out the properties that only work where the tasks run."""
    translated = librdkafka(properties, role, reads_files=False)
    elsewhere = [key for key in translated if key.endswith(ELSEWHERE)]
    if translated.get("sasl.oauthbearer.method") == "oidc":  # a client requests a token immediately
        elsewhere += [key for key in translated if key.startswith("sasl.oauthbearer.")]
    return {key: value for key, value in translated.items() if key not in elsewhere}


def patiently(what: str, request: Callable[[], Any], seconds: float = TIMEOUT_SECONDS, client: Any = None) -> Any:
    """Return the result of a request of ``client``, retrying it while it fails with a transient error.

    Raises:
        KafkaConnectorError: It failed with another error, or for too long; ``what`` names the failed action.
    """
    until = time.monotonic() + seconds
    while True:
        try:
            return request()
        except library().KafkaException as error:
            reason = error.args[0]
            cause = refusal(client)
            if cause or not passes(reason) or time.monotonic() > until:
                raise KafkaConnectorError(f"cannot {what}: {cause or reason.str()}") from error
            time.sleep(0.1)


def refusal(client: Any) -> str:
    """Return why a broker refused the client, a failure that retries cannot fix; empty if unknown."""
    if client is None:
        return ""
    client.poll(0)  # the client reports errors only during a poll
    return "; ".join(client.refusals)


def passes(error: Any) -> bool:
    """Tell whether a request that failed with this Kafka error may succeed on a retry."""
    return bool(error.retriable()) or error.code() in _passing()


def _passing() -> set[int]:
    """Return the codes of transient errors that librdkafka does not call retriable."""
    error = library().KafkaError
    names = "NOT_COORDINATOR COORDINATOR_NOT_AVAILABLE COORDINATOR_LOAD_IN_PROGRESS UNSTABLE_OFFSET_COMMIT"
    ours = "_TRANSPORT _ALL_BROKERS_DOWN _TIMED_OUT _WAIT_COORD"
    return {getattr(error, name) for name in f"{names} {ours} REQUEST_TIMED_OUT NOT_LEADER_FOR_PARTITION".split()}


def close_quietly(client: Any) -> None:
    """Close a consumer in any state, ignoring errors."""
    with contextlib.suppress(Exception):
        client.close()
