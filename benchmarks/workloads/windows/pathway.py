"""On Pathway, whose windows of exactly-once behavior give one result each.

The halves of the numbers are two streams: time advances in each of them alone, so that none is late for the other.
Sessions have no such behavior in Pathway.
"""

import pathway as pw

from benchmarks.workloads.windows import SIZE, SLIDE, steady

WINDOWS = {
    "tumbling": lambda: pw.temporal.tumbling(duration=SIZE),
    "sliding": lambda: pw.temporal.sliding(hop=SLIDE, duration=SIZE),
}


class Event(pw.Schema):
    key: int
    number: int
    time: int


class Half(pw.io.python.ConnectorSubject):
    def __init__(self, part, half):
        super().__init__()
        self.numbers, self.half = range(part * half, (part + 1) * half), half

    def run(self):
        for n in self.numbers:
            key, number, time = steady(n, self.half)
            self.next(key=key, number=number, time=time)


def build(run):
    kind = run.settings["kind"]
    if kind not in WINDOWS:
        raise NotImplementedError("Pathway's session windows have no behavior that gives one result each")

    def windowed(part):
        events = pw.io.python.read(Half(part, run.half), schema=Event, name=f"half-{part}")
        windows = events.windowby(
            events.time,
            window=WINDOWS[kind](),
            behavior=pw.temporal.exactly_once_behavior(),
            instance=events.key,
        )
        return windows.reduce(
            key=pw.this._pw_instance,
            start=pw.this._pw_window_start,
            end=pw.this._pw_window_end,
            count=pw.reducers.count(),
            total=pw.reducers.sum(pw.this.number),
        )

    return [windowed(part) for part in range(2)]
