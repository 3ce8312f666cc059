"""Requests to the store of the state log, and bytes through the driver, by the number of keys that an epoch changes.

    python -m benchmarks.state_log [--epochs 160]

A source, one exchange, a count per key: one stateful subtask on the inline engine, which passes the same messages as
Spark. Each pair of lines compares a log whose pieces are all files of the store with one whose small pieces travel with
the messages. The figures do not depend on the machine.
"""

from __future__ import annotations

import argparse
import os
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from flintstream.common import WatermarkStrategy
from flintstream.connectors.source import Boundedness, Source, SourceReader, SourceSplit, StaticEnumerator
from flintstream.datastream import StreamExecutionEnvironment
from flintstream.engine.inline.engine import InlineEngine
from flintstream.runtime.state_log import pieces
from flintstream.runtime.state_log.log import MemoryStateLog

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from flintstream.connectors.source import Fetch
    from flintstream.runtime.exchange.receiving import Item

KEYS = 100_000


class _Split(SourceSplit):
    number = 0


class _Steps(Source):
    """Emit the same number of records in each epoch, with other keys each time."""

    boundedness = Boundedness.CONTINUOUS_UNBOUNDED

    def __init__(self, records: int, epochs: int) -> None:
        self.records, self.epochs = records, epochs

    def create_enumerator(self, parallelism: int) -> StaticEnumerator:
        return StaticEnumerator([_Split("only")])

    def create_reader(self) -> SourceReader:
        return _Reader(self.records, self.epochs)


class _Reader(SourceReader):
    def __init__(self, records: int, epochs: int) -> None:
        self.records, self.epochs = records, epochs

    def read(self, split: _Split, fetch: Fetch) -> Generator[list[Any], None, bool]:  # type: ignore[override]
        if split.number < self.epochs:
            first = split.number * self.records
            split.number += 1
            yield [number * 7919 % KEYS for number in range(first, first + self.records)]
        return split.number == self.epochs


def measured(records: int, epochs: int, *, inline: bool) -> tuple[float, float, float]:
    """Return requests, bytes to the stateful subtask and bytes from it, each per epoch."""
    from benchmarks.latency import Count

    counts = {"requests": 0, "down": 0, "up": 0}
    epochs_run = 0

    def counted(name: str) -> Any:
        original = getattr(MemoryStateLog, name)

        def method(self: MemoryStateLog, *arguments: Any) -> Any:
            counts["requests"] += 1
            return original(self, *arguments)

        return method

    run_epoch = InlineEngine.run_epoch

    def weighed(self: InlineEngine, items: Sequence[Item]) -> list[Item]:
        nonlocal epochs_run
        epochs_run += 1
        results = run_epoch(self, items)
        counts["down"] += sum(len(item.payload) for item in items if item.level == 1)
        counts["up"] += sum(len(item.payload) for item in results)
        return results

    with ExitStack() as stack:
        stack.enter_context(patch.object(pieces, "INLINE_BYTES", pieces.INLINE_BYTES if inline else -1))
        for name in ("write", "read", "delete"):
            stack.enter_context(patch.object(MemoryStateLog, name, counted(name)))
        stack.enter_context(patch.object(InlineEngine, "run_epoch", weighed))
        nothing = stack.enter_context(Path(os.devnull).open("w"))
        stack.enter_context(patch.object(sys, "stdout", nothing))
        settings = {"flintstream.engine": "inline", "flintstream.epoch.idle-duration": "1"}
        env = StreamExecutionEnvironment.get_execution_environment(settings).set_parallelism(1)
        numbers = env.from_source(_Steps(records, epochs), WatermarkStrategy.no_watermarks(), "steps")
        numbers.map(lambda n: (n, 0.0)).key_by(lambda pair: pair[0]).process(Count()).filter(lambda _: False).print()
        env.execute("state log")
    return counts["requests"] / epochs_run, counts["down"] / epochs_run, counts["up"] / epochs_run


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epochs", type=int, default=160)
    options = parser.parse_args()
    print(f"{'keys':>8}{'':>10}{'requests':>10}{'to it, B':>10}{'from it, B':>12}")
    for records in (1, 10, 50, 100, 200, 1000):
        for inline in (False, True):
            requests, down, up = measured(records, options.epochs, inline=inline)
            print(
                f"{records:8}{'inline' if inline else 'files':>10}{requests:10.2f}{down:10,.0f}{up:12,.0f}", flush=True
            )


if __name__ == "__main__":
    main()
