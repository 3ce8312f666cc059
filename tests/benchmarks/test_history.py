"""The chart of what a record has cost is that of the saved figures."""

from __future__ import annotations

import json
import re
from xml.etree import ElementTree as ET

from benchmarks.history import PICTURE, RESULTS, chart


def test_the_chart_is_up_to_date():
    commits = json.loads(RESULTS.read_text(encoding="utf-8"))["commits"]
    assert PICTURE.read_text(encoding="utf-8") == chart(commits), "python -m benchmarks.history draws it again"


def commit(**instructions):
    return {"commit": "abc1234", "date": "2026-11-22", "instructions": instructions}


def test_a_workload_whose_cost_changed_has_a_line():
    text = chart([commit(json=100, timers=420), commit(json=80, timers=421), commit(json=90, timers=421)])
    ET.fromstring(text)  # noqa: S314 - our own
    (line,) = re.findall(r'd="M(50.0 [^"]*)" fill', text)
    heights = [float(height) for height in re.findall(r"[\d.]+ ([\d.]+)", line)]
    assert heights[0] < heights[2] < heights[1]
    assert "JSON: 90" in text
    assert "timers" not in text


def test_more_workloads_than_colours_all_have_a_line():
    from benchmarks.chart import TITLES

    text = chart([commit(**dict.fromkeys(TITLES, 100)), commit(**dict.fromkeys(TITLES, 50))])
    assert text.count('fill="none"') == len(TITLES)
