"""Columns and rows as people read them."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING
from unicodedata import east_asian_width

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def as_text(columns: Sequence[str], rows: Sequence[Mapping[str, object]]) -> str:
    r"""Return rows as a table of text, numbers to the right; what a terminal would obey, as line breaks, is escaped.

    >>> print(as_text(["n"], [{"n": 10}, {"n": None}]), end="")
    |    n |
    |------|
    |   10 |
    | NULL |
    >>> print(as_text(["s"], [{"s": "a\nb"}, {"s": "日"}]), end="")
    | s    |
    |------|
    | a\nb |
    | 日   |
    """
    names = list(map(_printable, columns))
    texts = [["NULL" if row[name] is None else _printable(str(row[name])) for name in columns] for row in rows]
    widths = [max(map(_width, column)) for column in zip(names, *texts, strict=True)] if columns else []
    numbers = [all(isinstance(row[name], (int, float, type(None))) for row in rows) for name in columns]

    def line(cells: Sequence[str]) -> str:
        parts = [(text, " " * (width - _width(text))) for text, width in zip(cells, widths, strict=True)]
        placed = (space + text if right else text + space for (text, space), right in zip(parts, numbers, strict=True))
        return f"| {' | '.join(placed)} |"

    rule = f"|{'|'.join('-' * (width + 2) for width in widths)}|"
    return "\n".join([line(names), rule, *map(line, texts), ""])


def _printable(text: str) -> str:
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def _width(text: str) -> int:
    return sum(2 if east_asian_width(char) in "WF" else 1 for char in text)


def as_html(columns: Sequence[tuple[str, str]]) -> str:
    """Return names and types of columns as a table of HTML.

    >>> as_html([("a<b", "INT")])
    '<table><tr><th>column</th><th>type</th></tr><tr><td>a&lt;b</td><td>INT</td></tr></table>'
    """
    lines = "".join(f"<tr><td>{escape(name)}</td><td>{escape(kind)}</td></tr>" for name, kind in columns)
    return f"<table><tr><th>column</th><th>type</th></tr>{lines}</table>"


def as_markdown(columns: Sequence[tuple[str, str]]) -> str:
    """Return names and types of columns as a table of Markdown.

    >>> print(as_markdown([("id", "BIGINT")]))
    | column | type |
    |---|---|
    | id | BIGINT |
    """
    lines = [f"| {_cell(name)} | {_cell(kind)} |" for name, kind in columns]
    return "\n".join(["| column | type |", "|---|---|", *lines])


def _cell(text: str) -> str:
    return escape(text).replace("|", "\\|").replace("\n", " ")
