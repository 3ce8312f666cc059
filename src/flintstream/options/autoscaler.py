"""The options of the autoscaler. Those after the prefix have Flink's names where they mean the same."""

from __future__ import annotations

from flintstream.options.option import Option, options_in
from flintstream.options.types import FLAG, count, duration, number
from flintstream.options.units import MINUTE

_SHARE = number("from 0 to 1", lambda value: 0 <= value <= 1)
_POSITIVE_SHARE = number("above 0 and at most 1", lambda value: 0 < value <= 1)

AUTOSCALER = Option(
    "flintstream.autoscaler.enabled",
    FLAG,
    False,
    "whether a job [changes its parallelism itself](../how-to/rescaling.md#by-itself)",
)
UTILIZATION_TARGET = Option(
    "flintstream.autoscaler.utilization.target",
    _POSITIVE_SHARE,
    0.7,
    "the share of the time in which the job should have work after a change",
)
UTILIZATION_MIN = Option(
    "flintstream.autoscaler.utilization.min",
    _SHARE,
    0.4,
    "if the job has work for a smaller share of the time, the parallelism is lowered",
)
UTILIZATION_MAX = Option(
    "flintstream.autoscaler.utilization.max",
    _POSITIVE_SHARE,
    0.9,
    "if the job has work for this share of the time or more, the parallelism is raised",
)
MIN_PARALLELISM = Option(
    "flintstream.autoscaler.vertex.min-parallelism", count(1, 1 << 15), 1, "the lowest parallelism"
)
MAX_PARALLELISM = Option(
    "flintstream.autoscaler.vertex.max-parallelism",
    count(1, 1 << 15),
    200,
    "the highest parallelism. More than the cores of the cluster helps only jobs that wait",
)
STABILIZATION = Option(
    "flintstream.autoscaler.stabilization.interval",
    duration(0),
    5 * MINUTE,
    "how long after the start, and after a change, the parallelism stays as it is",
)
WINDOW = Option(
    "flintstream.autoscaler.metrics.window", duration(1), MINUTE, "the time over which rates and shares are averaged"
)
SCALE_DOWN = Option(
    "flintstream.autoscaler.scale-down.interval",
    duration(0),
    60 * MINUTE,
    "how long a lower parallelism must have been enough before the job gets it",
)
CATCH_UP = Option(
    "flintstream.autoscaler.catch-up.duration",
    duration(1),
    30 * MINUTE,
    "how quickly the job should catch up with waiting input, such as the lag in Kafka",
)

OPTIONS = options_in(globals())
