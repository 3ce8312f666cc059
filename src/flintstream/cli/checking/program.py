"""The check of one program: its imports, its calls, its functions and its statements of SQL."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from flintstream.cli.checking.calls import check_calls
from flintstream.cli.checking.functions import check_functions
from flintstream.cli.checking.names import check_imports
from flintstream.cli.checking.statements import check_statements

if TYPE_CHECKING:
    from pathlib import Path

    from flintstream.cli.checking.finding import Finding

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
    found = [*check_imports(tree), *check_calls(tree), *check_functions(tree), *check_statements(tree)]
    return sorted(set(found))
