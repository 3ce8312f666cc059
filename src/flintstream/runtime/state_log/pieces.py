"""Pieces of a state log: small ones travel with reports and instructions, others are blobs of the log.

A blob costs a request to the store when it is written, and another one when it is deleted. Many epochs change so little
that a piece is as small as the message that names it.
"""

from __future__ import annotations

import io
from dataclasses import replace
from typing import TYPE_CHECKING, BinaryIO

from flintstream.checkpoint.metadata import StatePiece

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flintstream.runtime.protocol import StateHandle
    from flintstream.runtime.state_log.log import DurableStateLog, StateLog

__all__ = [
    "epochs_of",
    "inline_bytes",
    "open_handle",
    "read",
    "store",
    "to_checkpoint_piece",
    "to_merge",
    "without_known",
]

INLINE_BYTES = 4 << 10
"""The largest piece that is not a blob."""

INLINE_TOTAL = 16 << 10
"""Most bytes of such pieces in the log of a subtask, as the driver sends them with every instruction."""

MERGED = 16
"""This many log pieces that cover equally many epochs become one, so that a log of many epochs has few pieces."""

MERGED_BYTES = 1 << 20
"""Most bytes to merge into one piece, because an epoch ends only when its piece is written."""


def inline_bytes(handles: Sequence[StateHandle]) -> int:
    """Return the size of the pieces that are not blobs."""
    return sum(len(handle.inline) for handle in handles if handle.inline is not None)


def to_merge(handles: Sequence[StateHandle]) -> Sequence[StateHandle]:
    """Return the last pieces of a log, which the next piece replaces.

    This works like counting in base :data:`MERGED`: a full lowest digit becomes one piece of the next digit. The lowest
    digit is also full when inline pieces have become too many.
    """
    first, epochs, size = len(handles), 1, 0
    crowded = inline_bytes(handles) > INLINE_TOTAL - INLINE_BYTES
    while first:
        start = first
        while start and first - start < MERGED - 1 and handles[start - 1].epochs == epochs:
            if handles[start - 1].full:
                break
            start -= 1
        size += sum(handle.size for handle in handles[start:first])
        is_full = first - start == MERGED - 1 or (epochs == 1 and crowded and start < first)
        if not is_full or size > MERGED_BYTES:
            break
        first, epochs = start, epochs * MERGED
    return handles[first:]


def epochs_of(merged: Sequence[StateHandle]) -> int:
    """Return how many epochs the next piece stands for if it replaces these: the next power of :data:`MERGED`.

    >>> epochs_of([])
    1
    """
    epochs = 1
    while epochs < 1 + sum(handle.epochs for handle in merged):
        epochs *= MERGED
    return epochs


def store(log: StateLog, handle: StateHandle, data: bytes, others: Sequence[StateHandle]) -> StateHandle:
    """Store the data of a new piece, which follows ``others`` in the log, and return its handle."""
    if len(data) <= INLINE_BYTES and not handle.native and inline_bytes(others) + len(data) <= INLINE_TOTAL:
        return replace(handle, inline=data)
    log.write(handle.name, data)
    return handle


def read(log: StateLog, handle: StateHandle) -> bytes:
    """Return the data of a piece."""
    return log.read(handle.name) if handle.inline is None else handle.inline


def open_handle(log: DurableStateLog, handle: StateHandle) -> BinaryIO:
    """Return a file to read a piece of a changelog."""
    return log.open(handle.name) if handle.inline is None else io.BytesIO(handle.inline)


def to_checkpoint_piece(log: StateLog, handle: StateHandle) -> StatePiece:
    """Return what a checkpoint has to store of a piece of a changelog."""
    if handle.inline is None:
        return log.piece(handle)
    return StatePiece("", handle.size, handle.checksum, inline=handle.inline, operators=handle.operators)


def without_known(handles: Sequence[StateHandle], known: Sequence[StateHandle]) -> tuple[StateHandle, ...]:
    """Return the handles for a report, without the data that the instruction contained."""
    before = {handle.name for handle in known}
    return tuple(replace(item, inline=b"") if item.inline and item.name in before else item for item in handles)
