"""Options of tables in Kafka, from the arguments of readers and writers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.dataframe._checks import require_choice, require_text
from flintstream.dataframe._options.descriptors import add_prefix, check_options, merge, text_of_parallelism

if TYPE_CHECKING:
    from collections.abc import Mapping

STARTS = ("earliest-offset", "latest-offset", "group-offsets", "timestamp", "specific-offsets")
ENDS = ("unbounded", "latest-offset", "group-offsets", "timestamp", "specific-offsets")
GUARANTEES = ("none", "at-least-once", "exactly-once")
INCLUDED = ("ALL", "EXCEPT_KEY")


def _set(value: object, name: str) -> str | None:
    return None if value is None else require_text(value, name)


def topics_of(topic: object, pattern: object) -> dict[str, str | None]:
    """Return the options for the topics of a source: one, several, or those with a pattern.

    Raises:
        TypeError: They are not texts.
        ValueError: There are none, or topics and a pattern.
    """
    if (topic is None) == (pattern is None):
        if topic is None:
            raise ValueError("either 'topic' or 'topic_pattern' must be specified")
        raise ValueError("'topic' and 'topic_pattern' are mutually exclusive")
    if isinstance(topic, list):
        if not topic:
            raise ValueError("topic must not be an empty list")
        if not all(isinstance(item, str) for item in topic):
            raise TypeError("topic list elements must be strings")
        return {"topic": ";".join(require_text(item, "topic") for item in topic)}
    return {"topic": _set(topic, "topic"), "topic-pattern": _set(pattern, "topic_pattern")}


def offsets_of(offsets: object, name: str) -> str | None:
    """Return offsets by partition, as the connector reads them; None if there are none, a text as it is.

    >>> offsets_of({0: 10, 1: 20}, "offsets")
    'partition:0,offset:10;partition:1,offset:20'

    Raises:
        TypeError: They are not a dict of whole numbers.
        ValueError: There are none, or negative ones.
    """
    if offsets is None or isinstance(offsets, str):
        return offsets
    if not isinstance(offsets, dict):
        raise TypeError(f"{name} must be a dict of partitions and offsets, or a text")
    if not offsets:
        raise ValueError(f"{name} must not be empty")
    for part, numbers in (("keys", offsets), ("values", offsets.values())):
        for number in numbers:
            if isinstance(number, bool) or not isinstance(number, int):
                raise TypeError(f"{name} {part} must be integers")
            if number < 0:
                raise ValueError(f"{name} {part} must not be negative")
    return ";".join(f"partition:{partition},offset:{offset}" for partition, offset in offsets.items())


def _place(kind: str, mode: object, modes: tuple[str, ...], millis: object, offsets: object) -> dict[str, str | None]:
    """Return where a source starts or ends."""
    scan = "scan.startup" if kind == "startup" else "scan.bounded"
    found = require_choice(mode, f"{kind}_mode", modes)
    for given, needs, name in (
        (millis, "timestamp", f"{kind}_timestamp_millis"),
        (offsets, "specific-offsets", f"{kind}_specific_offsets"),
    ):
        if found == needs and given is None:
            raise ValueError(f"{name} is required if {kind}_mode is '{needs}'")
        if found != needs and given is not None:
            raise ValueError(f"{name} requires {kind}_mode '{needs}'")
    if millis is not None and (isinstance(millis, bool) or not isinstance(millis, int)):
        raise TypeError(f"{kind}_timestamp_millis must be an int")
    return {
        f"{scan}.mode": found,
        f"{scan}.timestamp-millis": None if millis is None else str(millis),
        f"{scan}.specific-offsets": offsets_of(offsets, f"{kind}_specific_offsets"),
    }


def _common(
    bootstrap_servers: object,
    value_format: object,
    format_options: object,
    value_format_options: object,
    key_format: object,
    key_format_options: object,
    key_fields: object,
    value_fields_include: object,
    properties: object,
) -> dict[str, str]:
    found = {"properties.bootstrap.servers": require_text(bootstrap_servers, "bootstrap_servers")}
    kind = require_text(value_format, "value_format")
    merge(found, {"value.format": kind})
    for options in (format_options, value_format_options):
        if options is not None:
            merge(found, _formats(options, kind, "value"))
    key = _set(key_format, "key_format")
    merge(found, {"key.format": key})
    if key_format_options is not None:
        if key is None:
            raise ValueError("key_format_options requires key_format")
        merge(found, _formats(key_format_options, key, "key"))
    if key_fields is not None:
        if not isinstance(key_fields, list):
            raise TypeError("key_fields must be a list")
        if not key_fields:
            raise ValueError("key_fields must not be empty")
        if not all(isinstance(item, str) for item in key_fields):
            raise TypeError("key_fields elements must be strings")
        if key is None:
            raise ValueError("key_fields requires key_format")
        merge(found, {"key.fields": ";".join(key_fields)})
    merge(found, {"value.fields-include": require_choice(value_fields_include, "value_fields_include", INCLUDED)})
    own = add_prefix(properties, "properties.")
    if "properties.bootstrap.servers" in own:
        raise ValueError("properties.bootstrap.servers must be specified with the bootstrap_servers argument")
    merge(found, own)
    return found


def _formats(options: object, kind: str, side: str) -> dict[str, str]:
    plain = {key.removeprefix(f"{side}."): value for key, value in check_options(options).items()}
    return {f"{side}.{key}": value for key, value in add_prefix(plain, f"{kind}.").items()}


def _with_extra(found: dict[str, str], more: Mapping[str, str | None], extra: object) -> dict[str, str]:
    merge(found, more)
    if extra is not None:
        merge(found, check_options(extra))
    return found


def source_options(
    bootstrap_servers: object,
    *,
    topic: object,
    topic_pattern: object,
    group_id: object,
    value_format: object,
    format_options: object,
    value_format_options: object,
    key_format: object,
    key_format_options: object,
    key_fields: object,
    key_fields_prefix: object,
    value_fields_include: object,
    startup_mode: object,
    startup_specific_offsets: object,
    startup_timestamp_millis: object,
    topic_partition_discovery_interval: object,
    bounded_mode: object,
    bounded_timestamp_millis: object,
    bounded_specific_offsets: object,
    properties: object,
    extra_options: object = None,
) -> dict[str, str]:
    """Return the options of a source.

    Raises:
        TypeError: An argument has another type.
        ValueError: One is missing, or conflicts with another one.
    """
    found = _common(
        bootstrap_servers, value_format, format_options, value_format_options, key_format, key_format_options,
        key_fields, value_fields_include, properties,
    )  # fmt: skip
    if "properties.group.id" in found:
        raise ValueError("properties.group.id must be specified with the group_id argument")
    interval = topic_partition_discovery_interval
    more = {
        **topics_of(topic, topic_pattern),
        "properties.group.id": _set(group_id, "group_id"),
        "key.fields-prefix": _set(key_fields_prefix, "key_fields_prefix"),
        **_place("startup", startup_mode, STARTS, startup_timestamp_millis, startup_specific_offsets),
        "scan.topic-partition-discovery.interval": (
            "0" if interval is None else require_text(interval, "topic_partition_discovery_interval")
        ),
        **_place("bounded", bounded_mode, ENDS, bounded_timestamp_millis, bounded_specific_offsets),
    }
    return _with_extra(found, more, extra_options)


def sink_options(
    bootstrap_servers: object,
    *,
    topic: object,
    value_format: object,
    format_options: object,
    value_format_options: object,
    key_format: object,
    key_format_options: object,
    key_fields: object,
    value_fields_include: object,
    delivery_guarantee: object,
    properties: object,
    sink_parallelism: object,
    transactional_id_prefix: object = None,
    partitioner: object = None,
    format: object = "json",
    extra_options: object = None,
) -> dict[str, str]:
    """Return the options of a sink.

    Raises:
        TypeError: An argument has another type.
        ValueError: One is missing, or conflicts with another one.
    """
    kind = format if value_format is None else value_format
    found = _common(
        bootstrap_servers, kind, format_options, value_format_options, key_format, key_format_options,
        key_fields, value_fields_include, properties,
    )  # fmt: skip
    guarantee = require_choice(delivery_guarantee, "delivery_guarantee", GUARANTEES)
    more = {
        "topic": require_text(topic, "topic"),
        "sink.delivery-guarantee": guarantee,
        "sink.transactional-id-prefix": _set(transactional_id_prefix, "transactional_id_prefix"),
        "sink.partitioner": _set(partitioner, "partitioner"),
        "sink.parallelism": text_of_parallelism(sink_parallelism),
    }
    made = _with_extra(found, more, extra_options)
    if guarantee == "exactly-once" and not made.get("sink.transactional-id-prefix"):
        raise ValueError("delivery_guarantee 'exactly-once' requires sink.transactional-id-prefix")
    return made
