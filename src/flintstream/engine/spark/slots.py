"""Slots, which assign subtasks to Python processes.

A slot belongs to a namespace and to one or more partitions. Each running job has a namespace, the lowest free one.
Therefore, concurrent jobs do not compete for the same processes, and consecutive jobs find warm ones.
"""

from __future__ import annotations

import threading
from typing import Any

from flintstream.engine.spark.early_daemon import place
from flintstream.engine.spark.failures.ends import REPORTS

DAEMON = "flintstream.engine.spark.daemon"
"""The module that starts Spark's Python workers (``spark.python.daemon.module``)."""

WORKERS = "FLINTSTREAM_WORKERS"
"""Environment variable of the workers that run our tasks; Spark keeps them in a separate pool."""

SLOT_OF = "flintstream.slot"
"""Local property of a Spark job: ``<namespace>/<number of slots>``."""

SLOTS_PER_CORE = 4
"""Each partition has its own slot, up to this many partitions per core."""

_namespaces: set[int] = set()
_changing = threading.Lock()


def slot_template(cores: int, namespace: int) -> str:
    """Return the value of the local property :data:`SLOT_OF` for a job on executors with so many cores."""
    return f"{namespace}/{cores * SLOTS_PER_CORE}"


def slot_name(template: str, partition: int) -> str:
    """Return the slot of a partition.

    >>> slot_name("0/8", 3), slot_name("1/8", 9)
    ('0-3', '1-1')
    """
    namespace, slots = map(int, template.split("/"))
    return f"{namespace}-{partition % slots}"


def acquire_namespace() -> int:
    """Return the lowest namespace that no running job uses, and take it."""
    with _changing:
        namespace = next(n for n in range(len(_namespaces) + 1) if n not in _namespaces)
        _namespaces.add(namespace)
        return namespace


def release_namespace(namespace: int) -> None:
    """Free a namespace for the next job."""
    with _changing:
        _namespaces.discard(namespace)


def with_own_workers(context: Any, reports: str | None) -> Any:
    """Return the Spark context with RDDs that run in a separate pool of workers.

    Spark keeps a pool of Python workers per environment. In our pool, connections carry no state from one task to the
    next, so tasks may run in any process. Other jobs keep broadcast variables in theirs.

    Args:
        context: The Spark context.
        reports: The directory in which daemons report how workers end, if they run on this machine.
    """
    variables = {} if reports is None else {REPORTS: reports}
    return variant(context, environment={**context.environment, WORKERS: "1", **variables, **place()})


def variant(original: Any, **changes: Any) -> Any:
    """Return a Spark context or RDD that shares everything with another one but some attributes.

    Both refuse to be copied by the module ``copy``.
    """
    own = object.__new__(type(original))
    own.__dict__.update(original.__dict__, **changes)
    return own
