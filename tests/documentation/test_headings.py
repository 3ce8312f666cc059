"""Headings in Markdown go down one level at a time: the build of the pages refuses a gap, minutes after it began."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    str(path.relative_to(ROOT))
    for path in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    if "_build" not in path.parts
)


def gaps(text: str) -> list[str]:
    """Return the headings that are more than one level below the heading above them."""
    found, level = [], 0
    for line in re.sub(r"(?ms)^ *(`{3,}|~{3,}).*?^ *\1 *$", "", text).splitlines():
        if heading := re.match(r"(#+) ", line):
            if len(heading[1]) > level + 1:
                found.append(line)
            level = len(heading[1])
    return found


@pytest.mark.parametrize("text", ["# a\n\n### b\n", "## a\n", "# a\n\n```\n## b\n```\n\n### c\n"])
def test_a_gap_is_found(text):
    assert len(gaps(text)) == 1


@pytest.mark.parametrize("text", ["# a\n\n## b\n\n### c\n\n## d\n", "# a\n\n```\n### in code\n```\n", "text\n"])
def test_headings_without_gaps_pass(text):
    assert gaps(text) == []


@pytest.mark.parametrize("page", PAGES)
def test_headings_go_down_one_level_at_a_time(page):
    assert gaps((ROOT / page).read_text(encoding="utf-8")) == []
