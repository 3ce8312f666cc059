"""The tutorials work for a reader who copies them line by line."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.documentation.following import Command, File, Reader, reader_in, steps

TUTORIALS = Path(__file__).parents[2] / "docs" / "tutorials"
PAGES = sorted(path for path in TUTORIALS.glob("*.md") if path.stem != "index")
WITHOUT_SERVER = [page for page in PAGES if page.stem != "kafka"]  # tests/connectors/kafka/test_page.py follows it


@pytest.mark.spark
@pytest.mark.deep
@pytest.mark.parametrize("page", WITHOUT_SERVER, ids=lambda page: page.stem)
def test_a_tutorial_can_be_followed(tmp_path, page):
    with reader_in(tmp_path) as reader:
        reader.follow(page)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_tutorial_has_files_and_commands_with_output(page):
    found = steps(page)
    assert any(isinstance(step, File) and step.path.endswith((".py", ".sql")) for step in found)
    assert sum(isinstance(step, Command) and bool(step.output) for step in found) > 2


def test_three_points_stand_for_any_text():
    command = Command("list", ["... : fraud (RUNNING)", "end"])
    assert command.prints("23.11. : fraud (RUNNING)\nend\n")
    assert not command.prints("23.11. : fraud (FINISHED)\nend\n")
    assert not command.prints("23.11. : fraud (RUNNING)\n")


def test_a_command_that_prints_something_else_is_found(tmp_path):
    reader = Reader(tmp_path, os.environ)
    try:
        with pytest.raises(AssertionError, match=r"'echo b' ended with 0 and printed\n(?s:.)*b"):
            reader.do(Command("echo b", ["a"]))
        with pytest.raises(AssertionError, match="ended with 3"):
            reader.do(Command("(exit 3)"))
    finally:
        reader.leave()
