"""Makes the clients of librdkafka."""

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
"""How long a request may take, and be tried again, before it has failed."""

REQUEST_SECONDS = 5.0
"""How long an answer is waited for before it is asked again."""

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

ELSEWHERE = ("bootstrap.servers", "metadata.broker.list", ".location", ".keytab", ".file", "oauth_cb")
"""What names of properties end with that refer to servers, to files of the workers and to functions."""

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
        PlanError: librdkafka does not know the value of a property, or a store of keys cannot be read.
    """
    return _consumer(librdkafka(properties), more)


def _consumer(translated: dict[str, Any], more: dict[str, Any], unknown: Callable[[str], None] | None = None) -> Any:
    config = {"group.id": "flintstream", **CONSUMER_DEFAULTS, **translated, **more}
    return _client(library().Consumer, {**config, "enable.auto.commit": "false"}, unknown)


def producer(properties: Mapping[str, str], on_error: Callable[[Any, Any], None], **more: Any) -> Any:
    """Return a producer; ``on_error`` is called with error and message for each record that was not delivered.

    Raises:
        PlanError: librdkafka does not know the value of a property, or a store of keys cannot be read.
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
    """Make a client without the properties that librdkafka does not know, of which ``unknown`` is told."""
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
                raise PlanError(f"Kafka's client does not take the properties: {text}{_advice(text)}") from error
            if unknown is not None:
                unknown(name[1])
            del config[name[1]]


@cache
def _open(kind: Any) -> Any:
    """Return a class whose instances may have further attributes."""
    return type(kind.__name__, (kind,), {})


def _refusing() -> set[int]:
    error = library().KafkaError
    return {error._AUTHENTICATION, error._SSL}  # noqa: SLF001 - so they are called


def _advice(text: str) -> str:
    if "GSSAPI" not in text:
        return ""
    return (
        "; the package confluent-kafka as it comes from PyPI has no Kerberos: build it on a librdkafka that has, by "
        "'pip install --no-binary confluent-kafka confluent-kafka'"
    )


def _warn_of_unknown(name: str) -> None:
    similar = difflib.get_close_matches(name, DOCUMENTED, n=1, cutoff=0.8)
    hint = f"; did you mean '{similar[0]}'?" if similar else ""
    _log.warning("Kafka's clients know no property '%s', and it has no effect%s", name, hint)


def check_consumer(properties: Mapping[str, str]) -> None:
    """Refuse properties that no consumer takes, and warn of unknown ones; nothing is connected, and no file read."""
    _consumer(_unconnected(properties, Role.CONSUMER), {}, _warn_of_unknown).close()


def check_producer(properties: Mapping[str, str]) -> None:
    """Refuse properties that no producer takes, and warn of unknown ones; nothing is connected, and no file read."""
    _producer(_unconnected(properties, Role.PRODUCER), lambda _error, _message: None, {}, _warn_of_unknown)


def _unconnected(properties: Mapping[str, str], role: Role) -> dict[str, Any]:
    """Leave out what is there only where the tasks run."""
    translated = librdkafka(properties, role, reads_files=False)
    elsewhere = [key for key in translated if key.endswith(ELSEWHERE)]
    if translated.get("sasl.oauthbearer.method") == "oidc":  # a client asks for a token at once
        elsewhere += [key for key in translated if key.startswith("sasl.oauthbearer.")]
    return {key: value for key, value in translated.items() if key not in elsewhere}


def patiently(what: str, request: Callable[[], Any], seconds: float = TIMEOUT_SECONDS, client: Any = None) -> Any:
    """Return what a request of ``client`` does, which is made again while it fails of something that passes.

    Raises:
        KafkaConnectorError: It failed otherwise, or too long; ``what`` says what could not be done.
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
    """Return why a broker has not let a client in, against which no patience helps; empty if nothing is known."""
    if client is None:
        return ""
    client.poll(0)  # the client tells only then
    return "; ".join(client.refusals)


def passes(error: Any) -> bool:
    """Tell whether a request that failed with an error of Kafka may succeed when it is made again."""
    return bool(error.retriable()) or error.code() in _passing()


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
