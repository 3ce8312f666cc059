"""Each public report of the list has a case that is compared with what PyFlink gives."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

HERE = Path(__file__).parent
REPORTS = json.loads((HERE / "reports.json").read_text(encoding="utf-8"))
SEARCHES = json.loads((HERE / "searches.json").read_text(encoding="utf-8"))
GOLDENS = HERE.parent / "table/conformance/goldens"


@pytest.mark.parametrize("entry", REPORTS, ids=lambda entry: entry["report"].removeprefix("https://github.com/"))
def test_a_report_has_a_recorded_case(entry):
    assert set(entry) == {"report", "case", "at_first", "right"}
    assert (GOLDENS / f"{entry['case']}.json").exists()


@pytest.mark.parametrize("entry", SEARCHES, ids=lambda entry: entry["kind"])
def test_a_search_has_a_recorded_case(entry):
    assert set(entry) == {"kind", "tried", "differed", "case"}
    assert 0 <= entry["differed"] <= entry["tried"]
    assert (GOLDENS / f"{entry['case']}.json").exists()
