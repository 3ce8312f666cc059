"""On plain Python: a dict of windows per process, which close as time advances."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.workloads.windows import GAP, SIZE, SLIDE, in_bursts, steady

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.workload import Run

Result = tuple[int, int, int, int, int]


def subtask(number: int, run: Run) -> Iterator[Result]:
    """Read one half of the numbers."""
    half = run.half
    mine = range(number * half, (number + 1) * half)
    if run.settings["kind"] == "session":
        return sessions(mine, half)
    return aligned(mine, half, SIZE if run.settings["kind"] == "tumbling" else SLIDE)


def aligned(mine: range, half: int, slide: int) -> Iterator[Result]:
    """Windows of one size, by their start."""
    windows: dict[int, dict[int, tuple[int, int]]] = {}
    closes = None
    for n in mine:
        key, value, time = steady(n, half)
        if closes is None:
            closes = time - time % slide + slide
        elif time >= closes:
            closed = closes - SIZE
            yield from results(closed, windows.pop(closed, {}))
            closes += slide
        last = time - time % slide
        for start in range(last, time - SIZE, -slide):
            window = windows.setdefault(start, {})
            count, total = window.get(key, (0, 0))
            window[key] = count + 1, total + value
    for start, window in windows.items():
        yield from results(start, window)


def results(start: int, window: dict[int, tuple[int, int]]) -> Iterator[Result]:
    """Return the result of a window."""
    for key, (count, total) in window.items():
        yield key, start, start + SIZE, count, total


def sessions(mine: range, half: int) -> Iterator[Result]:
    """One session per key, which the first record after the gap closes."""
    open_sessions: dict[int, tuple[int, int, int, int]] = {}
    for n in mine:
        key, value, time = in_bursts(n, half)
        session = open_sessions.get(key)
        if session is None or time >= session[1]:
            if session is not None:
                yield key, *session
            open_sessions[key] = time, time + GAP, 1, value
        else:
            start, _, count, total = session
            open_sessions[key] = start, time + GAP, count + 1, total + value
    for key, session in open_sessions.items():
        yield key, *session
