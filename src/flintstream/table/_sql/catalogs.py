"""Statements about catalogs, databases and modules, and those that list what there is."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from flintstream.common._text.secrets import hide_secrets
from flintstream.common._types import data_types as t
from flintstream.table._catalog.columns import quote_name, quote_text
from flintstream.table._catalog.declared import DeclaredTable, MaterializedTable, View
from flintstream.table._catalog.function_names import LISTED
from flintstream.table._catalog.identifiers import ObjectPath
from flintstream.table._catalog.modules import CORE
from flintstream.table._catalog.store import Store
from flintstream.table._catalog.types import TYPES, check_catalog, open_catalog
from flintstream.table._errors import SqlError, at, unsupported
from flintstream.table._expressions.expr import Column
from flintstream.table._expressions.patterns.helpers import like
from flintstream.table._sql.answers import DONE, Answer, texts
from flintstream.table._sql.ddl import expect_end, keys_of, options_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from flintstream.table._catalog.catalog import CatalogManager
    from flintstream.table._errors import Place
    from flintstream.table._sql.dialect import Tokens

"""The module of built-in functions, the only one."""


def store_of(
    name: str, options: Mapping[str, str], comment: str | None, place: Place | None = None, *, asks: bool = True
) -> Store:
    """Return a catalog by the options of ``CREATE CATALOG``.

    Raises:
        SqlError: There is no type of catalog, or not this one.
    """
    kind = options.get("type")
    if kind is None:
        raise SqlError(f"catalog '{name}' has no option 'type': write WITH ('type' = 'generic_in_memory')")
    if kind in TYPES:
        if asks:
            return open_catalog(name, options, comment)
        check_catalog(name, options)
        return Store(name, options.get("default-database", "default"), dict(options), comment)
    if kind != "generic_in_memory":
        others = ", ".join(f"'{other}'" for other in sorted(TYPES))
        raise unsupported(
            f"the catalog {name} with type '{kind}'",
            place,
            f"use 'generic_in_memory', and declare the tables in it, or one of {others}",
        )
    unknown = sorted({*options} - {"type", "default-database"})
    if unknown:
        raise SqlError(f"catalog '{name}': unknown option '{unknown[0]}'; available: type, default-database")
    return Store(name, options.get("default-database", "default"), dict(options), comment)


def create_catalog(catalog: CatalogManager, tokens: Tokens) -> None:
    """Read what follows ``CREATE CATALOG``, and add the catalog."""
    lenient = tokens.take("IF", "NOT", "EXISTS")
    place, name = tokens.place(), tokens.path()[-1]
    comment = tokens.text() if tokens.take("COMMENT") else None
    options = options_of(tokens) if tokens.take("WITH") else {}
    expect_end(tokens)
    if not (lenient and name in catalog.catalogs):
        catalog.add_catalog(store_of(name, options, comment, place, asks=catalog.asks))


def create_database(catalog: CatalogManager, tokens: Tokens) -> None:
    """Read what follows ``CREATE DATABASE``, and add the database."""
    lenient = tokens.take("IF", "NOT", "EXISTS")
    path = tokens.path()
    comment = tokens.text() if tokens.take("COMMENT") else None
    properties = options_of(tokens) if tokens.take("WITH") else {}
    expect_end(tokens)
    catalog.create_database(path, properties, comment, lenient=lenient)


def alter_catalog(catalog: CatalogManager, tokens: Tokens) -> None:
    """Read what follows ``ALTER CATALOG``, and change the options or the comment of the catalog.

    Raises:
        SqlError: The catalog does not exist, or an option cannot change.
    """
    place = tokens.place()
    store = catalog.find_catalog(tokens.path()[-1], place)
    if tokens.take("COMMENT"):
        store.comment = tokens.text()
    elif tokens.take("SET"):
        store.options = {**store.options, **options_of(tokens)}
    else:
        tokens.expect("RESET")
        for key in keys_of(tokens):
            if key == "type":
                raise SqlError(f"ALTER CATALOG{at(place)}: ALTER CATALOG RESET does not support changing 'type'")
            store.options.pop(key, None)
    expect_end(tokens)


def alter_database(catalog: CatalogManager, tokens: Tokens) -> None:
    """Read what follows ``ALTER DATABASE``, and change the properties of the database."""
    store, name = catalog.find_database(tokens.path(), tokens.place())
    tokens.expect("SET")
    properties = options_of(tokens)
    expect_end(tokens)
    old = store.databases[name]
    store.databases[name] = replace(old, properties={**old.properties, **properties})


def describe_catalog(catalog: CatalogManager, tokens: Tokens) -> Answer:
    """Return the name, type and comment of a catalog, and its other options if ``EXTENDED``."""
    extended, place = tokens.take("EXTENDED"), tokens.place()
    store = catalog.find_catalog(tokens.path()[-1], place)
    expect_end(tokens)
    rows = [("name", store.name), ("type", store.options.get("type")), ("comment", store.comment)]
    if extended:
        others = hide_secrets({key: text for key, text in store.options.items() if key != "type"})
        rows += [(f"option:{key}", text) for key, text in sorted(others.items())]
    text = t.DataTypes.STRING()
    return Answer((Column("info name", text), Column("info value", text)), tuple(rows))


def show(catalog: CatalogManager, tokens: Tokens) -> Answer:
    """Return the names that ``SHOW`` lists.

    Raises:
        SqlError: There is no such list, catalog or database.
    """
    if tokens.take("CREATE", "CATALOG"):
        return _show_create(catalog, tokens)
    if tokens.take("FULL", "MODULES"):
        expect_end(tokens)
        columns = (Column("module name", t.DataTypes.STRING()), Column("used", t.DataTypes.BOOLEAN()))
        return Answer(columns, tuple(catalog.modules.loaded.items()))
    what = tokens.next().upper()
    if what in {"CURRENT", "USER", "MATERIALIZED"}:
        what = f"{what} {tokens.next().upper()}"
    place = tokens.place()
    within = tokens.path() if tokens.take("FROM") or tokens.take("IN") else None
    user = sorted(catalog.functions)

    def database() -> tuple[str, str]:
        if within is None:
            return catalog.catalog, catalog.database
        store, name = catalog.find_database(within, place)
        return store.name, name

    lists: dict[str, tuple[str, Callable[[], list[str]]]] = {
        "TABLES": ("table name", lambda: catalog.names(database=database())),
        "VIEWS": ("view name", lambda: catalog.names(View, database())),
        "MODELS": ("model name", lambda: catalog.models(database())),
        "MATERIALIZED TABLES": ("materialized table", lambda: catalog.names(MaterializedTable, database())),
        "FUNCTIONS": ("function name", lambda: sorted({*(LISTED if CORE in catalog.modules.names else ()), *user})),
        "USER FUNCTIONS": ("function name", lambda: user),
        "CATALOGS": ("catalog name", lambda: sorted(catalog.catalogs)),
        "DATABASES": (
            "database name",
            lambda: sorted((catalog.store if within is None else catalog.find_catalog(within[-1], place)).databases),
        ),
        "MODULES": ("module name", lambda: catalog.modules.names),
        "JARS": ("jars", lambda: list(catalog.jars)),
        "CURRENT CATALOG": ("current catalog name", lambda: [catalog.catalog]),
        "CURRENT DATABASE": ("current database name", lambda: [catalog.database]),
    }
    if what not in lists:
        raise unsupported(f"SHOW {what}", tokens.place(), f"use SHOW {', '.join(lists)}")
    head, names = lists[what]
    # Flink's grammar has no ILIKE for materialized tables.
    found = names() if what[:1] == "M" and "ILIKE" in {tokens.peek(), tokens.peek(1)} else _like(names(), tokens)
    expect_end(tokens)
    return texts(head, found)


def show_partitions(catalog: CatalogManager, tokens: Tokens) -> Answer:
    """Return the partitions that the program has added to a table in its catalog.

    Raises:
        SqlError: It is a view, or has no partitions.
    """
    place, name = tokens.place(), tokens.path()
    table, path = catalog.find(name, place), catalog.path(name)
    wanted: dict[str, str] = {}
    if tokens.take("PARTITION"):
        tokens.expect("(")
        while not wanted or tokens.take(","):
            key = tokens.name()
            tokens.expect("=")
            wanted[key] = tokens.next()
        tokens.expect(")")
    expect_end(tokens)
    if not isinstance(table, DeclaredTable) or isinstance(table, MaterializedTable) or not table.partitions:
        raise SqlError(f"SHOW PARTITIONS{at(place)}: Table {'.'.join(path)} is not partitioned")
    own = ObjectPath(*path[1:])
    added = [spec.get_partition_spec() for of, spec in catalog.find_catalog(path[0]).partitions if of == own]
    found = [spec for spec in added if wanted.items() <= spec.items()]
    return texts("partition name", ["/".join(f"{key}={spec[key]}" for key in table.partitions) for spec in found])


def _like(names: list[str], tokens: Tokens) -> list[str]:
    """Return the names that a pattern at the cursor chooses, all without one."""
    differs = tokens.take("NOT")
    for word, lower in (("LIKE", False), ("ILIKE", True)):
        if tokens.take(word):
            pattern = tokens.text()
            matches = like(pattern.lower() if lower else pattern)
            return [name for name in names if bool(matches(name.lower() if lower else name)) != differs]
    return names


def _show_create(catalog: CatalogManager, tokens: Tokens) -> Answer:
    place = tokens.place()
    store = catalog.find_catalog(tokens.path()[-1], place)
    expect_end(tokens)
    comment = "" if store.comment is None else f"COMMENT {quote_text(store.comment)}\n"
    options = hide_secrets(store.options)
    lines = ",\n".join(f"  {quote_text(key)} = {quote_text(options[key])}" for key in sorted(options))
    return texts("result", [f"CREATE CATALOG {quote_name(store.name)}\n{comment}WITH (\n{lines}\n)\n"])


def load_module(catalog: CatalogManager, tokens: Tokens) -> Answer:
    """Load the module that is named after ``LOAD``.

    Raises:
        SqlError: It is loaded, or is not the core module.
    """
    tokens.expect("MODULE")
    place = tokens.place()
    catalog.modules.load(tokens.name(), place)
    return DONE


def unload_module(catalog: CatalogManager, tokens: Tokens) -> Answer:
    """Remove the module that is named after ``UNLOAD``.

    Raises:
        SqlError: It is not loaded.
    """
    tokens.expect("MODULE")
    place = tokens.place()
    catalog.modules.unload(tokens.name(), place)
    expect_end(tokens)
    return DONE


def use_modules(catalog: CatalogManager, tokens: Tokens) -> Answer:
    """Use the modules that are named after ``USE MODULES``.

    Raises:
        SqlError: One is not loaded, or named twice.
    """
    names = [tokens.name()]
    while tokens.take(","):
        names.append(tokens.name())
    expect_end(tokens)
    catalog.modules.use(names)
    return DONE
