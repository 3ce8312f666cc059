"""The code of every page runs, on the inline engine, and prints what the page says."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.documentation.blocks import Block, blocks, run

from flintstream.compat import pyflink
from flintstream.options.command_line import reset_defaults, set_defaults

ROOT = Path(__file__).parents[2]
PAGES = [page for page in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))) if any(blocks(page))]
SPARK = "starts Spark"
NOT_RUN = 12
"""Blocks that need what a test does not have. It must not grow without a thought."""


@pytest.fixture
def engine():
    """The settings of jobs."""
    return {"flintstream.engine": "inline"}


@pytest.fixture
def reader(tmp_path, monkeypatch, engine):
    """Be in an empty directory, where ``import pyflink`` works."""
    monkeypatch.chdir(tmp_path)
    installed = pyflink.is_installed()
    pyflink.install()
    set_defaults(engine, None, 1, [])
    yield
    reset_defaults()
    if not installed:
        pyflink.uninstall()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
@pytest.mark.usefixtures("reader")
def test_the_code_of_a_page_runs(page, capfd):
    run(page, lambda: capfd.readouterr().out)


@pytest.mark.spark
@pytest.mark.parametrize("engine", [{"flintstream.master": "local[2]"}], ids=["spark"])
@pytest.mark.parametrize(
    "page", [page for page in PAGES if any(block.reason == SPARK for block in blocks(page))], ids=lambda page: page.stem
)
@pytest.mark.usefixtures("reader")
def test_the_code_of_a_page_about_spark_runs_there(page, capfd):
    run(page, lambda: capfd.readouterr().out, SPARK)


def test_blocks_that_do_not_run_say_why():
    found = [(page, block) for page in PAGES for block in blocks(page) if block.reason not in {None, SPARK}]
    for page, block in found:
        print(f"{page.relative_to(ROOT)}:{block.line}: {block.reason}")
    assert len(found) <= NOT_RUN


def test_every_block_of_a_page_is_found():
    for page in PAGES:
        fences = page.read_text(encoding="utf-8").count("```python\n")
        hidden = page.read_text(encoding="utf-8").count("<!-- python\n")
        assert fences + hidden == sum(not block.is_output for block in blocks(page)), page


def test_the_comments_of_a_page_are_understood(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "<!-- python\nx = 1\n-->\n\n```python\nprint(x)\n```\n\n```{code-block} text\n:caption: Output\n\n1\n```\n"
        "<!-- not run: no broker -->\n```python\nx = 2\n```\n<!-- a new program -->\n"
        "\n```python\nassert 'x' not in globals()\n```\n"
    )
    assert list(blocks(page)) == [
        Block(1, "x = 1\n"),
        Block(5, "print(x)\n"),
        Block(11, "1\n", is_output=True),
        Block(15, "x = 2\n", reason="no broker"),
        Block(20, "assert 'x' not in globals()\n", new=True),
    ]
    run(page, lambda: "1\n")
    with pytest.raises(AssertionError, match=r"page\.md:11"):
        run(page, lambda: "2\n")


def test_code_that_fails_is_found(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("A\n\n```python\nassert True\nassert 1 == 2\n```\n")
    with pytest.raises(AssertionError) as raised:
        run(page, str)
    assert raised.traceback[-1].lineno + 1 == 5
    page.write_text("```python\ndef test_it():\n    raise OSError('full')\n```\n")
    with pytest.raises(OSError, match="full"):
        run(page, str)
    page.write_text("<!-- not run: no time -->\n```python\n1 +\n```\n")
    with pytest.raises(SyntaxError):
        run(page, str)
