"""Assigners and generators of this package that take a block of records at a time."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, TypeVar

from flintstream.common.watermark_strategy import TimestampAssigner, WatermarkGenerator

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flintstream.common.watermark_strategy import WatermarkOutput

T_contra = TypeVar("T_contra", contravariant=True)


class BlockAssigner(TimestampAssigner[T_contra]):
    """An assigner of a block; where it fails, the records are tried one by one to find the one that fails."""

    @abstractmethod
    def extract_timestamps(self, values: Sequence[T_contra]) -> list[int]:
        """Return the event times of records in ms since the epoch."""


class BlockGenerator(WatermarkGenerator[T_contra]):
    """A generator that finds the record of a block that a watermark follows."""

    @abstractmethod
    def on_block(
        self, values: Sequence[T_contra], timestamps: Sequence[int], start: int, output: WatermarkOutput
    ) -> int:
        """Take records from a position to one that a watermark follows, else all. Return the position after the last.

        It fails before it has changed anything, so that :meth:`on_event` can take the records.
        """
