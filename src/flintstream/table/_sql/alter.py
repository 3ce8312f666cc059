"""``ALTER TABLE`` and ``ALTER VIEW``: other names, columns, keys, watermarks and options."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from flintstream.table._catalog.declared import View, kind_of
from flintstream.table._catalog.identifiers import ObjectPath
from flintstream.table._catalog.objects import CatalogPartition, CatalogPartitionSpec
from flintstream.table._errors import SqlError, nearest, unsupported
from flintstream.table._sql.ddl import (
    Body,
    buckets_of,
    check_buckets,
    expect_end,
    keys_of,
    names_in_parentheses,
    options_of,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flintstream.table._catalog.catalog import CatalogManager
    from flintstream.table._catalog.declared import Declared, DeclaredTable
    from flintstream.table._sql.dialect import Tokens


def alter(catalog: CatalogManager, tokens: Tokens) -> tuple[tuple[str, ...], DeclaredTable | View] | None:
    """Read what follows ``ALTER``. Return a path and what it becomes; None if only a name has changed.

    A view gets the query at the cursor.

    Raises:
        SqlError: There is no such table or column, or the change is not possible.
    """
    kind = tokens.peek()
    if not tokens.take("TABLE") and not tokens.take("VIEW"):
        raise unsupported(f"ALTER {kind}", tokens.place(), "drop it, and create it again")
    lenient = kind == "TABLE" and tokens.take("IF", "EXISTS")
    place, name = tokens.place(), tokens.path()
    path = catalog.path(name)
    if lenient and catalog.get(path) is None:
        tokens.rest()
        return None
    found = catalog.find(name, place)
    if kind_of(found) != kind.lower():
        raise SqlError(f"ALTER {kind} at {place}: '{'.'.join(name)}' is a {kind_of(found)}")
    if isinstance(found, View) and path in catalog.temporary:
        raise SqlError(f"ALTER VIEW at {place}: view '{'.'.join(path)}' is a temporary view, which cannot change")
    if tokens.take("RENAME", "TO"):
        new = catalog.path(tokens.path())
        expect_end(tokens)
        catalog.rename(path, new)
        return None
    if isinstance(found, View):
        tokens.expect("AS")
        return path, found
    if _change_partitions(catalog, path, found, tokens):
        return None
    made = _change_table(found, tokens)
    expect_end(tokens)
    check_buckets(made)
    return path, made


def _change_partitions(catalog: CatalogManager, path: tuple[str, ...], table: DeclaredTable, tokens: Tokens) -> bool:
    """Add partitions to a table in its catalog, or drop them; return whether the statement does so."""
    first, added = tokens.position, tokens.take("ADD")
    if not added and not tokens.take("DROP"):
        return False
    lenient = tokens.take("IF", "NOT", "EXISTS") if added else tokens.take("IF", "EXISTS")
    if tokens.peek() != "PARTITION":
        tokens.position = first
        return False
    if not table.partitions:
        raise SqlError(f"Table {'.'.join(path)} is not partitioned")
    partitions, own = catalog.find_catalog(path[0]).partitions, ObjectPath(*path[1:])
    while tokens.take("PARTITION"):
        spec = CatalogPartitionSpec(_values(table, tokens))
        options = options_of(tokens) if added and tokens.take("WITH") else {}
        if added == ((own, spec) in partitions):
            if not lenient:
                what = "already exists" if added else "does not exist"
                raise SqlError(f"Partition {spec} of table {'.'.join(path)} {what}")
        elif added:
            partitions[own, spec] = CatalogPartition.create_instance(options)
        else:
            del partitions[own, spec]
        tokens.take(",")
    expect_end(tokens)
    return True


def _values(table: DeclaredTable, tokens: Tokens) -> dict[str, str]:
    """Read the value of each partition column, in parentheses."""
    values: dict[str, str] = {}
    tokens.expect("(")
    while not values or tokens.take(","):
        key = tokens.name()
        tokens.expect("=")
        values[key] = tokens.next()
    tokens.expect(")")
    if {*values} != {*table.partitions}:
        raise SqlError(f"a partition needs a value for each of {', '.join(table.partitions)}")
    return values


def _change_table(table: DeclaredTable, tokens: Tokens) -> DeclaredTable:
    place, word = tokens.place(), tokens.next().upper()
    strict = (
        replace(column, type=column.type.not_null())
        if column.type is not None and column.name in table.primary_key
        else column
        for column in table.columns
    )
    table = replace(table, columns=tuple(strict))  # they stay so without the key
    if word == "SET":
        return replace(table, options={**table.options, **options_of(tokens)})
    if word == "RESET":
        return _reset(table, tokens)
    if word in {"ADD", "MODIFY"} and tokens.take("DISTRIBUTION"):
        if (word == "ADD") == bool(table.buckets):
            found = "a distribution already: MODIFY it" if table.buckets else "no distribution: ADD one"
            raise SqlError(f"ALTER TABLE ... {word} DISTRIBUTION at {place}: the table has {found}")
        return replace(table, buckets=buckets_of(tokens))
    if word in {"ADD", "MODIFY"}:
        return _add(table, tokens, new=word == "ADD")
    if word == "DROP":
        return _drop(table, tokens)
    if word == "RENAME":
        return _rename(table, tokens)
    raise SqlError(
        f"ALTER TABLE ... {word} at {place}{nearest(word, ['ADD', 'MODIFY', 'DROP', 'RENAME', 'SET', 'RESET'])}"
    )


def _reset(table: DeclaredTable, tokens: Tokens) -> DeclaredTable:
    keys = keys_of(tokens)
    if "connector" in keys:
        raise SqlError("ALTER TABLE RESET does not support changing 'connector'")
    return replace(table, options={key: value for key, value in table.options.items() if key not in keys})


def _position(columns: Sequence[Declared], name: str) -> int:
    names = [column.name for column in columns]
    if name not in names:
        raise SqlError(f"Column '{name}' does not exist{nearest(name, names)}")
    return names.index(name)


def _add(table: DeclaredTable, tokens: Tokens, *, new: bool) -> DeclaredTable:
    """Read columns with their places, a watermark and a key, in parentheses or one alone."""
    body, columns = Body(tokens), list(table.columns)
    body.columns = list(columns)  # which expressions may name
    several = tokens.take("(")
    while True:
        tokens.take("COLUMN")
        column = body.element()
        if column is not None:
            _place(columns, column, tokens, new=new)
        if not several or not tokens.take(","):
            break
    if several:
        tokens.expect(")")
    if new and ((body.key and table.primary_key) or (body.watermark and table.watermark)):
        what = "a primary key" if body.key and table.primary_key else "a watermark"
        raise SqlError(f"ALTER TABLE ... ADD: the table has {what} already: MODIFY it, or DROP it first")
    key_name = body.key_name if body.key else table.key_name
    made = replace(table, columns=tuple(columns), primary_key=body.key or table.primary_key, key_name=key_name)
    if body.watermark is None:
        return made
    return replace(made, watermark=body.watermark, watermark_text=body.watermark_text)


def _place(columns: list[Declared], column: Declared, tokens: Tokens, *, new: bool) -> None:
    """Put a column at its place: the end or, of a modified one, where it was."""
    names = [item.name for item in columns]
    if new and column.name in names:
        raise SqlError(f"Column '{column.name}' already exists in the table: MODIFY it, or use another name")
    position = len(columns) if new else _position(columns, column.name)
    if not new:
        del columns[position]
    if tokens.take("FIRST"):
        position = 0
    elif tokens.take("AFTER"):
        position = _position(columns, tokens.name()) + 1
    columns.insert(position, column)


def _drop(table: DeclaredTable, tokens: Tokens) -> DeclaredTable:
    if tokens.take("DISTRIBUTION"):
        if not table.buckets:
            raise SqlError("The table has no distribution to drop")
        return replace(table, buckets="")
    if tokens.take("WATERMARK"):
        if table.watermark is None:
            raise SqlError("The table has no watermark to drop")
        return replace(table, watermark=None, watermark_text="")
    if tokens.take("PRIMARY", "KEY") or tokens.take("CONSTRAINT"):
        name = "" if tokens.ended else tokens.name()
        if not table.primary_key:
            raise SqlError("The table has no primary key to drop")
        known = table.key_name or f"PK_{'_'.join(table.primary_key)}"
        if name and name != known:
            raise SqlError(f"The table has no constraint '{name}' to drop{nearest(name, [known])}")
        return replace(table, primary_key=(), key_name="")
    names = names_in_parentheses(tokens) if tokens.peek() == "(" else (tokens.name(),)
    columns = list(table.columns)
    kept = replace(table, columns=tuple(column for column in columns if column.name not in names))
    for name in names:
        _refuse_used(kept, name)
        del columns[_position(columns, name)]
    if not columns:
        raise SqlError("ALTER TABLE ... DROP leaves no column")
    return replace(table, columns=tuple(columns))


def _rename(table: DeclaredTable, tokens: Tokens) -> DeclaredTable:
    old = tokens.name()
    tokens.expect("TO")
    new = tokens.name()
    columns, names = list(table.columns), [column.name for column in table.columns]
    position = _position(columns, old)
    _refuse_used(table, old, key=False)
    if new in names:
        raise SqlError(f"Column '{new}' already exists in the table: use another name")
    columns[position] = replace(columns[position], name=new)
    return replace(
        table,
        columns=tuple(columns),
        primary_key=tuple(new if item == old else item for item in table.primary_key),
        partitions=tuple(new if partition == old else partition for partition in table.partitions),
    )


def _refuse_used(table: DeclaredTable, name: str, *, key: bool = True) -> None:
    """Refuse to change a column that others need.

    Raises:
        SqlError: They do.
    """
    quoted = f"`{name}`"
    needed = [f"column '{column.name}'" for column in table.columns if quoted in column.text]
    if table.watermark is not None and (table.watermark[0] == name or quoted in table.watermark_text):
        needed.append("the watermark")
    if key and name in table.primary_key:
        needed.append("the primary key")
    if key and name in table.partitions:
        needed.append("PARTITIONED BY")
    if needed:
        raise SqlError(f"Column '{name}' cannot be changed: {' and '.join(needed)} need{'s' * (len(needed) == 1)} it")
