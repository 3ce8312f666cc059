"""Translation of the properties of Kafka's Java clients, which PyFlink programs set, to those of librdkafka.

Every documented property of the Java clients is in one of the tables below or has its own function.
"""

from __future__ import annotations

import logging
import re
from enum import Enum
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


SAME = frozenset({
    "acks",
    "allow.auto.create.topics",
    "batch.size",
    "check.crcs",
    "client.id",
    "client.rack",
    "compression.type",
    "connections.max.idle.ms",
    "delivery.timeout.ms",
    "enable.idempotence",
    "enable.metrics.push",
    "fetch.max.bytes",
    "fetch.min.bytes",
    "group.id",
    "isolation.level",
    "linger.ms",
    "max.in.flight.requests.per.connection",
    "max.partition.fetch.bytes",
    "metadata.max.age.ms",
    "metadata.recovery.rebootstrap.trigger.ms",
    "metadata.recovery.strategy",
    "reconnect.backoff.max.ms",
    "reconnect.backoff.ms",
    "request.timeout.ms",
    "retries",
    "retry.backoff.max.ms",
    "retry.backoff.ms",
    "sasl.kerberos.min.time.before.relogin",
    "sasl.kerberos.service.name",
    "sasl.oauthbearer.assertion.algorithm",
    "sasl.oauthbearer.assertion.claim.aud",
    "sasl.oauthbearer.assertion.claim.exp.seconds",
    "sasl.oauthbearer.assertion.claim.iss",
    "sasl.oauthbearer.assertion.claim.jti.include",
    "sasl.oauthbearer.assertion.claim.nbf.seconds",
    "sasl.oauthbearer.assertion.claim.sub",
    "sasl.oauthbearer.assertion.file",
    "sasl.oauthbearer.assertion.private.key.file",
    "sasl.oauthbearer.assertion.private.key.passphrase",
    "sasl.oauthbearer.scope",
    "sasl.oauthbearer.token.endpoint.url",
    "security.protocol",
    "socket.connection.setup.timeout.ms",
    "transaction.timeout.ms",
    "transactional.id",
})  # fmt: skip
"""Properties that mean the same in both."""

RENAMED = {
    "fetch.max.wait.ms": "fetch.wait.max.ms",
    "max.request.size": "message.max.bytes",
    "receive.buffer.bytes": "socket.receive.buffer.bytes",
    "sasl.oauthbearer.assertion.template.file": "sasl.oauthbearer.assertion.jwt.template.file",
    "sasl.oauthbearer.client.credentials.client.id": "sasl.oauthbearer.client.id",
    "sasl.oauthbearer.client.credentials.client.secret": "sasl.oauthbearer.client.secret",
    "send.buffer.bytes": "socket.send.buffer.bytes",
}

OF_THE_CONNECTOR = frozenset({
    "auto.commit.interval.ms",
    "auto.offset.reset",
    "client.id.prefix",
    "commit.offsets.on.checkpoint",
    "enable.auto.commit",
    "flink.disable-metrics",
    "flink.partition-discovery.interval-millis",
    "flink.poll-timeout",
    "partition.discovery.interval.ms",
    "register.consumer.metrics",
    "register.producer.metrics",
    "stream-enumerator-mode",
    "stream-metadata-discovery-failure-threshold",
    "stream-metadata-discovery-interval-ms",
})  # fmt: skip
"""Properties that the connector itself handles; no client gets them."""

GROUP_MEMBERSHIP = frozenset({
    "group.instance.id",
    "group.protocol",
    "group.remote.assignor",
    "heartbeat.interval.ms",
    "internal.leave.group.on.close",
    "max.poll.interval.ms",
    "partition.assignment.strategy",
    "session.timeout.ms",
})  # fmt: skip
"""The job assigns partitions, as in Flink: its clients are not members of a group."""

WITHOUT_EFFECT = GROUP_MEMBERSHIP | frozenset({
    "auto.include.jmx.reporter",
    "default.api.timeout.ms",
    "exclude.internal.topics",
    "internal.throw.on.fetch.stable.offset.unsupported",
    "key.deserializer",
    "key.serializer",
    "max.block.ms",
    "max.poll.records",
    "metadata.max.idle.ms",
    "metrics.num.samples",
    "metrics.recording.level",
    "metrics.sample.window.ms",
    "partitioner.adaptive.partitioning.enable",
    "partitioner.availability.timeout.ms",
    "sasl.kerberos.ticket.renew.jitter",
    "sasl.kerberos.ticket.renew.window.factor",
    "sasl.login.connect.timeout.ms",
    "sasl.login.read.timeout.ms",
    "sasl.login.refresh.buffer.seconds",
    "sasl.login.refresh.min.period.seconds",
    "sasl.login.refresh.window.factor",
    "sasl.login.refresh.window.jitter",
    "sasl.login.retry.backoff.max.ms",
    "sasl.login.retry.backoff.ms",
    "sasl.oauthbearer.clock.skew.seconds",
    "sasl.oauthbearer.expected.audience",
    "sasl.oauthbearer.expected.issuer",
    "sasl.oauthbearer.header.urlencode",
    "sasl.oauthbearer.jwks.endpoint.refresh.ms",
    "sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms",
    "sasl.oauthbearer.jwks.endpoint.retry.backoff.ms",
    "sasl.oauthbearer.jwks.endpoint.url",
    "sasl.oauthbearer.jwt.validator.class",
    "sasl.oauthbearer.scope.claim.name",
    "sasl.oauthbearer.sub.claim.name",
    "share.acknowledgement.mode",
    "socket.connection.setup.timeout.max.ms",
    "ssl.enabled.protocols",
    "ssl.keymanager.algorithm",
    "ssl.protocol",
    "ssl.trustmanager.algorithm",
    "value.deserializer",
    "value.serializer",
})  # fmt: skip
"""Properties without a counterpart that do not affect results."""

MISSED = frozenset({
    "interceptor.classes",
    "metric.reporters",
    "security.providers",
    "ssl.provider",
    "ssl.secure.random.implementation",
})  # fmt: skip
"""Properties that name Java classes which do not affect results. A warning says that the classes do not run."""

SHADED = "org.apache.flink.kafka.shaded."
"""Prefix of Kafka's class names in Flink's own jar."""

JMX_REPORTER = "org.apache.kafka.common.metrics.JmxReporter"
"""The default reporter of the Java clients."""

IN_TLS = frozenset({
    "ssl.cipher.suites",
    "ssl.endpoint.identification.algorithm",
    "ssl.key.password",
    "ssl.keystore.certificate.chain",
    "ssl.keystore.key",
    "ssl.keystore.location",
    "ssl.keystore.password",
    "ssl.keystore.type",
    "ssl.truststore.certificates",
    "ssl.truststore.location",
    "ssl.truststore.password",
    "ssl.truststore.type",
})  # fmt: skip

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

RANGES = {
    "auto.commit.interval.ms": (0, 86_400_000),
    "batch.size": (1, 2_147_483_647),
    "connections.max.idle.ms": (0, 2_147_483_647),
    "fetch.max.bytes": (0, 2_147_483_135),
    "fetch.min.bytes": (1, 100_000_000),
    "fetch.wait.max.ms": (0, 59_000),
    "linger.ms": (0, 900_000),
    "max.in.flight.requests.per.connection": (1, 1_000_000),
    "max.partition.fetch.bytes": (1, 1_000_000_000),
    "message.max.bytes": (1000, 1_000_000_000),
    "metadata.max.age.ms": (1, 86_400_000),
    "queue.buffering.max.kbytes": (1, 2_147_483_647),
    "reconnect.backoff.max.ms": (0, 3_600_000),
    "reconnect.backoff.ms": (0, 3_600_000),
    "request.timeout.ms": (1, 900_000),
    "retry.backoff.max.ms": (1, 300_000),
    "retry.backoff.ms": (1, 300_000),
    "socket.connection.setup.timeout.ms": (1000, 2_147_483_647),
    "socket.receive.buffer.bytes": (0, 100_000_000),
    "socket.send.buffer.bytes": (0, 100_000_000),
}
"""librdkafka accepts smaller ranges than Java; values outside are clamped."""

OF_OTHERS = {
    Role.CONSUMER: frozenset({
        "acks",
        "batch.size",
        "buffer.memory",
        "compression.gzip.level",
        "compression.lz4.level",
        "compression.type",
        "compression.zstd.level",
        "delivery.timeout.ms",
        "enable.idempotence",
        "linger.ms",
        "max.request.size",
        "partitioner.class",
        "partitioner.ignore.keys",
        "request.timeout.ms",
        "retries",
        "transaction.timeout.ms",
        "transactional.id",
    }),
    Role.PRODUCER: frozenset({
        "allow.auto.create.topics",
        "check.crcs",
        "fetch.max.bytes",
        "fetch.max.wait.ms",
        "fetch.min.bytes",
        "group.id",
        "isolation.level",
        "max.partition.fetch.bytes",
    }),
}  # fmt: skip
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
            found.update(_translated(key, value))
    found.update(login(properties))
    found.update(tls(properties, reads_files=reads_files))
    _check_limits(found)
    if role is Role.PRODUCER:
        _settle_idempotence(found)
    return found


def _translated(key: str, value: str) -> dict[str, Any]:
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
