"""The figures of the README and the pages are those of the files in ``benchmarks/results``."""

from __future__ import annotations

import re

import pytest
from benchmarks.pages import PAGES, PARTS, filled, ratios, spread


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_has_the_figures_of_the_result_files(page):
    text = page.read_text("utf-8")

    assert filled(text) == text, "run python -m benchmarks.pages"


def test_another_figure_in_a_page_is_found():
    page = PAGES[0].read_text("utf-8")
    written = spread(ratios("workloads", "flink-thread").values())
    assert written in " ".join(page.split())

    changed = page.replace(written.split()[-1], "1,000,000")

    assert filled(changed) == page


def test_every_part_stands_in_a_page():
    named = {name for page in PAGES for name in re.findall("<!-- begin of (.+?) -->", page.read_text("utf-8"))}

    assert named - {"the table", "the table of SQL"} == set(PARTS)
