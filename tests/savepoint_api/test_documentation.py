from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "state-processor.md"
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@pytest.mark.spark
def test_the_examples_of_the_page_run_one_after_the_other(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "example"}
    blocks = BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    assert len(blocks) == 6
    for code in blocks:
        exec(compile(code, str(PAGE), "exec"), names)  # noqa: S102 - our own page
    printed = capfd.readouterr().out
    for line in ("ann: visit 4, knows 2 prices", "ann: visit 31, knows 0 prices", "eve: visit 1, knows 1 prices"):
        assert line in printed
    assert "ann apple 0.5" in printed
