"""From the properties of Kafka's Java clients, which PyFlink programs give, to those of librdkafka."""

from __future__ import annotations

import logging
import re
from typing import TYPE_CHECKING

from flintstream.errors import PlanError

if TYPE_CHECKING:
    from collections.abc import Mapping

_log = logging.getLogger(__name__)

RENAMED = {
    "fetch.max.wait.ms": "fetch.wait.max.ms",
    "receive.buffer.bytes": "socket.receive.buffer.bytes",
    "send.buffer.bytes": "socket.send.buffer.bytes",
    "max.request.size": "message.max.bytes",
    "sasl.mechanism": "sasl.mechanisms",
}

OF_THE_SOURCE = frozenset({
    "client.id.prefix",
    "commit.offsets.on.checkpoint",
    "partition.discovery.interval.ms",
    "register.consumer.metrics",
    "flink.disable-metrics",
    "flink.partition-discovery.interval-millis",
    "flink.poll-timeout",
})  # fmt: skip
"""Flink's own, no client's."""

WITHOUT_EFFECT = frozenset({
    "auto.include.jmx.reporter",
    "default.api.timeout.ms",
    "exclude.internal.topics",
    "interceptor.classes",
    "key.deserializer",
    "key.serializer",
    "max.block.ms",
    "max.poll.records",
    "metric.reporters",
    "metrics.num.samples",
    "metrics.recording.level",
    "metrics.sample.window.ms",
    "partition.assignment.strategy",
    "value.deserializer",
    "value.serializer",
})  # fmt: skip
"""Settings of the Java clients that there is nothing for here, and that change no result."""

_LOGIN = re.compile(r"(\w+)\s*=\s*(?:\"((?:[^\"\\]|\\.)*)\"|'((?:[^'\\]|\\.)*)'|([^\s;]+))")


def librdkafka(properties: Mapping[str, str]) -> dict[str, str]:
    """Return what librdkafka is to be given.

    >>> librdkafka({"key.deserializer": "x", "max.request.size": "9", "auto.offset.reset": "none"})
    {'message.max.bytes': '9', 'auto.offset.reset': 'error'}

    Raises:
        PlanError: A property needs Java, or would break the guarantees of the connector.
    """
    found: dict[str, str] = {}
    for key, value in properties.items():
        if key in OF_THE_SOURCE:
            continue
        if key in WITHOUT_EFFECT:
            _log.info("the Kafka property '%s' has no effect here", key)
        elif key == "buffer.memory":
            found["queue.buffering.max.kbytes"] = str(max(1, int(value) // 1024))
        elif key == "auto.offset.reset":
            found[key] = "error" if value.lower() == "none" else value.lower()
        elif key == "sasl.jaas.config":
            found.update(_login(value))
        elif key in {"ssl.truststore.location", "ssl.keystore.location"}:
            found.update(_store(key, value, properties))
        elif key in {"ssl.truststore.type", "ssl.truststore.password", "ssl.keystore.type"}:
            continue  # read together with the location
        elif key == "ssl.endpoint.identification.algorithm":
            found[key] = value or "none"
        elif key.endswith((".class", ".class.name", ".classes")):
            raise PlanError(f"the Kafka property '{key}' names a class of Java ({value}), which there are none of here")
        else:
            found[RENAMED.get(key, key)] = value
    return found


def _login(text: str) -> dict[str, str]:
    """Return user and password out of a login configuration of Java.

    >>> _login('org.apache.kafka.common.security.plain.PlainLoginModule required username="u" password="p";')
    {'sasl.username': 'u', 'sasl.password': 'p'}
    """
    options = {name: next(filter(None, values), "") for name, *values in _LOGIN.findall(text)}
    if "username" not in options or "password" not in options:
        raise PlanError(
            "of the Kafka property 'sasl.jaas.config' only username and password are understood; for other ways to log "
            "in use librdkafka's own properties (sasl.*)"
        )
    return {"sasl.username": options["username"], "sasl.password": options["password"]}


def _store(key: str, location: str, properties: Mapping[str, str]) -> dict[str, str]:
    kind = properties.get(key.replace("location", "type"), "JKS").upper()
    if key == "ssl.truststore.location" and kind == "PEM":
        return {"ssl.ca.location": location}
    if key == "ssl.keystore.location" and kind == "PKCS12":
        return {key: location}
    raise PlanError(
        f"the Kafka property '{key}' names a {kind} store, which only Java reads: give PEM files as 'ssl.ca.location', "
        "'ssl.certificate.location' and 'ssl.key.location'"
    )
