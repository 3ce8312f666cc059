"""The check of one program: its imports, its calls, its functions and its statements of SQL."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from flintstream.cli.checking.calls import check_calls
from flintstream.cli.checking.finding import ERROR, NOTE, Finding
from flintstream.cli.checking.functions import check_functions
from flintstream.cli.checking.inference import Names
from flintstream.cli.checking.literals import check_literals
from flintstream.cli.checking.members import check_members
from flintstream.cli.checking.modules import check_modules
from flintstream.cli.checking.names import check_imports
from flintstream.cli.checking.overrides import check_overrides
from flintstream.cli.checking.reach import Reach
from flintstream.cli.checking.statements import check_statements
from flintstream.cli.checking.undefined import check_undefined

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["check_program", "uses_pyflink"]

IMPORTS = re.compile(rb"^\s*(?:from|import)\s+pyflink\b", re.MULTILINE)


def uses_pyflink(file: Path) -> bool:
    """Tell whether a Python file imports pyflink anywhere."""
    return IMPORTS.search(file.read_bytes()) is not None


def check_program(file: Path) -> list[Finding]:
    """Return what does not work here, or works in another way, in the order of lines. Runs nothing of the program.

    Raises:
        SyntaxError: The file is not Python.
        ValueError: The file is not text.
    """
    tree = ast.parse(file.read_bytes(), str(file))
    reach, names = Reach(tree), Names(tree)
    found = [
        *check_imports(tree),
        *check_calls(tree, names),
        *check_functions(tree),
        *check_statements(tree, names, reach),
    ]
    found += [*check_members(tree, names), *check_overrides(tree, names), *check_undefined(tree)]
    found += [*check_literals(tree, names), *check_modules(tree, file)]
    return sorted({_weigh(finding, certain=reach.certain(node)) for node, finding in found})


def _weigh(finding: Finding, *, certain: bool) -> Finding:
    """Make an error of what may not run a note."""
    return finding if certain or finding.kind != ERROR else Finding(finding.line, NOTE, finding.text)
