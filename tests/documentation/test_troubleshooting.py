"""The errors that the page on troubleshooting quotes are errors of the code."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from tests.engine.test_losses import CASES as LOSSES
from tests.engine.test_losses import ENDED, LOST

from flintstream.engine.spark.failures.ends import End
from flintstream.engine.spark.failures.losses import explain_loss
from flintstream.errors import NotEnoughMemoryError

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


def test_the_errors_of_lost_processes_are_in_the_table_as_they_are():
    table = PAGE.partition("failed:\n")[2].partition("\n### ")[0]
    quoted = [text for row in re.findall(r"^\| (`.+?`) \|", table, re.MULTILINE) for text in re.findall("`(.+?)`", row)]
    errors = [str(explain_loss(RuntimeError(f"{LOST}{case[0]}"))) for case in LOSSES.values()]
    crash = RuntimeError(f"{LOST}{LOSSES['worker'][0]}")

    def ended(code):
        return str(explain_loss(crash, lambda _: End(code, 1)))

    said = "\n".join([*errors, *(ended(code) for code, _ in ENDED.values()), str(NotEnoughMemoryError())])
    assert [text for text in quoted if not re.search(re.escape(text).replace(r"\.\.\.", ".*"), said)] == []
    assert len(quoted) > len(errors)
    begins = [re.escape(text).replace(r"\.\.\.", ".*") for text in quoted]
    assert [error for error in errors if not any(re.match(begin, error) for begin in begins)] == []


def test_values_of_a_text_are_three_points():
    assert list(texts("raise ValueError(f'no job {name!r} ' f'of {user}')"))[:1] == ["no job ... of ..."]
    assert list(texts("log('%s failed %d times')")) == ["... failed ... times"]
