"""Slots: which Python process runs a subtask.

A slot belongs to a lane and to one or several partitions. Every running job has a lane of its own, the lowest that is
free, so that jobs side by side do not take turns in the same processes, and jobs one after the other find warm ones.
"""

from __future__ import annotations

import threading
from typing import Any

DAEMON = "flintstream.engine.spark.daemon"
"""The module that starts Spark's Python workers (``spark.python.daemon.module``)."""

WORKERS = "FLINTSTREAM_WORKERS"
"""Environment variable of the workers that run our tasks; Spark gives them a pool of their own."""

SLOT_OF = "flintstream.slot"
"""Local property of a Spark job: ``<lane>/<number of slots>``."""

SLOTS_PER_CORE = 4
"""A partition has a slot for itself unless there are more than this many partitions per core."""

_lanes: set[int] = set()
_changing = threading.Lock()


def slot_template(context: Any, lane: int) -> str:
    """Return what the local property :data:`SLOT_OF` says of a job."""
    cores = int(context.getConf().get("spark.executor.cores") or context.defaultParallelism)
    return f"{lane}/{cores * SLOTS_PER_CORE}"


def slot_name(template: str, partition: int) -> str:
    """Return the slot of a partition.

    >>> slot_name("0/8", 3), slot_name("1/8", 9)
    ('0-3', '1-1')
    """
    lane, slots = map(int, template.split("/"))
    return f"{lane}-{partition % slots}"


def take_lane() -> int:
    """Return the lowest lane that no running job has."""
    with _changing:
        lane = next(n for n in range(len(_lanes) + 1) if n not in _lanes)
        _lanes.add(lane)
        return lane


def release_lane(lane: int) -> None:
    """Leave a lane to the next job."""
    with _changing:
        _lanes.discard(lane)


def with_own_workers(context: Any) -> Any:
    """Return the Spark context as one whose RDDs run in workers of their own.

    Spark keeps a pool of Python workers per environment. In a pool of ours a connection carries nothing from one task
    to the next, which is why its tasks may run in any process; other jobs keep their broadcast variables there.
    """
    own = object.__new__(type(context))
    own.__dict__.update(context.__dict__, environment={**context.environment, WORKERS: "1"})
    return own
