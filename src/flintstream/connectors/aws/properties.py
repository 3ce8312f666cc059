"""The properties of a Kinesis source: those of Flink's consumer, and the newer ones of its source."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import TYPE_CHECKING

from flintstream.connectors.aws.fan_out import FanOut
from flintstream.connectors.aws.shards import AT_TIMESTAMP, LATEST, STARTS
from flintstream.errors import PlanError
from flintstream.options.units import parse_nanos

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MOST_RECORDS = 10_000
"""The service returns no more at once."""

_MILLIS, _DURATIONS = "flink.", "source."
_FORMATS = {
    "yyyy-MM-dd'T'HH:mm:ss.SSSXXX": "%Y-%m-%dT%H:%M:%S.%f%z",
    "yyyy-MM-dd'T'HH:mm:ssXXX": "%Y-%m-%dT%H:%M:%S%z",
    "yyyy-MM-dd'T'HH:mm:ss": "%Y-%m-%dT%H:%M:%S",
    "yyyy-MM-dd HH:mm:ss": "%Y-%m-%d %H:%M:%S",
    "yyyy-MM-dd": "%Y-%m-%d",
}
"""Formats of timestamps, as Java and as Python have them."""


def start_of(properties: Mapping[str, str]) -> tuple[str, float]:
    """Return where to start, and the time (s) of ``AT_TIMESTAMP``.

    Raises:
        PlanError: The position is unknown, or its timestamp is missing or wrong.

    >>> start_of({"flink.stream.initpos": "TRIM_HORIZON"}), start_of({})
    (('TRIM_HORIZON', 0.0), ('LATEST', 0.0))
    >>> start_of({"source.init.position": "AT_TIMESTAMP", "source.init.timestamp": "1459799926.480"})
    ('AT_TIMESTAMP', 1459799926.48)
    """
    key, prefix = "source.init.position", "source.init.timestamp"
    if key not in properties:
        key, prefix = "flink.stream.initpos", "flink.stream.initpos.timestamp"
    start = properties.get(key, LATEST).upper()
    if start not in STARTS:
        raise PlanError(f"'{key}' must be one of {', '.join(STARTS)}, got '{start}'")
    if start != AT_TIMESTAMP:
        return start, 0.0
    if prefix not in properties:
        raise PlanError(f"'{key}' is AT_TIMESTAMP, which needs '{prefix}'")
    return start, _time(properties[prefix], properties.get(f"{prefix}.format"), prefix)


def _time(text: str, form: str | None, key: str) -> float:
    """Return a time in s since the epoch."""
    try:
        return float(text)
    except ValueError:
        pass
    pattern = _FORMATS.get(form or "yyyy-MM-dd'T'HH:mm:ss.SSSXXX")
    if pattern is None:
        raise PlanError(f"'{key}.format' must be one of {', '.join(_FORMATS)}, got '{form}'")
    try:
        if pattern.endswith("%z"):
            return datetime.strptime(text, pattern).astimezone(timezone.utc).timestamp()
        return datetime.strptime(text, pattern).replace(tzinfo=timezone.utc).timestamp()
    except ValueError:
        shown = form or next(iter(_FORMATS))
        raise PlanError(f"'{key}' must be seconds since 1970 or a time as {shown}, got '{text}'") from None


def limit_of(properties: Mapping[str, str]) -> int:
    """Return the maximum number of records in an answer.

    Raises:
        PlanError: The service does not allow it.

    >>> limit_of({"source.shard.get-records.max-record-count": "500"}), limit_of({})
    (500, 10000)
    """
    newer, older = "source.shard.get-records.max-record-count", "flink.shard.getrecords.maxrecordcount"
    key = newer if newer in properties else older
    text = properties.get(key, str(MOST_RECORDS))
    if not text.isdigit() or not 0 < int(text) <= MOST_RECORDS:
        raise PlanError(f"'{key}' must be from 1 to {MOST_RECORDS}, got '{text}'")
    return int(text)


def fan_out_of(properties: Mapping[str, str], streams: Sequence[str]) -> FanOut | None:
    """Return the consumer of enhanced fan-out; None if the source asks for records.

    Raises:
        PlanError: A value is unknown, or the name or an ARN of the consumer is missing.

    >>> fan_out_of({"source.reader.type": "EFO", "source.efo.consumer.name": "bills"}, ["orders"])
    FanOut(name='bills', managed=True, arns={})
    >>> fan_out_of({}, ["orders"]) is None
    True
    """
    newer = "source.reader.type" in properties
    key = "source.reader.type" if newer else "flink.stream.recordpublisher"
    if _choice(properties, key, ("POLLING", "EFO")) == "POLLING":
        return None
    name_key = "source.efo.consumer.name" if newer else "flink.stream.efo.consumername"
    name = properties.get(name_key, "")
    if newer:
        managed = _choice(properties, "source.efo.lifecycle", ("JOB_MANAGED", "SELF_MANAGED")) == "JOB_MANAGED"
    else:
        managed = _choice(properties, "flink.stream.efo.registration", ("LAZY", "EAGER", "NONE")) != "NONE"
    prefix = "flink.stream.efo.consumerarn."
    arns = {stream: properties[f"{prefix}{stream}"] for stream in streams if f"{prefix}{stream}" in properties}
    if not newer and not managed:
        if missing := [stream for stream in streams if stream not in arns]:
            raise PlanError(f"without registration, '{prefix}{missing[0]}' must be the ARN of the consumer")
        return FanOut(name, managed=False, arns=arns)
    if not name:
        raise PlanError(f"'{key}' is EFO, which needs the name of a consumer in '{name_key}'")
    return FanOut(name, managed=managed)


def _choice(properties: Mapping[str, str], key: str, choices: Sequence[str]) -> str:
    """Return the value of a property, by default the first choice."""
    found = properties.get(key, choices[0]).upper()
    if found not in choices:
        raise PlanError(f"'{key}' must be one of {', '.join(choices)}, got '{properties[key]}'")
    return found


def seconds_of(properties: Mapping[str, str], older: str, newer: str, default: float) -> float:
    """Return a time in s: the older key has milliseconds, the newer one a duration.

    >>> seconds_of({"flink.shard.discovery.intervalmillis": "500"}, "flink.shard.discovery.intervalmillis", "", 10)
    0.5
    """
    try:
        if newer in properties:
            return parse_nanos(properties[newer]) / 1e9
        return int(properties[older]) / 1000 if older in properties else default
    except ValueError as error:
        raise PlanError(f"'{newer if newer in properties else older}' is not a time: {error}") from None
