"""The charts in the documentation are those of the saved results."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import pytest
from benchmarks.chart import PICTURES, chart, results_of


@pytest.mark.parametrize("path", PICTURES, ids=lambda path: path.stem)
def test_a_chart_is_up_to_date(path):
    assert path.read_text(encoding="utf-8") == chart(results_of(path), PICTURES[path]), (
        "python -m benchmarks.chart draws it again"
    )


def outcome(engine, rate, problem=""):
    return {"workload": "json", "engine": engine, "rate": rate, "problem": problem}


def test_bars_are_as_long_as_the_logarithm_of_their_rates():
    outcomes = [outcome("flintstream", 1_000_000), outcome("flink-thread", 10_000), outcome("bare", 1, "it differs")]
    text = chart(
        {"benchmark": "workloads", "machine": {"cores": 2, "date": "2026-11-22"}, "outcomes": outcomes}, ("json",)
    )
    ET.fromstring(text)  # noqa: S314 - our own
    widths = [float(width) for width in re.findall(r'width="([\d.]+)" height="9"', text)]
    assert widths == [520, pytest.approx(520 / 3, abs=0.1)]
    assert "1,000,000</text>" in text
