"""Catalogs of type ``delta-catalog``: in memory, but columns and properties of Delta Lake tables are in their logs."""

from __future__ import annotations

from collections.abc import MutableMapping
from dataclasses import replace
from typing import TYPE_CHECKING

from flintstream.common._types.data_types import RowField, RowType
from flintstream.connectors.files.arrow_schema import arrow_schema, with_required_fields
from flintstream.connectors.lakes.delta import DeltaOutput, library
from flintstream.connectors.lakes.delta_log import DeltaLog, columns_of
from flintstream.connectors.lakes.writer import LakeError
from flintstream.errors import PlanError, optional_module
from flintstream.storage.location import Location
from flintstream.table._catalog.declared import Declared, DeclaredTable, View
from flintstream.table._catalog.store import Store
from flintstream.table._connectors.lakes.delta import OF_A_QUERY
from flintstream.table._errors import SqlError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from deltalake import DeltaTable

Entry = DeclaredTable | View


def open_delta(name: str, options: Mapping[str, str]) -> Store:
    """Return an empty catalog.

    Raises:
        SqlError: The type of the catalog in which tables are kept is another one than ``in-memory``.
        MissingDependencyError: deltalake is not installed.
    """
    library()
    kind = options.get("catalog-type", "in-memory")
    if kind != "in-memory":
        raise SqlError(f"catalog '{name}': 'catalog-type' must be 'in-memory', got '{kind}'")
    found = Store(name, options.get("default-database", "default"), dict(options))
    found.tables.by_path = DeltaTables()
    return found


class DeltaTables(MutableMapping[tuple[str, ...], Entry]):
    """The tables of a catalog, those of other connectors and views included."""

    def __init__(self) -> None:
        """Begin without tables."""
        self._kept: dict[tuple[str, ...], Entry] = {}

    def __getitem__(self, path: tuple[str, ...]) -> Entry:
        entry = self._kept[path]
        return _refresh(entry) if isinstance(entry, DeclaredTable) and _is_delta(entry) else entry

    def __setitem__(self, path: tuple[str, ...], entry: Entry) -> None:
        if isinstance(entry, DeclaredTable) and _is_delta(entry):
            entry = _store(".".join(path), entry, self._kept.get(path))
        self._kept[path] = entry

    def __delitem__(self, path: tuple[str, ...]) -> None:
        del self._kept[path]  # as in Delta's connector for Flink, the files stay

    def __contains__(self, path: object) -> bool:
        return path in self._kept

    def __iter__(self) -> Iterator[tuple[str, ...]]:
        return iter(self._kept)

    def __len__(self) -> int:
        return len(self._kept)


def _is_delta(table: DeclaredTable) -> bool:
    return table.options.get("connector") == "delta"


def _log_of(where: str, table: DeclaredTable) -> DeltaLog:
    path = table.options.get("table-path")
    if not path:
        raise SqlError(f"{where}: the option 'table-path' is missing")
    try:
        place = Location.parse(path, "'table-path'").uri
    except PlanError as error:
        raise SqlError(f"{where}: {error}") from None
    return DeltaLog(place, {key[8:]: text for key, text in table.options.items() if key.startswith("storage.")})


def _properties(where: str, table: DeclaredTable) -> dict[str, str]:
    """Return the options that are properties of the table in its log.

    Raises:
        SqlError: One belongs to a query.
    """
    given = {
        key: text
        for key, text in table.options.items()
        if key not in {"connector", "table-path"} and not key.startswith("storage.")
    }
    for key in given:
        if key in OF_A_QUERY:
            raise SqlError(
                f"{where}: '{key}' is not a property of a table: give it as a hint, /*+ OPTIONS('{key}' = ...) */"
            )
    return given


def _store(where: str, table: DeclaredTable, old: Entry | None) -> DeclaredTable:
    """Create a table, or take one that is there, and return what the catalog keeps of it.

    Raises:
        SqlError: It is there with other columns, partitions or properties, or has what Delta Lake lacks.
    """
    where = f"table {where}"
    computed = [column.name for column in table.columns if column.type is None or column.metadata is not None]
    if computed or table.watermark is not None or table.primary_key:
        what = f"computed or metadata columns such as '{computed[0]}'" if computed else "watermarks and keys"
        raise SqlError(f"{where}: Delta Lake has no {what}: declare them in a temporary table LIKE this one")
    log, properties = _log_of(where, table), _properties(where, table)
    if library().DeltaTable.is_deltatable(log.location, dict(log.storage) or None):
        _check(where, table, log, properties, altered=isinstance(old, DeclaredTable))
    else:
        _create(where, table, log, properties)
        _set(where, log.open(), {key: text for key, text in properties.items() if not key.startswith("delta.")})
    kept = {key: text for key, text in table.options.items() if key not in properties}
    return replace(table, options=kept)


def _row_type(columns: tuple[Declared, ...]) -> RowType:
    return RowType([RowField(column.name, column.type) for column in columns if column.type is not None])


def _create(where: str, table: DeclaredTable, log: DeltaLog, properties: Mapping[str, str]) -> None:
    kinds = _row_type(table.columns)
    try:
        schema = with_required_fields(arrow_schema(kinds, where), kinds)
        own = {key: text for key, text in properties.items() if key.startswith("delta.")}
        DeltaOutput(log.location, schema, table.partitions, log.storage, own).open()
    except (LakeError, PlanError) as error:
        raise SqlError(f"{where}: {error}") from None


def _check(where: str, table: DeclaredTable, log: DeltaLog, properties: Mapping[str, str], *, altered: bool) -> None:
    """Compare a declaration with a table that is there, and add its new properties to the table."""
    try:
        found = log.open()
        columns = columns_of(found)
    except LakeError as error:
        raise SqlError(f"{where}: {error}") from None
    declared = _row_type(table.columns)
    if _texts(where, declared) != _texts(where, columns):
        has = ", ".join(f"{name} {kind}" for name, kind in _texts(where, columns))
        raise SqlError(f"{where}: the Delta table {log.location} has other columns: {has}")
    metadata = found.metadata()
    if tuple(metadata.partition_columns) != table.partitions:
        by = ", ".join(metadata.partition_columns) or "nothing"
        raise SqlError(f"{where}: the Delta table {log.location} is partitioned by {by}")
    known = metadata.configuration
    if not altered:
        for key, text in properties.items():
            if known.get(key, text) != text:
                raise SqlError(f"{where}: the Delta table {log.location} has '{key}' = '{known[key]}'")
    _set(where, found, {key: text for key, text in properties.items() if known.get(key) != text})


def _set(where: str, table: DeltaTable, properties: dict[str, str]) -> None:
    """Add properties to a table."""
    errors = optional_module("deltalake.exceptions", extra="delta", purpose="Delta Lake tables", package="deltalake")
    try:
        if properties:
            table.alter.set_table_properties(properties, raise_if_not_exists=False)
    except (errors.DeltaError, OSError) as error:
        raise SqlError(f"{where}: {error}") from None


def _texts(where: str, columns: RowType) -> list[tuple[str, str]]:
    """Return the names and types of columns, for a comparison: times with and without a zone are the same."""
    schema = arrow_schema(columns, where)
    return [(item.name, str(item.type).replace(", tz=UTC", "")) for item in schema]  # type: ignore[attr-defined]


def _refresh(table: DeclaredTable) -> DeclaredTable:
    """Return a table with the columns that its log has now; a declared type stays if it is as good.

    Raises:
        SqlError: It cannot be opened any more.
    """
    where = f"table at {table.options.get('table-path')}"
    try:
        log = _log_of(where, table)
        found = log.open()
        columns = columns_of(found)
    except LakeError as error:
        raise SqlError(f"{error}") from None
    declared = dict(zip([column.name for column in table.columns], table.columns, strict=True))
    kinds = dict(_texts(where, _row_type(table.columns)))
    now = [
        declared[field.name] if kinds.get(field.name) == kind else Declared(field.name, field.data_type)
        for field, (_, kind) in zip(columns.fields, _texts(where, columns), strict=True)
    ]
    return replace(table, columns=tuple(now), partitions=tuple(found.metadata().partition_columns))
