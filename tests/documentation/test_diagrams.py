"""The diagrams of the explanations are those of the code, and say what they show."""

from __future__ import annotations

import re

import pytest
from tests.documentation.diagrams import DIRECTORY, PICTURES


@pytest.mark.parametrize("name", PICTURES)
def test_a_diagram_is_the_one_that_the_code_draws(name):
    saved = (DIRECTORY / name).read_text(encoding="utf-8")
    assert saved == str(PICTURES[name]()), "python -m tests.documentation.diagrams draws it again"


@pytest.mark.parametrize("name", PICTURES)
def test_a_page_shows_the_diagram_with_a_text_for_those_who_cannot_see_it(name):
    pages = "\n".join(page.read_text(encoding="utf-8") for page in DIRECTORY.glob("*.md"))
    (alternative,) = re.findall(rf"!\[([^\]]*)\]\({re.escape(name)}\)", pages)
    assert len(alternative.split()) >= 20
