"""Columns of tables; mirrors ``pyflink.table.table_schema``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.table._types.rules import sql_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flintstream.common._types.data_types import DataType, RowType
    from flintstream.table._catalog.catalog import DeclaredTable

__all__ = ["TableSchema"]


class TableSchema:
    """Names and types of columns.

    >>> from flintstream.table import DataTypes
    >>> TableSchema(["id"], [DataTypes.INT()]).get_field_names()
    ['id']

    >>> schema = TableSchema(["id", "name"], [DataTypes.BIGINT(), DataTypes.STRING()])
    >>> schema.get_field_count(), schema.get_field_name(1), schema.get_field_data_type("id")
    (2, 'name', BigIntType(true))
    >>> schema.get_field_data_types() == [schema.get_field_data_type(0), schema.get_field_data_type(1)]
    True
    >>> schema.to_row_data_type().field_names()
    ['id', 'name']
    """

    def __init__(
        self,
        field_names: Sequence[str],
        data_types: Sequence[DataType],
        times: Sequence[str] = (),
        declared: DeclaredTable | None = None,
    ) -> None:
        """Take names and types, in order, for each ROWTIME, PROCTIME or nothing, and the declaration of the table."""
        self._declared = declared
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
        from flintstream.common._types.data_types import DataTypes

        return DataTypes.ROW([DataTypes.FIELD(n, k) for n, k in zip(self._names, self._types, strict=True)])

    def _summary(self) -> str:
        """Return the text that ``Table.print_schema`` prints: names in backticks, one part a line."""
        declared = self._declared
        extras = {} if declared is None else {item.name: item.extras for item in declared.columns}
        lines = []
        for name, kind, time in zip(self._names, self._types, self._times, strict=True):
            parts = (_quoted(name), sql_name(kind), f"*{time}*" if time else None, extras.get(name))
            lines.append(" ".join(filter(None, parts)))
        if declared is not None and declared.watermark is not None:
            column = declared.watermark[0]
            of_rows = self.get_field_data_type(column)
            text = "" if of_rows is None else sql_name(of_rows.nullable())
            lines.append(f"WATERMARK FOR {_quoted(column)}: {text} AS {declared.watermark_text}")
        if declared is not None and declared.primary_key:
            key = declared.primary_key
            columns = ", ".join(map(_quoted, key))
            lines.append(f"CONSTRAINT {_quoted('PK_' + '_'.join(key))} PRIMARY KEY ({columns}) NOT ENFORCED")
        return "(\n" + ",\n".join(f"  {line}" for line in lines) + "\n)"

    def __repr__(self) -> str:
        """Return Flink's text."""
        extras = {} if self._declared is None else {column.name: column.extras for column in self._declared.columns}
        lines: list[str] = []
        for name, kind, time in zip(self._names, self._types, self._times, strict=True):
            parts = (sql_name(kind), f"*{time}*" if time else None, extras.get(name))
            lines.append(f" |-- {name}: {' '.join(filter(None, parts))}")
        return "\n".join(["root", *lines, *self._constraints()]) + "\n"

    def _constraints(self) -> list[str]:
        """Return the lines of the watermark and of the key."""
        declared, lines = self._declared, []
        if declared is not None and declared.watermark is not None:
            column = declared.watermark[0]
            kind = self.get_field_data_type(column)
            text = "" if kind is None else sql_name(kind.nullable())
            lines.append(f" |-- WATERMARK FOR {column}: {text} AS {declared.watermark_text}")
        if declared is not None and declared.primary_key:
            key = declared.primary_key
            lines.append(f" |-- CONSTRAINT PK_{'_'.join(key)} PRIMARY KEY ({', '.join(key)})")
        return lines

    def __eq__(self, other: object) -> bool:
        """Compare names and types."""
        if not isinstance(other, TableSchema):
            return False
        return (self._names, self._types, self._times) == (other._names, other._types, other._times)

    def __hash__(self) -> int:
        """Hash names and types."""
        return hash(repr(self))


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
