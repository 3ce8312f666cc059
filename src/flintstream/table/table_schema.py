"""Columns of tables; mirrors ``pyflink.table.table_schema``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.common._java_view import JavaView
from flintstream.common._types.data_types import DataType as BaseType
from flintstream.common._types.data_types import DataTypes
from flintstream.table._types.rules import sql_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flintstream.common._types.data_types import DataType, RowType
    from flintstream.table._catalog.declared import DeclaredTable

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
        """Take names and types, in order, for each ROWTIME, PROCTIME or nothing, and the declaration of the table.

        Raises:
            ValueError: A name stands twice.
        """
        twice = [name for index, name in enumerate(field_names) if name in list(field_names)[:index]]
        if twice:
            raise ValueError(f"Field names must be unique. Duplicate field: '{twice[0]}'")
        self._declared = declared
        self._names = list(field_names)
        self._types = list(data_types)
        self._times = list(times) or [""] * len(self._names)

    @property
    def _j_table_schema(self) -> JavaView:
        """A view with Java's names of the methods, which libraries call."""
        return JavaView(self)

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
        """Return the type of a column by position or name; None if there is no such column.

        Raises:
            TypeError: It is neither.
        """
        if not isinstance(field, (int, str)):
            raise TypeError(f"Expected field index or field name, got {type(field)}")
        index = self._names.index(field) if isinstance(field, str) and field in self._names else field
        return self._types[index] if isinstance(index, int) and 0 <= index < len(self._types) else None

    def to_row_data_type(self) -> RowType:
        """Return the columns as a type."""
        fields = [DataTypes.FIELD(name, kind) for name, kind in zip(self._names, self._types, strict=True)]
        return DataTypes.ROW(fields, nullable=False)

    def copy(self) -> TableSchema:
        """Return an equal schema.

        >>> from flintstream.table import DataTypes
        >>> schema = TableSchema(["id"], [DataTypes.INT()])
        >>> schema.copy() == schema
        True
        """
        return TableSchema(self._names, self._types, self._times, self._declared)

    @staticmethod
    def builder() -> TableSchema.Builder:
        """Return a builder without columns.

        >>> from flintstream.table import DataTypes
        >>> TableSchema.builder().field("id", DataTypes.INT()).build().get_field_names()
        ['id']
        """
        return TableSchema.Builder()

    class Builder:
        """Collects the columns of a schema."""

        def __init__(self) -> None:
            """Begin without columns."""
            self._fields: list[tuple[str, DataType]] = []

        def field(self, name: str, data_type: DataType) -> TableSchema.Builder:
            """Add a column.

            Raises:
                TypeError: The type is none of ``DataTypes``.
            """
            if not isinstance(data_type, BaseType):
                raise TypeError(f"Unsupported data type: {data_type!r}: use one of DataTypes")
            self._fields.append((name, data_type))
            return self

        def build(self) -> TableSchema:
            """Return the schema."""
            return TableSchema([name for name, _ in self._fields], [kind for _, kind in self._fields])

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
