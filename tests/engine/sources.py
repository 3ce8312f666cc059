"""Sources for tests that need several epochs, pauses or no end."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

from flintstream.connectors.source import Boundedness, Source, SourceReader, SourceSplit, StaticEnumerator


@dataclass
class PacedSplit(SourceSplit):
    position: int = 0


class PacedSource(Source):
    """Emit the numbers from 0, one after each pause; without a limit, never end.

    If ``hold`` is given, the second half waits until this file exists. There are no pauses once ``hurry`` exists.
    """

    def __init__(self, limit: int | None, pause: float, hold: Path | None = None, hurry: Path | None = None) -> None:
        self.limit = limit
        self.pause = pause
        self.hold = hold
        self.hurry = hurry
        if limit is None:
            self.boundedness = Boundedness.CONTINUOUS_UNBOUNDED

    def create_enumerator(self, parallelism: int) -> StaticEnumerator:
        return StaticEnumerator([PacedSplit("paced")])

    def create_reader(self) -> SourceReader:
        return PacedReader(self.limit, self.pause, self.hold, self.hurry)


class PacedReader(SourceReader):
    def __init__(self, limit: int | None, pause: float, hold: Path | None, hurry: Path | None) -> None:
        self.limit = limit
        self.pause = pause
        self.hold = hold
        self.hurry = hurry

    def read(self, split, fetch):
        while self.limit is None or split.position < self.limit:
            if self.hold is not None and 2 * split.position >= (self.limit or 0) and not self.hold.exists():
                return False
            if self.hurry is None or not self.hurry.exists():
                time.sleep(self.pause)
            split.position += 1
            yield [split.position - 1]
        return True


class StepwiseSource(Source):
    """Emit the numbers from 0, one in each epoch, whatever time that takes."""

    def __init__(self, limit: int) -> None:
        self.limit = limit

    def create_enumerator(self, parallelism: int) -> StaticEnumerator:
        return StaticEnumerator([PacedSplit("stepwise")])

    def create_reader(self) -> SourceReader:
        return StepwiseReader(self.limit)


class StepwiseReader(SourceReader):
    def __init__(self, limit: int) -> None:
        self.limit = limit

    def read(self, split, fetch):
        if split.position < self.limit:
            split.position += 1
            yield [split.position - 1]
        return split.position == self.limit


class SilentSource(Source):
    """Emit one record, then nothing more, without ending."""

    boundedness = Boundedness.CONTINUOUS_UNBOUNDED

    def create_enumerator(self, parallelism: int) -> StaticEnumerator:
        return StaticEnumerator([PacedSplit("silent")])

    def create_reader(self) -> SourceReader:
        return SilentReader()


class SilentReader(SourceReader):
    def read(self, split, fetch):
        if split.position == 0:
            split.position = 1
            yield ["only"]
        return False
