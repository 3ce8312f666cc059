"""What a record of a job must look like, so that code which shows it needs to check nothing.

A record is a file, or the reply of a job that may be of another release: any JSON may be in its place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flintstream.coordinator import registry
from flintstream.errors import shorten

if TYPE_CHECKING:
    from collections.abc import Collection

__all__ = ["fault_of"]

_OTHERS = "*"
"""Stands for all names that a shape does not have. A name with a question mark may be missing."""
_LARGEST = 10**19
_MOST_SUBTASKS = 1 << 20


class _Is:
    """Values of these types, and from ``low`` to below ``high`` if they are numbers."""

    def __init__(self, *types: type, low: float = -_LARGEST, high: float = _LARGEST) -> None:
        self.types, self.low, self.high = types, low, high

    def fits(self, value: object) -> bool:
        number = isinstance(value, int | float) and not isinstance(value, bool)
        return type(value) in self.types and (not number or self.low <= value < self.high)  # type: ignore[operator]


_NONE = type(None)
_NUMBER, _COUNT, _FLAG, _TEXT = _Is(int, float, low=-1e308, high=1e308), _Is(int), _Is(bool), _Is(str)
_MAYBE_COUNT, _MAYBE_TEXT = _Is(int, _NONE), _Is(str, _NONE)
_SCALAR = _Is(_NONE, bool, int, float, str, low=-1e308, high=1e308)
_TIME = _Is(int, low=0, high=registry.LATEST_MS)
_SIZES = [_COUNT]
_SUBTASK = _Is(int, low=0, high=1 << 15)

_LOSS = {"at_ms": _TIME, "process": _MAYBE_COUNT, "subtask": _MAYBE_COUNT, "how": _TEXT, "then": _TEXT, "text": _TEXT}
_STATUS = {
    "state": _TEXT,
    **dict.fromkeys(("epochs", "restarts", "checkpoints", "records_in", "records_out"), _COUNT),
    "failed_checkpoints?": _COUNT,
    "repeated_in?": _COUNT,
    "watermark": _MAYBE_COUNT,
    "log_file?": _MAYBE_TEXT,
    "losses?": [_LOSS],
}
_PLAN = {
    "batch": _FLAG,
    "vertices": [
        {
            "id": _TEXT,
            "name": _TEXT,
            "max_parallelism": _COUNT,
            "superstep": _COUNT,
            "parallelism": _Is(int, low=1, high=(1 << 15) + 1),
            "operators": [{"id": _TEXT, "name": _TEXT, "uid": _TEXT}],
            "inputs": [{"id": _TEXT, "ship_strategy": _TEXT}],
        }
    ],
}
_CHECKPOINT = {
    "number": _COUNT,
    "kind": _TEXT,
    "status": _TEXT,
    "at_ms": _COUNT,
    "duration_ms": _COUNT,
    "bytes": _COUNT,
    "new_bytes": _COUNT,
    "path": _MAYBE_TEXT,
    "reason": _MAYBE_TEXT,
    "vertices": [{"id": _TEXT, "bytes": _SIZES, "ms": _SIZES}],
}
_CHECKPOINTS = {
    "interval_ms": _MAYBE_COUNT,
    "completed": _COUNT,
    "failed": _COUNT,
    "started_from": _MAYBE_TEXT,
    "settings?": {_OTHERS: _SCALAR},
    "history?": [_CHECKPOINT],
    "state?": [{"vertex": _TEXT, "operators": [_TEXT], "bytes": _SIZES}],
    "kept": [{"number": _COUNT, "kind": _TEXT, "path": _TEXT, "created_ms": _TIME, "bytes": _COUNT}],
}
_TIMES = ("busyTimeMsPerSecond", "backPressuredTimeMsPerSecond", "idleTimeMsPerSecond")
_PARTS = dict.fromkeys(("work", "waiting", "engine"), _NUMBER)
_METRICS = {
    "totals": {"uptime": _COUNT, _OTHERS: _SCALAR},
    "epochs?": {"count": _COUNT, "ways": {_OTHERS: _COUNT}, "last_ms": _PARTS, "total_ms": _PARTS},
    "tasks": [
        {
            "task": _TEXT,
            "vertex": _TEXT,
            "subtask": _SUBTASK,
            "values": {**dict.fromkeys(_TIMES, _NUMBER), "engineTimeMsPerSecond?": _NUMBER},
            "spent_ms?": {**dict.fromkeys(("busy", "held", "idle"), _COUNT), "engine?": _COUNT},
        }
    ],
    "operators": [{"operator": _TEXT, "vertex": _TEXT, "subtask": _SUBTASK, "values": {_OTHERS: _SCALAR}}],
}
_FAILURE = {
    "at_ms": _TIME,
    "type": _TEXT,
    "text": _TEXT,
    "operator?": _MAYBE_TEXT,
    "record?": _MAYBE_TEXT,
    "restart_ms?": _MAYBE_COUNT,
    "restart_from?": _MAYBE_COUNT,
}
# Of a job that runs, as it tells it, and in a file.
_LIVING: dict[str, Any] = {
    "format": _COUNT,
    "release": _TEXT,
    "job_id": _TEXT,
    "name": _TEXT,
    "host": _TEXT,
    "pid": _COUNT,
    "status": _STATUS,
    "plan": _PLAN,
    "checkpoints": _CHECKPOINTS,
    "metrics": _METRICS,
    "exceptions": [_FAILURE],
    "configuration": {_OTHERS: _TEXT},
}
_KEPT: dict[str, Any] = {
    **_LIVING,
    "started_ms": _TIME,
    "ended_ms": _Is(int, _NONE, low=0, high=registry.LATEST_MS),
    "error": _MAYBE_TEXT,
    "curves?": [{"at_ms": _COUNT}],
    "log?": [{"at_ms": _TIME, "level": _TEXT, "logger": _TEXT, "text": _TEXT}],
}


def fault_of(record: object, *, kept: bool, without: Collection[str] = ()) -> str | None:
    """Return what is wrong with a record from a file (``kept``) or of a job that runs; None if it is in order.

    Args:
        record: The record.
        kept: Whether it is from a file.
        without: The parts that it may lack.

    >>> fault_of([], kept=True), fault_of({"format": "1"}, kept=True)
    ('it is []', 'it has no release')
    """
    shape = _KEPT if kept else _LIVING
    fault = _fault(record, {name + "?" * (name in without): inner for name, inner in shape.items()}, "")
    if fault is not None or not isinstance(record, dict) or "plan" not in record:
        return fault
    vertices = record["plan"]["vertices"]
    if not all(vertex["operators"] for vertex in vertices):
        return "a vertex of the plan has no operators"
    return "it has too many subtasks" if sum(item["parallelism"] for item in vertices) > _MOST_SUBTASKS else None


def _fault(value: object, shape: Any, place: str) -> str | None:
    if isinstance(shape, _Is):
        return None if shape.fits(value) else f"{place or 'it'} is {shorten(value, 40)}"
    if not isinstance(value, type(shape)):
        return f"{place or 'it'} is {shorten(value, 40)}"
    if isinstance(shape, list):
        faults = (_fault(item, shape[0], f"{place}[{number}]") for number, item in enumerate(value))
        return next((fault for fault in faults if fault is not None), None)
    names = {name.removesuffix("?"): name for name in shape if name != _OTHERS}
    missing = next((name for name, given in names.items() if name == given and name not in value), None)
    if missing is not None:
        return f"{place or 'it'} has no {missing}"
    for name, inner in value.items():
        wanted = shape.get(names.get(name, _OTHERS))
        fault = None if wanted is None else _fault(inner, wanted, f"{place}.{name:.40}".lstrip("."))
        if fault is not None:
            return fault
    return None
