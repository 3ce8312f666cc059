"""Runs the ``python`` blocks of a page as a reader would: one after the other, in one program.

Comments direct it, which readers of the page do not see:

* ``<!-- not run: REASON -->`` above a block: it is only compiled, unless the machine has what it needs.
* ``<!-- a new program -->`` above a block: it knows nothing of the blocks before it.
* ``<!-- python`` to ``-->``: lines that run too, such as the imports of an excerpt.

A block with the caption *Output* is what the blocks above have printed. Functions named ``test_...`` are called.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

BLOCK = re.compile(
    r"^(?:<!-- (?:not run: (?P<reason>[^\n]+?)|(?P<new>a new program)) -->\n+)?```python\n(?P<code>.*?)^```$"
    r"|^<!-- python\n(?P<hidden>.*?)^-->$"
    r"|^```\{code-block\} text\n:caption: Output\n\n?(?P<output>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Block:
    """A block of code, or of what code has printed."""

    line: int
    text: str
    reason: str | None = None
    """Why it cannot run."""
    new: bool = False
    is_output: bool = False


def blocks(page: Path) -> Iterator[Block]:
    """Find the blocks of a page."""
    text = page.read_text(encoding="utf-8")
    for found in BLOCK.finditer(text):
        (kind,) = (name for name in ("code", "hidden", "output") if found[name] is not None)
        line = text.count("\n", 0, found.start(kind))
        yield Block(line, found[kind], found["reason"], bool(found["new"]), kind == "output")


def run(page: Path, printed: Callable[[], str], there: str = "") -> None:
    """Run the blocks of a page. ``printed`` returns what was printed since its last call.

    Blocks whose reason not to run is ``there`` run, too.

    Raises:
        AssertionError: The output differs from what the page shows.
        Exception: What the code raised; its traceback has the page and the line.
    """
    names: dict[str, Any] = {"__name__": page.stem}
    for block in blocks(page):
        if block.is_output:
            assert printed() == block.text, f"{page}:{block.line}"
            continue
        code = compile("\n" * block.line + block.text, page, "exec", dont_inherit=True)
        if block.reason is not None and block.reason != there:
            continue
        if block.new:
            names = {"__name__": page.stem}
            printed()  # a new program prints from the start
        exec(code, names)  # noqa: S102 - our own
        for name in re.findall(r"^def (test_\w+)\(\)", block.text, re.MULTILINE):
            names[name]()
