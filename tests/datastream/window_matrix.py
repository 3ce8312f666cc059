# mypy: disable-error-code="import-not-found,import-untyped"
"""Windows by assigners of PyFlink and of users, with triggers of both, in both times: a program for each combination.

python tests/datastream/window_matrix.py FILE   # with PyFlink: record the results
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from pyflink.common import Configuration, Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import ProcessWindowFunction, StreamExecutionEnvironment
from pyflink.datastream.window import (
    ContinuousEventTimeTrigger,
    CountTrigger,
    EventTimeSessionWindows,
    EventTimeTrigger,
    GlobalWindows,
    MergingWindowAssigner,
    ProcessingTimeSessionWindows,
    ProcessingTimeTrigger,
    PurgingTrigger,
    SlidingEventTimeWindows,
    SlidingProcessingTimeWindows,
    TimeWindow,
    TimeWindowSerializer,
    Trigger,
    TriggerResult,
    TumblingEventTimeWindows,
    TumblingProcessingTimeWindows,
    WindowAssigner,
)

RECORDS = [("a", 1), ("a", 3), ("b", 2), ("a", 4), ("a", 6), ("b", 3), ("a", 13)]
BASES = {"past": 0, "future": 4_000_000_000_000}
"""What is added to the times of records: windows are over by the clock, or are not."""


class SecondField(TimestampAssigner):
    def __init__(self, base):
        self.base = base

    def extract_timestamp(self, value, record_timestamp):
        return value[1] + self.base


class Own(WindowAssigner):
    """A kind of windows of event times, which says of itself that its time is ``event``."""

    def __init__(self, kind, event):
        self.kind, self.event = kind, event

    def assign_windows(self, element, timestamp, context):
        if self.kind == "tumbling":
            return [TimeWindow(timestamp - timestamp % 4, timestamp - timestamp % 4 + 4)]
        if self.kind == "sliding":
            start = timestamp - timestamp % 2
            return [TimeWindow(start, start + 4), TimeWindow(start - 2, start + 2)]
        if self.kind == "session":
            return [TimeWindow(timestamp, timestamp + 2)]
        return [TimeWindow(0, 2**63 - 1)]

    def get_default_trigger(self, env):
        return EventTimeTrigger.create()

    def get_window_serializer(self):
        return TimeWindowSerializer()

    def is_event_time(self):
        return self.event


class OwnMerging(Own, MergingWindowAssigner):
    def merge_windows(self, windows, callback):
        TimeWindow.merge_windows(windows, callback)


class OwnTrigger(Trigger):
    """Fires at the end of a window by ``clock``, or when a record is even; says which it was by purging or not."""

    def __init__(self, clock):
        self.clock = clock

    def on_element(self, element, timestamp, window, ctx):
        if self.clock == "event":
            ctx.register_event_time_timer(window.max_timestamp())
        elif self.clock == "processing":
            ctx.register_processing_time_timer(window.max_timestamp())
        elif element[1] % 2 == 0:
            return TriggerResult.FIRE_AND_PURGE
        return TriggerResult.CONTINUE

    def on_event_time(self, time, window, ctx):
        return TriggerResult.FIRE_AND_PURGE if self.clock == "event" else TriggerResult.CONTINUE

    def on_processing_time(self, time, window, ctx):
        return TriggerResult.FIRE if self.clock == "processing" else TriggerResult.CONTINUE

    def can_merge(self):
        return True

    def on_merge(self, window, ctx):
        if self.clock == "event":
            ctx.register_event_time_timer(window.max_timestamp())
        elif self.clock == "processing":
            ctx.register_processing_time_timer(window.max_timestamp())

    def clear(self, window, ctx):
        if self.clock == "event":
            ctx.delete_event_time_timer(window.max_timestamp())
        elif self.clock == "processing":
            ctx.delete_processing_time_timer(window.max_timestamp())


def assigners():
    size, half, gap = Time.milliseconds(4), Time.milliseconds(2), Time.milliseconds(2)
    made = {
        "TumblingEventTime": TumblingEventTimeWindows.of(size),
        "SlidingEventTime": SlidingEventTimeWindows.of(size, half),
        "EventTimeSession": EventTimeSessionWindows.with_gap(gap),
        "TumblingProcessingTime": TumblingProcessingTimeWindows.of(Time.hours(20_000_000)),
        "SlidingProcessingTime": SlidingProcessingTimeWindows.of(Time.hours(20_000_000), Time.hours(20_000_000)),
        "ProcessingTimeSession": ProcessingTimeSessionWindows.with_gap(Time.hours(20_000_000)),
        "Global": GlobalWindows.create(),
    }
    for event in (True, False):
        for kind in ("tumbling", "sliding", "global"):
            made[f"own {kind} {'event' if event else 'processing'}"] = Own(kind, event)
        made[f"own session {'event' if event else 'processing'}"] = OwnMerging("session", event)
    return made


def triggers():
    return {
        "default": None,
        "EventTime": EventTimeTrigger.create(),
        "ProcessingTime": ProcessingTimeTrigger.create(),
        "ContinuousEventTime": ContinuousEventTimeTrigger.of(Time.milliseconds(3)),
        "Count": CountTrigger.of(2),
        "PurgingCount": PurgingTrigger.of(CountTrigger.of(2)),
        "PurgingEventTime": PurgingTrigger.of(EventTimeTrigger.create()),
        "own event": OwnTrigger("event"),
        "own processing": OwnTrigger("processing"),
        "own even": OwnTrigger("even"),
    }


def names():
    """Return the name of each combination; a continuous trigger would fire in endless windows without end."""
    return [
        f"{assigner} / {trigger} / {base}"
        for assigner in assigners()
        for trigger in triggers()
        if trigger != "ContinuousEventTime"
        or not any(kind in assigner for kind in ("global", "Global", "ProcessingTime"))
        for base in (BASES if "ProcessingTime" not in assigner and "Global" not in assigner else ("past",))
    ]


class Sum(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield key, sum(e[1] for e in elements)


def results(name, configuration=None):
    """Return the results of a combination: by key, the sums in the order in which windows fire; or the error's kind."""
    assigner, trigger, base = name.split(" / ")
    env = StreamExecutionEnvironment.get_execution_environment(configuration or Configuration())
    env.set_parallelism(1)
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(SecondField(BASES[base]))
    stream = env.from_collection(RECORDS, Types.TUPLE([Types.STRING(), Types.LONG()]))
    stream = stream.assign_timestamps_and_watermarks(strategy).key_by(lambda t: t[0], Types.STRING())
    windows = stream.window(assigners()[assigner])
    chosen = triggers()[trigger]
    if chosen is not None:
        windows = windows.trigger(chosen)
    made = windows.process(Sum(), Types.TUPLE([Types.STRING(), Types.LONG()]))
    found: dict[str, list[int]] = {}
    try:
        with made.execute_and_collect() as rows:
            for key, value in rows:
                found.setdefault(key, []).append(value)
    except Exception as error:  # noqa: BLE001 - that of either engine
        text = str(error)
        return "merged too late" if "merging" in text else f"error: {text[-200:]}"
    return found


if __name__ == "__main__":
    os.environ["PATH"] = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", "")))
    file = Path(sys.argv[1])
    made = {}
    for case in names():
        made[case] = results(case)
        print(case, made[case], flush=True)
    file.write_text(json.dumps(made, indent=1, sort_keys=True) + "\n", encoding="utf-8")
