"""Replies about metrics: their names, values, and what several jobs or subtasks have together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from flintstream.rest.replies import Record

AGGREGATIONS = ("min", "max", "avg", "sum", "skew")


def list_metrics(values: Mapping[str, object], wanted: str | None) -> list[dict[str, str]]:
    """Names of metrics, or the values of those in a list with commas between them."""
    if wanted is None:
        return [{"id": name} for name in values]
    return [{"id": name, "value": _to_text(values[name])} for name in wanted.split(",") if name in values]


def _to_text(value: object) -> str:
    return "NaN" if value is None else str(value)  # JSON has no NaN


def together(groups: Iterable[Mapping[str, Any]], query: Mapping[str, str]) -> list[dict[str, object]]:
    """Names of the metrics of several jobs or subtasks, or what those in ``get`` have together.

    >>> together([{"numRecordsIn": 1}, {"numRecordsIn": 3}], {"get": "numRecordsIn", "agg": "sum,skew"})
    [{'id': 'numRecordsIn', 'sum': 4.0, 'skew': 50.0}]
    """
    groups = list(groups)
    wanted = query.get("get")
    if wanted is None:
        return [{"id": name} for name in dict.fromkeys(name for values in groups for name in values)]
    chosen = [part for part in query.get("agg", "").split(",") if part in AGGREGATIONS] or list(AGGREGATIONS)
    found = []
    for name in wanted.split(","):
        values = [float(group[name]) for group in groups if isinstance(group.get(name), int | float)]
        if values:
            summary = _summary(values)
            found.append({"id": name, **{kind: summary[kind] for kind in chosen}})
    return found


def _summary(values: list[float]) -> dict[str, float]:
    average = sum(values) / len(values)
    spread = sum(abs(value - average) for value in values) / len(values)
    return {
        "min": min(values),
        "max": max(values),
        "avg": average,
        "sum": sum(values),
        "skew": 100 * spread / average if average else 0.0,
    }


def of_vertex(record: Record, vertex: str) -> dict[str, object]:
    """Return the metrics of a vertex by Flink's names: ``0.busyTimeMsPerSecond``, ``0.Map.numRecordsIn``."""
    found = {}
    for subtask, values in sorted(by_subtask(record, vertex).items()):
        found.update({f"{subtask}.{name}": value for name, value in values.items()})
    return found


def by_subtask(record: Record, vertex: str) -> dict[int, dict[str, Any]]:
    """Return the metrics of each subtask: those of the task, then ``Map.numRecordsIn`` of its operators."""
    found: dict[int, dict[str, object]] = {}
    for item in record["metrics"]["tasks"]:
        if item["vertex"] == vertex:
            found.setdefault(item["subtask"], {}).update(item["values"])
    ends: dict[int, tuple[dict[str, object], dict[str, object]]] = {}
    for item in record["metrics"]["operators"]:
        if item["vertex"] == vertex:
            operator = item["operator"].replace(" ", "_").replace(":", "_").replace(".", "_").replace(",", "_")
            values = found.setdefault(item["subtask"], {})
            values.update({f"{operator}.{name}": value for name, value in item["values"].items()})
            first, _ = ends.get(item["subtask"], (item["values"], {}))
            ends[item["subtask"]] = (first, item["values"])
    for subtask, (first, last) in ends.items():
        for values, names in (
            (first, ("numRecordsIn", "numRecordsInPerSecond", "currentInputWatermark", "watermarkLag")),
            (last, ("numRecordsOut", "numRecordsOutPerSecond")),
        ):
            found[subtask].update({name: values[name] for name in names if name in values})
    return found
