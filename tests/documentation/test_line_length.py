"""Prose in Markdown wraps at 120 columns, like the code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LONGEST = 120
GENERATED = ("docs/reference/parity.md", "docs/moving-over/compatibility.md", "docs/_build/")
UNBREAKABLE = re.compile(r"^(?: {4}|\s*(?:\||#|!\[|:[\w-]+:|\[[^\]]+\]: ))")


def long_lines(text: str) -> list[str]:
    """Return the lines of prose that are too long: not of code, tables, headings, images or generated parts.

    >>> long_lines("short")
    []
    >>> long_lines("word " * 30) == ["word " * 30]
    True
    >>> long_lines(f"```\\n{'word ' * 30}\\n```")
    []
    """
    found, end = [], None
    for line in text.splitlines():
        stripped = line.strip()
        if end is not None:
            end = None if re.search(end, line) else end
        elif fence := re.match(r"(`{3,}|~{3,})", stripped):
            end = rf"^\s*{fence[1]}\s*$"
        elif re.match(r"<!-- (begin of|support|options:)", stripped):
            end = "<!-- end of"
        elif stripped.startswith("<!--"):
            end = None if "-->" in line else "-->"
        elif len(line) > LONGEST and " " in re.sub("`[^`]*`", "", stripped) and not UNBREAKABLE.match(line):
            found.append(line)
    return found


def _pages() -> list[str]:
    folders = (ROOT / folder for folder in (".github", "changes", "deploy", "docs", "examples", "tests"))
    paths = [*ROOT.glob("*.md"), *(path for folder in folders for path in folder.rglob("*.md"))]
    return sorted(page for path in paths if not (page := str(path.relative_to(ROOT))).startswith(GENERATED))


@pytest.mark.parametrize("before", ["", "```\ncode\n```\n", "<!-- a remark -->\n", "| a table |\n\n* "])
def test_a_long_line_is_found(before):
    assert len(long_lines(before + "word " * 30)) == 1


@pytest.mark.parametrize("around", ["```\n{}\n```", "| {} |", "<!-- begin of the table -->\n{}\n", "# {}"])
def test_what_cannot_wrap_may_be_long(around):
    assert long_lines(around.format("word " * 30)) == []


@pytest.mark.parametrize("page", _pages())
def test_prose_wraps(page):
    assert long_lines((ROOT / page).read_text(encoding="utf-8")) == []
