"""The properties of a Kinesis source: those of Flink's consumer, and the newer ones of its source."""

from __future__ import annotations

import warnings
from datetime import datetime, timezone
from typing import TYPE_CHECKING

from flintstream.connectors.aws.shards import AT_TIMESTAMP, LATEST, STARTS
from flintstream.errors import PlanError
from flintstream.options.units import parse_nanos

if TYPE_CHECKING:
    from collections.abc import Mapping

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


def warn_of_fan_out(properties: Mapping[str, str]) -> None:
    """Warn that a consumer of enhanced fan-out reads by requests."""
    for key in ("source.reader.type", "flink.stream.recordpublisher"):
        if properties.get(key, "").upper() == "EFO":
            warnings.warn(f"'{key}' has no effect: the source polls shards, without enhanced fan-out", stacklevel=3)


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
