"""Translation of the properties of Kafka's Java clients, which PyFlink programs set, to those of librdkafka.

Every documented property of the Java clients is in one of the tables below or has its own function.
"""

from __future__ import annotations

import json
import logging
import re
from enum import Enum
from pkgutil import get_data
from typing import TYPE_CHECKING, Any

from flintstream.connectors.kafka.login import CALLBACK, CLIENT_CALLBACK, JAAS, login
from flintstream.connectors.kafka.tls import ENGINE, tls
from flintstream.errors import PlanError, shorten

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_log = logging.getLogger(__name__)


class Role(Enum):
    """The kind of client that properties are for."""

    CONSUMER = "consumer"
    PRODUCER = "producer"


_TABLES = json.loads(get_data(__name__, "properties.json") or b"")

SAME = frozenset(_TABLES["same"])
"""Properties that mean the same in both."""

RENAMED: dict[str, str] = _TABLES["renamed"]

OF_THE_CONNECTOR = frozenset(_TABLES["of_the_connector"])
"""Properties that the connector itself handles; no client gets them."""

GROUP_MEMBERSHIP = frozenset(_TABLES["group_membership"])
"""The job assigns partitions, as in Flink: its clients are not members of a group."""

WITHOUT_EFFECT = GROUP_MEMBERSHIP.union(_TABLES["without_effect"])
"""Properties without a counterpart that do not affect results."""

MISSED = frozenset(_TABLES["missed"])
"""Properties that name Java classes which do not affect results. A warning says that the classes do not run."""

SHADED = "org.apache.flink.kafka.shaded."
"""Prefix of Kafka's class names in Flink's own jar."""

JMX_REPORTER = "org.apache.kafka.common.metrics.JmxReporter"
"""The default reporter of the Java clients."""

IN_TLS = frozenset(_TABLES["in_tls"])

IN_LOGIN = frozenset({CALLBACK, CLIENT_CALLBACK, JAAS, "sasl.kerberos.kinit.cmd", "sasl.mechanism", "sasl.mechanisms"})

ADVICE = {
    ENGINE: "use the properties 'ssl.truststore.*' and 'ssl.keystore.*'",
    "sasl.login.class": f"use '{JAAS}' or '{CALLBACK}'",
    "sasl.oauthbearer.jwt.retriever.class": f"set '{CALLBACK}' to a Python function, 'module:function'",
    "partitioner.class": "choose partitions with set_partitioner(function) of "
    "KafkaRecordSerializationSchema.builder(), or set librdkafka's property 'partitioner'",
}
"""Alternatives to a Java class."""

KNOWN_CLASSES = {
    "DefaultPartitioner": {"partitioner": "murmur2_random"},
    "UniformStickyPartitioner": {"partitioner": "random"},
    "RoundRobinPartitioner": {"partitioner": "random"},
    "DefaultJwtRetriever": {},
    "ClientCredentialsJwtRetriever": {"sasl.oauthbearer.grant.type": "client_credentials"},
    "JwtBearerJwtRetriever": {"sasl.oauthbearer.grant.type": "urn:ietf:params:oauth:grant-type:jwt-bearer"},
}

RANGES: dict[str, tuple[int, int]] = _TABLES["ranges"]
"""librdkafka accepts smaller ranges than Java; values outside are clamped."""

OF_OTHERS = {role: frozenset(_TABLES["of_others"][role.value]) for role in Role}
"""Programs give the same properties to source and sink. As in Java, each ignores properties of the other."""

BACKOFFS = [("reconnect.backoff.ms", "reconnect.backoff.max.ms"), ("retry.backoff.ms", "retry.backoff.max.ms")]
"""librdkafka, unlike Java, requires the first not to exceed the second."""
SHORTEST_BACKOFF_MS, LONGEST_BACKOFF_MS = 100, 10_000

LOWERED = frozenset({"acks", "client.dns.lookup", "compression.type", "isolation.level", "security.protocol"})

OLD_DNS_LOOKUP = "default"
_SCHEME = re.compile(r"^\s*[A-Za-z_]+://")
_NUMBER = re.compile(r"[-+]?[0-9]+")
_LONGEST_NUMBER = 30


def librdkafka(
    properties: Mapping[str, str], role: Role = Role.CONSUMER, *, reads_files: bool = True
) -> dict[str, Any]:
    """Return the properties for librdkafka; ``reads_files`` tells whether to read keystore files.

    >>> librdkafka({"key.deserializer": "x", "max.request.size": "9000", "bootstrap.servers": "PLAINTEXT://a:1"})
    {'bootstrap.servers': 'a:1'}

    Raises:
        PlanError: A property needs Java, or would break the connector's guarantees.
    """
    found: dict[str, Any] = {}
    for key, value in properties.items():
        if key not in OF_OTHERS[role]:
            found.update(_translate(key, value))
    found.update(login(properties))
    found.update(tls(properties, reads_files=reads_files))
    _check_limits(found)
    if role is Role.PRODUCER:
        _settle_idempotence(found)
    return found


def _translate(key: str, value: str) -> dict[str, Any]:
    """Translate a property whose meaning depends on no other property."""
    if key in OF_THE_CONNECTOR or key in IN_TLS or key in IN_LOGIN:
        return {}
    if key in WITHOUT_EFFECT:
        _log.debug("the Kafka property '%s' has no effect in flintstream", key)
        return {}
    if key in MISSED:
        if value.strip().removeprefix(SHADED) not in {"", JMX_REPORTER}:
            _log.warning("the Kafka property '%s' names Java classes and has no effect in flintstream: %s", key, value)
        return {}
    if key in ADVICE:
        return _of_class(key, value)
    own = _SPECIAL.get(key)
    if own is not None:
        return own(value)
    return {RENAMED.get(key, key): value.strip().lower() if key in LOWERED else value}


def _of_class(key: str, value: str) -> dict[str, Any]:
    own = value.strip().removeprefix(SHADED)
    known = KNOWN_CLASSES.get(own.rpartition(".")[2]) if own.startswith("org.apache.kafka.") else None
    if known is not None:
        return known
    if not value.strip():
        return {}
    raise PlanError(f"the Kafka property '{key}' names the Java class {value}, which cannot run here: {ADVICE[key]}")


def _servers(value: str) -> dict[str, Any]:
    return {"bootstrap.servers": ",".join(_SCHEME.sub("", part).strip() for part in value.split(",") if part.strip())}


def _number(key: str, value: object) -> int:
    text = str(value).strip()
    if len(text) > _LONGEST_NUMBER or not _NUMBER.fullmatch(text):
        raise PlanError(f"the Kafka property '{key}' must be a whole number, got {shorten(value)}")
    return int(text)


def _level(value: str) -> dict[str, Any]:
    return {"compression.level": str(min(12, max(-1, _number("compression.*.level", value))))}


_SPECIAL: dict[str, Callable[[str], dict[str, Any]]] = {
    "bootstrap.servers": _servers,
    "buffer.memory": lambda value: {"queue.buffering.max.kbytes": str(max(1, _number("buffer.memory", value) // 1024))},
    "client.dns.lookup": lambda value: {} if value == OLD_DNS_LOOKUP else {"client.dns.lookup": value.lower()},
    "compression.gzip.level": _level,
    "compression.lz4.level": _level,
    "compression.zstd.level": _level,
    "partitioner.ignore.keys": lambda value: {"partitioner": "random"} if value.lower() == "true" else {},
    "transaction.two.phase.commit.enable": lambda _: {},
}


DOCUMENTED = sorted(
    frozenset().union(SAME, RENAMED, OF_THE_CONNECTOR, WITHOUT_EFFECT, MISSED, IN_TLS, IN_LOGIN, ADVICE, _SPECIAL)
)
"""All property names of the Java clients."""


def _check_limits(found: dict[str, Any]) -> None:
    """Clamp values to the ranges of librdkafka."""
    for key, (low, high) in RANGES.items():
        text = str(found.get(key, "")).strip()
        if not _NUMBER.fullmatch(text):
            continue  # librdkafka rejects it
        value = _number(key, text)
        if not low <= value <= high:
            found[key] = str(min(high, max(low, value)))
            _log.debug("the Kafka property '%s' is set to %s instead of %s", key, found[key], text)
    for least, most in BACKOFFS:
        low_text, high_text = found.get(least), found.get(most)
        if low_text is not None and (high_text is None or _number(most, high_text) < _number(least, low_text)):
            found[most] = str(max(_number(least, low_text), LONGEST_BACKOFF_MS)) if high_text is None else low_text
        elif high_text is not None and low_text is None:
            found[least] = str(min(_number(most, high_text), SHORTEST_BACKOFF_MS))


IN_FLIGHT = "max.in.flight.requests.per.connection"
MOST_IN_FLIGHT = 5
"""The most requests in flight for which an idempotent producer keeps the order."""


def _settle_idempotence(found: dict[str, Any]) -> None:
    """Enable idempotence unless other properties conflict with it, as Java's producer does."""
    if "enable.idempotence" in found:
        return
    against = (
        str(found.get("acks", "all")) not in {"all", "-1"},
        str(found.get("retries", "1")).strip() == "0",
        _number(IN_FLIGHT, found.get(IN_FLIGHT, MOST_IN_FLIGHT)) > MOST_IN_FLIGHT,
    )
    if not any(against):
        found["enable.idempotence"] = "true"
