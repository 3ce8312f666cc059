"""Options of tables as programs for Flink 1.10 and earlier write them: ``'connector.type' = 'filesystem'``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.table._errors import SqlError

if TYPE_CHECKING:
    from collections.abc import Mapping

_FORMAT = {
    "format.field-delimiter": "csv.field-delimiter",
    "format.quote-character": "csv.quote-character",
    "format.disable-quote-character": "csv.disable-quote-character",
    "format.escape-character": "csv.escape-character",
    "format.null-literal": "csv.null-literal",
    "format.array-element-delimiter": "csv.array-element-delimiter",
    "format.allow-comments": "csv.allow-comments",
    "format.ignore-parse-errors": "csv.ignore-parse-errors",
    "format.fail-on-missing-field": "json.fail-on-missing-field",
}
_CONNECTORS = {
    "filesystem": {"connector.path": "path"},
    "kafka": {
        "connector.topic": "topic",
        "connector.startup-mode": "scan.startup.mode",
        "connector.specific-offsets": "scan.startup.specific-offsets",
        "connector.startup-timestamp-millis": "scan.startup.timestamp-millis",
        "connector.sink-partitioner": "sink.partitioner",
    },
    "jdbc": {
        "connector.url": "url",
        "connector.table": "table-name",
        "connector.driver": "driver",
        "connector.username": "username",
        "connector.password": "password",
        "connector.read.partition.column": "scan.partition.column",
        "connector.read.partition.num": "scan.partition.num",
        "connector.read.partition.lower-bound": "scan.partition.lower-bound",
        "connector.read.partition.upper-bound": "scan.partition.upper-bound",
        "connector.read.fetch-size": "scan.fetch-size",
        "connector.lookup.cache.max-rows": "lookup.cache.max-rows",
        "connector.lookup.cache.ttl": "lookup.cache.ttl",
        "connector.lookup.max-retries": "lookup.max-retries",
        "connector.write.flush.max-rows": "sink.buffer-flush.max-rows",
        "connector.write.flush.interval": "sink.buffer-flush.interval",
        "connector.write.max-retries": "sink.max-retries",
    },
}
_IMPLIED = {
    "connector.property-version": None,
    "connector.version": None,
    "format.property-version": None,
    "format.derive-schema": None,
    "format.ignore-first-line": "false",
    "update-mode": "append",
}
"""Options that say what holds anyway, and the only value if there is one."""


def current_options(table: str, options: Mapping[str, str]) -> dict[str, str]:
    """Return options under the keys of today; those of today stay as they are.

    Raises:
        SqlError: An option has no counterpart.

    >>> current_options("t", {"connector.type": "filesystem", "connector.path": "/in", "format.type": "csv"})
    {'connector': 'filesystem', 'path': '/in', 'format': 'csv', 'csv.ignore-trailing-unmappable': 'true'}
    """
    kind = options.get("connector.type")
    if kind is None:
        return dict(options)
    keys = {"connector.type": "connector", "format.type": "format", **_FORMAT, **_CONNECTORS.get(kind, {})}
    found: dict[str, str] = {}
    for key, value in options.items():
        if key in keys:
            found[keys[key]] = value
        elif key.startswith("connector.properties.") and kind == "kafka":
            found[key.removeprefix("connector.")] = value
        elif key not in _IMPLIED or _IMPLIED[key] not in {None, value}:
            raise SqlError(
                f"table '{table}': the option '{key}' = '{value}' of Flink 1.10 has no counterpart for the connector "
                f"'{kind}': declare the table with 'connector' = '{kind}' and the options of today"
            )
    if found.get("format") == "csv" and kind == "filesystem":
        found["csv.ignore-trailing-unmappable"] = "true"  # as those files were read
    return found
