"""Makes the clients of librdkafka."""

from __future__ import annotations

import contextlib
import logging
import time
from typing import TYPE_CHECKING, Any

from flintstream.connectors.kafka.properties import librdkafka
from flintstream.errors import FlintstreamError, PlanError, optional_module

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import ModuleType

LIBRARY_LOG = logging.getLogger(f"{__package__}.librdkafka")

TIMEOUT_SECONDS = 30.0
"""How long a request may take, and be tried again, before it has failed."""

CONSUMER_DEFAULTS = {
    "enable.auto.commit": "false",
    "isolation.level": "read_uncommitted",  # as Kafka's Java client has it
    "fetch.queue.backoff.ms": "10",  # librdkafka would wait for a second when its queue is full
    "queued.max.messages.kbytes": "32768",
}

PRODUCER_DEFAULTS = {
    "partitioner": "murmur2_random",  # keys go where Kafka's Java client sends them
    "message.max.bytes": "1048576",  # its 'max.request.size'
    "queue.buffering.max.messages": "1000000",
    "queue.buffering.max.kbytes": "131072",
}

FORCED = {"delivery.report.only.error": True}
"""Records are many: only those are reported that could not be delivered."""


class KafkaConnectorError(FlintstreamError):
    """Kafka could not be read from or written to; names topic, partition and offset where there are any."""


def library() -> ModuleType:
    """Return the module ``confluent_kafka``.

    Raises:
        MissingDependencyError: It is not installed.
    """
    return optional_module("confluent_kafka", package="confluent-kafka", extra="kafka", purpose="the Kafka connector")


def consumer(properties: Mapping[str, str], **more: Any) -> Any:
    """Return a consumer that commits no offsets by itself.

    Raises:
        PlanError: librdkafka does not know a property, or not its value.
    """
    config = {"group.id": "flintstream", **CONSUMER_DEFAULTS, **librdkafka(properties), **more}
    return _client(library().Consumer, {**config, "enable.auto.commit": "false"})


def producer(properties: Mapping[str, str], on_error: Callable[[Any, Any], None], **more: Any) -> Any:
    """Return a producer; ``on_error`` is called with error and message for each record that was not delivered.

    Raises:
        PlanError: librdkafka does not know a property, or not its value.
    """
    config = {**PRODUCER_DEFAULTS, **librdkafka(properties), **more, **FORCED}
    if config.get("acks", "all") in {"all", "-1"}:
        config.setdefault("enable.idempotence", "true")  # what is sent again is not written again
    return _client(library().Producer, {**config, "on_delivery": on_error})


def _client(kind: Any, config: dict[str, Any]) -> Any:
    try:
        return kind({**config, "logger": LIBRARY_LOG})
    except library().KafkaException as error:
        raise PlanError(f"Kafka's client does not take the properties: {error.args[0].str()}") from error


def check_consumer(properties: Mapping[str, str]) -> None:
    """Refuse properties that no consumer takes; nothing is connected."""
    consumer(_unconnected(properties)).close()


def check_producer(properties: Mapping[str, str]) -> None:
    """Refuse properties that no producer takes; nothing is connected."""
    producer(_unconnected(properties), lambda _error, _message: None)


def _unconnected(properties: Mapping[str, str]) -> dict[str, str]:
    return {k: v for k, v in properties.items() if k not in {"bootstrap.servers", "metadata.broker.list"}}


def patiently(what: str, request: Callable[[], Any], seconds: float = TIMEOUT_SECONDS) -> Any:
    """Return what a request does, which is made again while it fails of something that passes.

    Raises:
        KafkaConnectorError: It failed otherwise, or too long; ``what`` says what could not be done.
    """
    until = time.monotonic() + seconds
    while True:
        try:
            return request()
        except library().KafkaException as error:
            reason = error.args[0]
            if not (reason.retriable() or reason.code() in _passing()) or time.monotonic() > until:
                raise KafkaConnectorError(f"cannot {what}: {reason.str()}") from error
            time.sleep(0.1)


def _passing() -> set[int]:
    """Return the codes of errors that librdkafka does not call retriable, and that pass all the same."""
    error = library().KafkaError
    names = "NOT_COORDINATOR COORDINATOR_NOT_AVAILABLE COORDINATOR_LOAD_IN_PROGRESS UNSTABLE_OFFSET_COMMIT"
    ours = "_TRANSPORT _ALL_BROKERS_DOWN _TIMED_OUT _WAIT_COORD"
    return {getattr(error, name) for name in f"{names} {ours} REQUEST_TIMED_OUT NOT_LEADER_FOR_PARTITION".split()}


def close_quietly(client: Any) -> None:
    """Close a consumer whatever state it is in."""
    with contextlib.suppress(Exception):
        client.close()
