"""The tests in docs/how-to/testing.md pass."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "testing.md"
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)


@pytest.mark.parametrize("code", BLOCKS, ids=lambda code: re.findall(r"def (test_\w+)", code)[0])
def test_what_the_page_shows_passes(code):
    found: dict[str, Any] = {"__name__": "documentation"}
    exec(code, found)  # noqa: S102 - our own
    for name, shown in found.items():
        if name.startswith("test_"):
            shown()


@pytest.mark.parametrize("harness", ["OneInput", "Keyed", "TwoInput", "KeyedTwoInput", "Broadcast", "KeyedBroadcast"])
def test_every_harness_is_shown(harness):
    assert any(f"with {harness}Harness(" in code for code in BLOCKS)
