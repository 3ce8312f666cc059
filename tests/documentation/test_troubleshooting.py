"""The errors that the page on troubleshooting quotes are errors of the code."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "how-to" / "troubleshooting.md").read_text(encoding="utf-8")
QUOTED = re.findall(r"^### (.+)$", PAGE, re.MULTILINE)


def texts(code):
    """Return the strings of a module; values within them are ``...``."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.JoinedStr):
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "..." for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield re.sub(r"%[sd]", "...", node.value)


@pytest.fixture(scope="module")
def said():
    return [text for path in (ROOT / "src").rglob("*.py") for text in texts(path.read_text(encoding="utf-8"))]


def test_the_quoted_errors_exist(said):
    assert len(QUOTED) > 20
    assert [quoted for quoted in QUOTED if not any(quoted in text for text in said)] == []


def test_each_error_has_a_cause_and_a_remedy():
    for part in PAGE.split("\n### ")[1:]:
        assert part.count("**Cause:**") == part.count("**Remedy:**") == 1, part


def test_values_of_a_text_are_three_points():
    assert list(texts("raise ValueError(f'no job {name!r} ' f'of {user}')"))[:1] == ["no job ... of ..."]
    assert list(texts("log('%s failed %d times')")) == ["... failed ... times"]
