"""What makes messages of the rows of a table."""

from __future__ import annotations

import secrets
from datetime import timedelta
from typing import TYPE_CHECKING, cast

from flintstream.common.serialization import SerializationSchema
from flintstream.table._connectors.kafka.metadata import EPOCH
from flintstream.table._types.row_kinds import DELETE

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from flintstream.table._connectors.formats import Encode, Encoder

    Row = tuple[object, ...]

_MS = timedelta(milliseconds=1)


class OnePartition:
    """Chooses a partition for all records of a subtask."""

    def __init__(self) -> None:
        self.number: int | None = None

    def __getstate__(self) -> dict[str, object]:
        return {"number": None}

    def __call__(self, record: object, key: object, value: object, topic: str, partitions: Sequence[int]) -> int:
        if self.number is None:
            self.number = secrets.randbelow(1 << 30)
        return partitions[self.number % len(partitions)]


class Part(SerializationSchema["Row"]):
    """Serializes some columns of a tuple; with ``kinds``, a deleted row has no value."""

    def __init__(self, encoded: Encoder, positions: Sequence[int], *, kinds: bool = False) -> None:
        self.encoded, self.positions, self.kinds = encoded, tuple(positions), kinds
        self._ready: Encode | None = None

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_ready": None}

    def serialize(self, value: Row) -> bytes | None:
        """Return the message."""
        if self.kinds and value[-1] == DELETE:
            return None
        if self._ready is None:
            self._ready = self.encoded.encode()
        return self._ready([value[i] for i in self.positions])


class TimeOf:
    """Returns the time of a message in ms, from a column of its row; 0, which is now, for NULL."""

    def __init__(self, position: int) -> None:
        self.position = position

    def __call__(self, row: Row) -> int:
        value = cast("datetime | None", row[self.position])
        return 0 if value is None else max(0, (value - EPOCH) // _MS)


class HeadersOf:
    """Returns the headers of a message, from a column of its row; those without a name are left out."""

    def __init__(self, position: int) -> None:
        self.position = position

    def __call__(self, row: Row) -> dict[str, bytes | None] | None:
        value = cast("dict[str | None, bytes | None] | None", row[self.position])
        return None if value is None else {key: item for key, item in value.items() if key is not None}
