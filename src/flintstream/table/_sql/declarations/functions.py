"""Statements that declare functions of Python."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.table._errors import SqlError, at, nearest, unsupported
from flintstream.table._sql.ddl import expect_end

if TYPE_CHECKING:
    from flintstream.table._catalog.catalog import CatalogManager
    from flintstream.table._sql.dialect import Tokens


def create_function(catalog: CatalogManager, tokens: Tokens, kind: str) -> None:
    """Read what follows ``CREATE``, and declare the function, which replaces one of another kind.

    Args:
        catalog: Where it is declared.
        tokens: The statement.
        kind: ``TEMPORARY ``, ``TEMPORARY SYSTEM ``, or an empty text for a function of the catalog.

    Raises:
        SqlError: There is a function of that name and kind, or it cannot be imported.
    """
    tokens.expect("FUNCTION")
    lenient = tokens.take("IF", "NOT", "EXISTS")
    place, name = tokens.place(), tokens.path()[-1]
    exists = name.lower() in catalog.functions and catalog.function_kinds.get(name.lower()) == kind
    if exists and not lenient:
        raise SqlError(f"{kind.capitalize()}Function '{name}' already exists{at(place)}")
    _declare(catalog, tokens, name, kind, needed=not exists)


def alter_function(catalog: CatalogManager, tokens: Tokens) -> None:
    """Read what follows ``ALTER``, and replace the function.

    Raises:
        SqlError: The catalog lacks the function, or the new one cannot be imported.
    """
    place, kind = tokens.place(), "system" if tokens.take("TEMPORARY", "SYSTEM") else "catalog"
    if kind == "system" or tokens.take("TEMPORARY"):
        raise SqlError(f"Alter temporary {kind} function is not supported{at(place)}: drop it, and create it again")
    tokens.expect("FUNCTION")
    lenient = tokens.take("IF", "EXISTS")
    place, name = tokens.place(), tokens.path()[-1]
    exists = catalog.function_kinds.get(name.lower()) == "" and name.lower() in catalog.functions
    if not exists and not lenient:
        raise SqlError(f"Function '{name}' does not exist{at(place)}{nearest(name, catalog.functions)}")
    _declare(catalog, tokens, name, "", needed=exists)


def _declare(catalog: CatalogManager, tokens: Tokens, name: str, kind: str, *, needed: bool) -> None:
    """Read ``AS 'module.function' LANGUAGE PYTHON``, and declare the function if it is needed."""
    from flintstream.table.udf import function_at

    tokens.expect("AS")
    place, path = tokens.place(), tokens.text()
    language = tokens.next().upper() if tokens.take("LANGUAGE") else "JAVA"
    if language != "PYTHON":
        raise unsupported(f"LANGUAGE {language}", place, "write the function in Python, and declare LANGUAGE PYTHON")
    if tokens.peek() == "USING":
        raise SqlError(f"USING{at(tokens.place())} is not for functions of Python: use add_python_file()")
    expect_end(tokens)
    if needed:
        catalog.functions[name.lower()] = function_at(path)
        catalog.places[name.lower()] = path
        catalog.function_kinds[name.lower()] = kind
