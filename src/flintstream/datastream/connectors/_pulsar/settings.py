"""Options of Pulsar's source and sink, by Flink's keys."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, TypeVar

from flintstream.common.config_options import ConfigOption
from flintstream.connectors.pulsar.client import PLUGINS, PulsarAccess, parse_secrets
from flintstream.errors import PlanError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

T = TypeVar("T")


def as_int(value: object) -> int:
    """Return a value of a configuration as an int."""
    return int(str(value))


def as_bool(value: object) -> bool:
    """Return a value of a configuration as a bool.

    >>> as_bool("true"), as_bool(False)
    (True, False)
    """
    if isinstance(value, bool):
        return value
    if str(value).lower() not in {"true", "false"}:
        raise ValueError(f"expected true or false, got {value!r}")
    return str(value).lower() == "true"


CLIENT: dict[str, tuple[str, Callable[[object], object]]] = {
    "pulsar.client.operationTimeoutMs": ("operation_timeout_seconds", lambda ms: max(1, as_int(ms) // 1000)),
    "pulsar.client.connectionTimeoutMs": ("connection_timeout_ms", as_int),
    "pulsar.client.numIoThreads": ("io_threads", as_int),
    "pulsar.client.concurrentLookupRequest": ("concurrent_lookup_requests", as_int),
    "pulsar.client.tlsTrustCertsFilePath": ("tls_trust_certs_file_path", str),
    "pulsar.client.tlsAllowInsecureConnection": ("tls_allow_insecure_connection", as_bool),
    "pulsar.client.tlsHostnameVerificationEnable": ("tls_validate_hostname", as_bool),
    "pulsar.client.useTls": ("use_tls", as_bool),
    "pulsar.client.listenerName": ("listener_name", str),
}
"""Flink's key -> argument of the client, and how its value is read."""

PRODUCER: dict[str, tuple[str, Callable[[object], object]]] = {
    "pulsar.producer.batchingEnabled": ("batching_enabled", as_bool),
    "pulsar.producer.batchingMaxMessages": ("batching_max_messages", as_int),
    "pulsar.producer.batchingMaxBytes": ("batching_max_allowed_size_in_bytes", as_int),
    "pulsar.producer.batchingMaxPublishDelayMicros": ("batching_max_publish_delay_ms", lambda us: as_int(us) // 1000),
    "pulsar.producer.chunkingEnabled": ("chunking_enabled", as_bool),
    "pulsar.producer.compressionType": ("compression_type", str),
    "pulsar.producer.initialSequenceId": ("initial_sequence_id", as_int),
}
"""The same for producers."""

NAMES = {
    "pulsar.client.serviceUrl": "set_service_url",
    "pulsar.admin.adminUrl": "set_admin_url",
    "pulsar.consumer.subscriptionName": "set_subscription_name",
    "pulsar.consumer.consumerName": "set_consumer_name",
    "pulsar.producer.producerName": "set_producer_name",
}
"""Keys that builders have methods for."""


class Options:
    """The values that a builder has got."""

    def __init__(self) -> None:
        """Start empty."""
        self._values: dict[str, object] = {}
        self._used: set[str] = set()

    def set(self, key: object, value: object) -> None:
        """Set a value, by key or by option."""
        name = key.key if isinstance(key, ConfigOption) else key
        if not isinstance(name, str) or not name:
            raise TypeError(f"the key must be a str or a ConfigOption, got {key!r}")
        self._values[name] = value

    def get(self, key: str, default: T, read: Callable[[object], T]) -> T:
        """Return a value.

        Raises:
            PlanError: It is wrong.
        """
        self._used.add(key)
        if key not in self._values:
            return default
        try:
            return read(self._values[key])
        except (TypeError, ValueError) as error:
            raise PlanError(f"'{key}' is wrong: {error}") from None

    def arguments(self, table: Mapping[str, tuple[str, Callable[[object], object]]]) -> dict[str, object]:
        """Return arguments of the client or of producers."""
        found: dict[str, object] = {}
        for key, (argument, read) in table.items():
            if key in self._values:
                found[argument] = self.get(key, None, read)
        return found

    def text(self, key: str) -> str:
        """Return a text; empty if it is missing."""
        return self.get(key, "", str)

    def access(self) -> PulsarAccess:
        """Return how to reach Pulsar.

        Raises:
            PlanError: The service URL is missing, or the authentication is wrong.
        """
        service = self.text("pulsar.client.serviceUrl")
        if not service:
            raise PlanError("set the address of Pulsar: set_service_url('pulsar://127.0.0.1:6650')")
        plugin = self.text("pulsar.client.authPluginClassName")
        if plugin and not plugin.startswith(PLUGINS):
            plugin = PLUGINS + plugin.rpartition(".")[2]
        given = self.get("pulsar.client.authParams", "", str)
        self._used.add("pulsar.client.authParamMap")
        secrets = self._values.get("pulsar.client.authParamMap")
        found = dict(secrets) if isinstance(secrets, dict) else parse_secrets(given)
        admin = self.text("pulsar.admin.adminUrl")
        access = PulsarAccess(service, admin, plugin, found, self.arguments(CLIENT))
        access.check()
        return access

    def warn_of_rest(self) -> None:
        """Warn of options that have no effect."""
        for key in sorted(self._values.keys() - self._used):
            warnings.warn(f"'{key}' has no effect on Pulsar's Python client", stacklevel=4)

    def authenticate(self, name: str, parameters: str | Mapping[str, str]) -> None:
        """Set the authentication."""
        if not isinstance(name, str) or not isinstance(parameters, (str, dict)):
            raise TypeError("the authentication needs the name of a class, and its parameters as a str or dict")
        self._values["pulsar.client.authPluginClassName"] = name
        key = "pulsar.client.authParams" if isinstance(parameters, str) else "pulsar.client.authParamMap"
        self._values[key] = parameters
