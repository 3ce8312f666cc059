"""Create the input of a program from the recipe in the list.

``${...}`` within a text becomes a value: ``${i}`` counts, ``${now}`` is the time in milliseconds, ``${time}`` and
``${ago N}`` (seconds) are ISO times, ``${every N}`` is a time as in SQL, N seconds later for each message,
``${int A B}``, ``${float A B}`` and ``${pick a|b|c}`` are drawn, the same ones in every run. A text that consists of
a single one is that value, so that ``{"count": "${i}"}`` has a number in it.
"""

from __future__ import annotations

import io
import json
import random
import re
import time
from datetime import datetime, timedelta, timezone
from typing import Any

import pyarrow as pa
from pyarrow import parquet

_PLACE = re.compile(r"\$\{([^}]*)\}")


class Filler:
    """Fill in one value after another."""

    def __init__(self, seed: int = 7) -> None:
        self.random = random.Random(seed)
        self.count = 0

    def filled(self, value: Any) -> Any:
        """Return the value with its placeholders filled in."""
        if isinstance(value, dict):
            return {key: self.filled(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self.filled(item) for item in value]
        if not isinstance(value, str):
            return value
        whole = _PLACE.fullmatch(value)
        if whole:
            return self._value(whole.group(1))
        return _PLACE.sub(lambda place: str(self._value(place.group(1))), value)

    def _value(self, place: str) -> Any:
        name, _, rest = place.partition(" ")
        if name == "i":
            return self.count
        if name == "now":
            return int(time.time() * 1000)
        if name in {"time", "ago"}:
            then = datetime.now(timezone.utc) - timedelta(seconds=float(rest or 0))
            return then.replace(tzinfo=None).isoformat(timespec="microseconds")
        if name == "every":
            then = datetime(2026, 1, 1, tzinfo=timezone.utc) + timedelta(seconds=float(rest) * self.count)
            return then.strftime("%Y-%m-%d %H:%M:%S")
        if name == "int":
            low, high = rest.split()
            return self.random.randint(int(low), int(high))
        if name == "float":
            low, high = rest.split()
            return round(self.random.uniform(float(low), float(high)), 2)
        if name == "pick":
            drawn = self.random.choice(rest.split("|"))
            return int(drawn) if drawn.isdigit() else drawn
        raise ValueError(f"a recipe has ${{{place}}}, which means nothing")


def messages(recipe: Any, filler: Filler) -> list[tuple[bytes | None, bytes]]:
    """Return keys and values of one round of messages: one per item of a list, or ``count`` messages."""
    items = recipe if isinstance(recipe, list) else [recipe] * (recipe.get("count", 10) if _framed(recipe) else 10)
    made = []
    for item in items:
        filler.count += 1
        key, value = (item.get("key"), item["value"]) if _framed(item) else (None, item)
        made.append((None if key is None else _bytes(filler.filled(key)), _bytes(filler.filled(value))))
    return made


def _framed(item: Any) -> bool:
    return isinstance(item, dict) and "value" in item and set(item) <= {"value", "key", "count", "partitions"}


def text(recipe: Any, filler: Filler) -> str:
    """Return the text of a file: the recipe itself, the lines of a list, or ``count`` lines after a ``head``."""
    if isinstance(recipe, str):
        return str(filler.filled(recipe))
    if isinstance(recipe, list):
        lines = recipe
    else:
        lines = [*([recipe["head"]] if "head" in recipe else []), *[recipe["line"]] * int(recipe["count"])]
    made = []
    for line in lines:
        filler.count += 1
        made.append(_bytes(filler.filled(line)).decode())
    return "".join(f"{line}\n" for line in made)


def contents(recipe: Any, filler: Filler) -> bytes:
    """Return the contents of a file: a text, or ``{"parquet": columns}``."""
    if not isinstance(recipe, dict) or "parquet" not in recipe:
        return text(recipe, filler).encode()
    made = io.BytesIO()
    parquet.write_table(pa.table(recipe["parquet"]), made)
    return made.getvalue()


def _bytes(value: Any) -> bytes:
    return (value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)).encode()
