"""A first, plain version; the checksummed format takes its place."""

from __future__ import annotations

import io
import pickle
from typing import Any, NamedTuple


class Summary(NamedTuple):
    size: int
    checksum: str


class StateFileWriter:
    def __init__(self, file: Any) -> None:
        self.file = file
        self.entries: list[Any] = []

    def write(self, operator: str, change: Any) -> None:
        self.entries.append((operator, pickle.dumps(change)))

    def write_value(self, operator: str, name: str, value: object) -> None:
        self.entries.append((operator, name, pickle.dumps(value)))

    def finish(self) -> Summary:
        data = pickle.dumps(self.entries)
        self.file.write(data)
        return Summary(len(data), "")


class StateFile:
    def __init__(self, file: Any, path: str = "") -> None:
        self.entries = pickle.load(io.BytesIO(file) if isinstance(file, bytes) else file)

    def changes(self, operator: str) -> Any:
        return (pickle.loads(e[1]) for e in self.entries if e[0] == operator and len(e) == 2)

    def values(self, operator: str) -> dict[str, Any]:
        return {e[1]: pickle.loads(e[2]) for e in self.entries if e[0] == operator and len(e) == 3}
