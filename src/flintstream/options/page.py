"""The tables of options in the documentation. ``make options`` writes them into the page."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flintstream.options.flink_keys import GROUPS
from flintstream.options.table import THEMES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from flintstream.options.option import Option

__all__ = ["fill", "keys_without_effect", "table"]

_PLACE = re.compile(r"(<!-- options: (\w+) -->\n).*?(<!-- end of options -->)", re.DOTALL)
_KEYS = re.compile(r"(<!-- keys without effect -->\n).*?(<!-- end of keys -->)", re.DOTALL)


def table(options: Iterable[Option[Any]]) -> str:
    """Return the options as a table in Markdown."""
    rows = ["| key | type | default | meaning | older keys |", "|---|---|---|---|---|"]
    for option in options:
        default = option.default_text()
        shown = "" if default is None else f"`{default}`"
        older = ", ".join(f"`{key}`" for key in option.deprecated_keys)
        rows.append(f"| `{option.key}` | {option.type.name} | {shown} | {option.doc} | {older} |")
    return "\n".join(rows)


def keys_without_effect() -> str:
    """Return Flink's keys that have no effect here, with the reasons, as a table in Markdown."""
    rows = ["| why | keys | warning |", "|---|---|---|"]
    for group in GROUPS:
        keys = ", ".join(f"`{key}`" for key in group.keys)
        rows.append(f"| {group.because} | {keys} | {'yes' if group.warns else 'no'} |")
    return "\n".join(rows)


def fill(page: str) -> str:
    """Return a page with the current tables inserted between the comments that mark them."""
    page = _PLACE.sub(lambda place: f"{place[1]}\n{table(THEMES[place[2]])}\n\n{place[3]}", page)
    return _KEYS.sub(lambda place: f"{place[1]}\n{keys_without_effect()}\n\n{place[2]}", page)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        file = Path(name)
        file.write_text(fill(file.read_text(encoding="utf-8")), encoding="utf-8")
