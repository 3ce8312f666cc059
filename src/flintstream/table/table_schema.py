"""Columns of tables; mirrors ``pyflink.table.table_schema``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.table._expressions.types import sql_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flintstream.common._datatypes import DataType, RowType

__all__ = ["TableSchema"]


class TableSchema:
    """Names and types of columns.

    >>> from flintstream.table import DataTypes
    >>> TableSchema(["id"], [DataTypes.INT()]).get_field_names()
    ['id']
    """

    def __init__(self, field_names: Sequence[str], data_types: Sequence[DataType], times: Sequence[str] = ()) -> None:
        """Take names and types, in order, and for each ROWTIME, PROCTIME or nothing."""
        self._names = list(field_names)
        self._types = list(data_types)
        self._times = list(times) or [""] * len(self._names)

    def get_field_names(self) -> list[str]:
        """Return the names."""
        return list(self._names)

    def get_field_data_types(self) -> list[DataType]:
        """Return the types."""
        return list(self._types)

    def get_field_count(self) -> int:
        """Return the number of columns."""
        return len(self._names)

    def get_field_name(self, field_index: int) -> str | None:
        """Return the name of a column; None if there is no such column."""
        return self._names[field_index] if 0 <= field_index < len(self._names) else None

    def get_field_data_type(self, field: int | str) -> DataType | None:
        """Return the type of a column by position or name; None if there is no such column."""
        index = self._names.index(field) if isinstance(field, str) and field in self._names else field
        return self._types[index] if isinstance(index, int) and 0 <= index < len(self._types) else None

    def to_row_data_type(self) -> RowType:
        """Return the columns as a type."""
        from flintstream.common._datatypes import DataTypes  # noqa: PLC0415

        return DataTypes.ROW([DataTypes.FIELD(n, k) for n, k in zip(self._names, self._types, strict=True)])

    def __repr__(self) -> str:
        """Return Flink's text."""
        columns = zip(self._names, self._types, self._times, strict=True)
        lines = [f" |-- {name}: {sql_name(kind)}{f' *{time}*' if time else ''}" for name, kind, time in columns]
        return "\n".join(["root", *lines]) + "\n"

    def __eq__(self, other: object) -> bool:
        """Compare names and types."""
        return isinstance(other, TableSchema) and self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        """Hash names and types."""
        return hash(repr(self))
