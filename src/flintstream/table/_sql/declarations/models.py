"""Statements about models. Their providers are classes of Java, so that models are declared and nothing runs them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from flintstream.common._text.secrets import hide_secrets
from flintstream.common._types import data_types as t
from flintstream.table._catalog.columns import quote_name, quote_text
from flintstream.table._catalog.identifiers import ObjectPath
from flintstream.table._catalog.models import DeclaredModel, ModelColumn
from flintstream.table._errors import SqlError, at, nearest, place_at, unsupported
from flintstream.table._expressions.expr import Column
from flintstream.table._sql.answers import Answer, texts
from flintstream.table._sql.ddl import expect_end, keys_of, next_of, options_of
from flintstream.table._sql.show_create import long_name
from flintstream.table._types.reader import read_type
from flintstream.table._types.rules import is_nullable, sql_name

if TYPE_CHECKING:
    from flintstream.table._catalog.catalog import CatalogManager
    from flintstream.table._catalog.store import Objects
    from flintstream.table._errors import Place
    from flintstream.table._sql.dialect import Tokens


def create_model(catalog: CatalogManager, tokens: Tokens, *, temporary: bool) -> None:
    """Read what follows ``CREATE MODEL``, and add the model.

    Raises:
        SqlError: A part is missing, or there is such a model.
    """
    lenient = tokens.take("IF", "NOT", "EXISTS")
    place, path = tokens.place(), catalog.path(tokens.path())
    inputs = _columns(tokens) if tokens.take("INPUT") else ()
    outputs = _columns(tokens) if tokens.take("OUTPUT") else ()
    if inputs and not outputs:
        raise SqlError(f"Output column list can not be empty with non-empty input column list.{at(place)}")
    if outputs and not inputs:
        raise SqlError(f"Input column list can not be empty with non-empty output column list.{at(place)}")
    comment = tokens.text() if tokens.take("COMMENT") else None
    options = options_of(tokens) if tokens.take("WITH") else {}
    if not options:
        raise SqlError(f"Model property list can not be empty.{at(place)}: name a provider, WITH ('provider' = '...')")
    if tokens.peek() == "AS":
        raise unsupported("CREATE MODEL ... AS", tokens.place(), "declare a model that has been trained elsewhere")
    expect_end(tokens)
    add_model(catalog, path, DeclaredModel(inputs, outputs, options, comment), lenient=lenient, temporary=temporary)


def add_model(
    catalog: CatalogManager, path: tuple[str, ...], model: DeclaredModel, *, lenient: bool, temporary: bool
) -> None:
    """Add a model.

    Raises:
        SqlError: There is a temporary one of this name, unless ``lenient``.
        ModelAlreadyExistException: There is one in the catalog, unless ``lenient``.
    """
    if not temporary:
        _models(catalog, path).create(ObjectPath(*path[1:]), model, lenient=lenient)
    elif path not in catalog.temporary_models:
        catalog.temporary_models[path] = model
    elif not lenient:
        raise SqlError(f"Temporary model '{'.'.join(path)}' already exists")


def drop_model(catalog: CatalogManager, path: tuple[str, ...], *, lenient: bool, temporary: bool) -> bool:
    """Remove a model, and return whether there was one.

    Raises:
        SqlError: There is none, unless ``lenient``.
    """
    if temporary:
        found = catalog.temporary_models.pop(path, None) is not None
    else:
        found = _models(catalog, path).by_path.pop(path[1:], None) is not None
    if not found and not lenient:
        kind = "Temporary model" if temporary else "Model"
        raise SqlError(f"{kind} with identifier '{'.'.join(path)}' does not exist.")
    return found


def alter_model(catalog: CatalogManager, tokens: Tokens) -> None:
    """Read what follows ``ALTER MODEL``, and change the options or the name of the model.

    Raises:
        SqlError: The model does not exist, or an option is missing.
    """
    lenient, place = tokens.take("IF", "EXISTS"), tokens.place()
    path = catalog.path(tokens.path())
    models = _models(catalog, path)
    found = models.by_path.get(path[1:])
    if found is None and not lenient:
        raise SqlError(f"Model {'.'.join(f'`{part}`' for part in path)} doesn't exist.{at(place)}")
    if tokens.take("RENAME", "TO"):
        name = tokens.path()[-1]
        models.rename(ObjectPath(*path[1:]), name, lenient=lenient)
    elif tokens.take("RESET"):
        keys = keys_of(tokens)
        if found is not None:
            kept = {key: value for key, value in found.options.items() if key not in keys}
            models.by_path[path[1:]] = replace(found, options=kept)
    else:
        tokens.expect("SET")
        options = options_of(tokens)
        if not options:
            raise SqlError(f"ALTER MODEL SET does not support empty option.{at(place)}")
        if found is not None:
            models.by_path[path[1:]] = replace(found, options={**found.options, **options})
    expect_end(tokens)


def find_model(catalog: CatalogManager, name: tuple[str, ...], place: Place | None) -> DeclaredModel:
    """Return a model; a temporary one hides that of its name.

    Raises:
        SqlError: There is none.
    """
    path = catalog.path(name)
    found = catalog.temporary_models.get(path) or _models(catalog, path).by_path.get(path[1:])
    if found is None:
        known = nearest(name[-1], catalog.models())
        raise SqlError(f"Model with the identifier '{'.'.join(path)}' doesn't exist{at(place)}{known}")
    return found


def describe_model(catalog: CatalogManager, tokens: Tokens) -> Answer:
    """Return the columns that a model takes and returns."""
    tokens.take("EXTENDED")
    place = tokens.place()
    model = find_model(catalog, tokens.path(), place)
    expect_end(tokens)
    listed = [(column, True) for column in model.inputs] + [(column, False) for column in model.outputs]
    text, flag = t.DataTypes.STRING(), t.DataTypes.BOOLEAN()
    heads = [("name", text), ("type", text), ("null", flag), ("is input", flag), ("comment", text)]
    width = len(heads) if any(column.comment for column, _ in listed) else len(heads) - 1
    rows = tuple(
        (column.name, sql_name(column.type.nullable()), is_nullable(column.type), taken, column.comment)[:width]
        for column, taken in listed
    )
    return Answer(tuple(Column(*head) for head in heads[:width]), rows)


def show_create_model(catalog: CatalogManager, tokens: Tokens) -> Answer:
    """Return the statement that declares a model, with the secrets among its options hidden."""
    place, name = tokens.place(), tokens.path()
    model, path = find_model(catalog, name, place), catalog.path(name)
    expect_end(tokens)
    word = "TEMPORARY " if path in catalog.temporary_models else ""
    lines = [f"CREATE {word}MODEL {'.'.join(map(quote_name, path))}"]
    for head, columns in (("INPUT", model.inputs), ("OUTPUT", model.outputs)):
        if columns:
            listed = ", ".join(map(_show_column, columns))
            lines.append(f"{head} ({listed})")
    if model.comment:
        lines.append(f"COMMENT {quote_text(model.comment)}")
    options = sorted(hide_secrets(dict(model.options)).items())
    lines += ["WITH (", ",\n".join(f"  {quote_text(key)} = {quote_text(value)}" for key, value in options), ")", ""]
    return texts("result", ["\n".join(lines)])


def _show_column(column: ModelColumn) -> str:
    comment = "" if column.comment is None else f" COMMENT {quote_text(column.comment)}"
    return f"{quote_name(column.name)} {long_name(column.type)}{comment}"


def _columns(tokens: Tokens) -> tuple[ModelColumn, ...]:
    """Read ``(name TYPE COMMENT 'words', ...)``."""
    sql = tokens.sql
    found: list[ModelColumn] = []
    tokens.expect("(")
    while not tokens.take(")"):
        name = tokens.name()
        kind, tokens.position = read_type(tokens.all, tokens.position, lambda token: place_at(sql, token.start))
        found.append(ModelColumn(name, kind, tokens.text() if tokens.take("COMMENT") else None))
        next_of(tokens)
    return tuple(found)


def _models(catalog: CatalogManager, path: tuple[str, ...]) -> Objects[DeclaredModel]:
    return catalog.find_catalog(path[0]).models
