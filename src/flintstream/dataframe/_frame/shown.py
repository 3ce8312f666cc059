"""Columns and rows as people read them."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def as_text(columns: Sequence[str], rows: Sequence[Mapping[str, object]]) -> str:
    """Return rows as a table of text, numbers to the right.

    >>> print(as_text(["n"], [{"n": 10}, {"n": None}]), end="")
    |    n |
    |------|
    |   10 |
    | NULL |
    """
    texts = [["NULL" if row[name] is None else str(row[name]) for name in columns] for row in rows]
    widths = [max(map(len, column)) for column in zip(columns, *texts, strict=True)] if columns else []
    numbers = [all(isinstance(row[name], (int, float, type(None))) for row in rows) for name in columns]

    def line(cells: Sequence[str]) -> str:
        parts = zip(cells, widths, numbers, strict=True)
        return f"| {' | '.join(c.rjust(width) if right else c.ljust(width) for c, width, right in parts)} |"

    rule = f"|{'|'.join('-' * (width + 2) for width in widths)}|"
    return "\n".join([line(list(columns)), rule, *map(line, texts), ""])


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
