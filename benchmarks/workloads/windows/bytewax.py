"""On Bytewax.

Its clock, one per key, also moves with processing time. It waits for 10 s, so that records are not late because the
machine is slow.
"""

from datetime import datetime, timedelta, timezone

import bytewax.operators as op
from bytewax.operators.windowing import EventClock, SessionWindower, SlidingWindower, TumblingWindower, fold_window

from benchmarks.sources_bytewax import numbers
from benchmarks.workloads.windows import GAP, SIZE, SLIDE, in_bursts, steady

BEGIN = datetime(2026, 1, 1, tzinfo=timezone.utc)
ALIGN = BEGIN - timedelta(days=1)
MILLISECOND = timedelta(milliseconds=1)
WINDOWERS = {
    "tumbling": lambda: TumblingWindower(length=SIZE * MILLISECOND, align_to=ALIGN),
    "sliding": lambda: SlidingWindower(length=SIZE * MILLISECOND, offset=SLIDE * MILLISECOND, align_to=ALIGN),
    "session": lambda: SessionWindower(gap=GAP * MILLISECOND),
}


def add(accumulated, value):
    return accumulated[0] + 1, accumulated[1] + value[1]


def merge(a, b):
    return a[0] + b[0], a[1] + b[1]


def build(flow, run):
    half, kind = run.half, run.settings["kind"]
    event = in_bursts if kind == "session" else steady

    def to_keyed(n):
        value = event(n, half)
        return str(value[0]), value

    def to_result(joined):
        key, ((_, (count, total)), (_, metadata)) = joined
        opened = (metadata.open_time - BEGIN) // MILLISECOND
        closed = (metadata.close_time - BEGIN) // MILLISECOND + (GAP if kind == "session" else 0)
        return int(key), opened, closed, count, total

    clock = EventClock(
        ts_getter=lambda value: BEGIN + timedelta(milliseconds=value[2]),
        wait_for_system_duration=timedelta(seconds=10),
    )
    keyed = op.map("to_event", numbers(flow, run.records), to_keyed)
    windows = fold_window("fold", keyed, clock, WINDOWERS[kind](), lambda: (0, 0), add, merge)
    by_window = op.map("by_window", windows.down, lambda keyed: (f"{keyed[0]} {keyed[1][0]}", keyed[1]))
    meta = op.map("meta_by_window", windows.meta, lambda keyed: (f"{keyed[0]} {keyed[1][0]}", keyed[1]))
    joined = op.join("with_window", by_window, meta)
    return op.map("to_result", joined, lambda keyed: to_result((keyed[0].split()[0], keyed[1])))
