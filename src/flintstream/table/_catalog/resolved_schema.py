"""Columns, watermarks and keys whose types are known."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

from flintstream.common._types.data_types import DataTypes
from flintstream.table._catalog.columns import Column, quote_name
from flintstream.table._types.rules import sql_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flintstream.common._types.data_types import DataType, RowType
    from flintstream.table._catalog.columns import TypedExpression

__all__ = ["Constraint", "ResolvedSchema", "UniqueConstraint", "WatermarkSpec"]


@dataclass(frozen=True, repr=False)
class WatermarkSpec:
    """The column of event time, and the expression of its watermark.

    >>> from flintstream.table import EnvironmentSettings, TableEnvironment
    >>> t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    >>> _ = t_env.execute_sql(
    ...     "CREATE TABLE t (a INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts, PRIMARY KEY (a) NOT ENFORCED) "
    ...     "WITH ('connector' = 'datagen')"
    ... )
    >>> schema = t_env.from_path("t").get_resolved_schema()
    >>> (mark,) = schema.get_watermark_specs()
    >>> mark.get_rowtime_attribute(), mark.as_summary_string()
    ('ts', 'WATERMARK FOR `ts`: TIMESTAMP(3) AS `ts`')
    >>> mark == WatermarkSpec.of("ts", mark.get_watermark_expression())
    True
    """

    _rowtime_attribute: str
    _watermark_expression: TypedExpression

    @staticmethod
    def of(rowtime_attribute: str, watermark_expression: TypedExpression) -> WatermarkSpec:
        """Return the watermark of a column; the expression is a ``ResolvedExpression``."""
        return WatermarkSpec(rowtime_attribute, watermark_expression)

    def get_rowtime_attribute(self) -> str:
        """Return the name of the column."""
        return self._rowtime_attribute

    def get_watermark_expression(self) -> TypedExpression:
        """Return the expression, a ``ResolvedExpression``."""
        return self._watermark_expression

    def as_summary_string(self) -> str:
        """Return the watermark as DDL, with its type."""
        kind = sql_name(self._watermark_expression.get_output_data_type())
        text = self._watermark_expression.as_serializable_string()
        return f"WATERMARK FOR {quote_name(self._rowtime_attribute)}: {kind} AS {text}"

    __str__ = as_summary_string


@dataclass(frozen=True, repr=False)
class Constraint:
    """What holds for all rows of a table; nothing checks it.

    >>> key = UniqueConstraint.primary_key("PK_id", ["id"])
    >>> isinstance(key, Constraint), key.get_name(), key.is_enforced(), key.get_type().name
    (True, 'PK_id', False, 'PRIMARY_KEY')
    >>> key.as_summary_string()
    'CONSTRAINT `PK_id` PRIMARY KEY (`id`) NOT ENFORCED'
    """

    class ConstraintType(Enum):
        """Kinds of constraints."""

        PRIMARY_KEY = 0
        UNIQUE_KEY = 1

    _name: str

    def get_name(self) -> str:
        """Return the name."""
        return self._name

    def is_enforced(self) -> bool:
        """Return False: connectors do not check it."""
        return False

    def get_type(self) -> Constraint.ConstraintType:
        """Return the kind."""
        return self.ConstraintType.PRIMARY_KEY

    def as_summary_string(self) -> str:
        """Return the constraint as DDL."""
        return f"CONSTRAINT {quote_name(self._name)}"


@dataclass(frozen=True, repr=False)
class UniqueConstraint(Constraint):
    """The primary key of a table.

    >>> key = UniqueConstraint.primary_key("PK_id", ["id"])
    >>> key.get_columns(), key.get_type_string()
    (['id'], 'PRIMARY KEY')
    """

    _columns: tuple[str, ...] = ()

    @staticmethod
    def primary_key(name: str, columns: Sequence[str]) -> UniqueConstraint:
        """Return a primary key."""
        return UniqueConstraint(name, tuple(columns))

    def get_columns(self) -> list[str]:
        """Return the names of the columns."""
        return list(self._columns)

    def get_type_string(self) -> str:
        """Return the words of SQL."""
        return "PRIMARY KEY"

    def as_summary_string(self) -> str:
        """Return the key as DDL."""
        columns = ", ".join(map(quote_name, self._columns))
        return f"{super().as_summary_string()} PRIMARY KEY ({columns}) NOT ENFORCED"


@dataclass(repr=False)
class ResolvedSchema:
    """The columns of a table, its watermark and its primary key.

    >>> from flintstream.table import DataTypes
    >>> schema = ResolvedSchema.physical(["id", "name"], [DataTypes.INT().not_null(), DataTypes.STRING()])
    >>> print(schema)
    (
      `id` INT NOT NULL,
      `name` STRING
    )
    >>> schema.get_column_names(), schema.get_column_count(), schema.get_column(1).get_name()
    (['id', 'name'], 2, 'name')
    >>> schema == ResolvedSchema.of(schema.get_columns()), schema.get_column_data_types()
    (True, [IntType(false), VarCharType(2147483647, true)])

    Tables may have watermarks and keys:

    >>> from flintstream.table import EnvironmentSettings, TableEnvironment
    >>> t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    >>> _ = t_env.execute_sql(
    ...     "CREATE TABLE t (a INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts, PRIMARY KEY (a) NOT ENFORCED) "
    ...     "WITH ('connector' = 'datagen')"
    ... )
    >>> schema = t_env.from_path("t").get_resolved_schema()
    >>> len(schema.get_watermark_specs()), schema.get_primary_key().get_name(), schema.get_primary_key_indexes()
    (1, 'PK_a', [0])
    >>> rows = schema.to_source_row_data_type(), schema.to_physical_row_data_type(), schema.to_sink_row_data_type()
    >>> [row.field_names() for row in rows]
    [['a', 'ts'], ['a', 'ts'], ['a', 'ts']]
    """

    columns: list[Column] = field(default_factory=list)
    watermark_specs: list[WatermarkSpec] = field(default_factory=list)
    primary_key: UniqueConstraint | None = None

    @staticmethod
    def of(columns: Sequence[Column]) -> ResolvedSchema:
        """Return a schema of columns."""
        return ResolvedSchema(list(columns))

    @staticmethod
    def physical(column_names: Sequence[str], column_data_types: Sequence[DataType]) -> ResolvedSchema:
        """Return a schema of physical columns."""
        pairs = zip(column_names, column_data_types, strict=True)
        return ResolvedSchema([Column.physical(name, data_type) for name, data_type in pairs])

    def get_column_count(self) -> int:
        """Return the number of columns."""
        return len(self.columns)

    def get_columns(self) -> list[Column]:
        """Return the columns."""
        return list(self.columns)

    def get_column_names(self) -> list[str]:
        """Return the names of the columns."""
        return [column.get_name() for column in self.columns]

    def get_column_data_types(self) -> list[DataType]:
        """Return the types of the columns."""
        return [column.get_data_type() for column in self.columns]

    def get_column(self, column_index_or_name: int | str) -> Column | None:
        """Return a column by its position, from 0 on, or its name; None if there is no such column."""
        for index, column in enumerate(self.columns):
            if column_index_or_name in (column.get_name(), index):
                return column
        return None

    def get_watermark_specs(self) -> list[WatermarkSpec]:
        """Return the watermarks: none or one."""
        return list(self.watermark_specs)

    def get_primary_key(self) -> UniqueConstraint | None:
        """Return the primary key, if there is one."""
        return self.primary_key

    def get_primary_key_indexes(self) -> list[int]:
        """Return the positions of the columns of the primary key."""
        names = self.get_column_names()
        return [] if self.primary_key is None else [names.index(name) for name in self.primary_key.get_columns()]

    def to_source_row_data_type(self) -> RowType:
        """Return the type of rows with all columns."""
        return _row_type(self.columns)

    def to_physical_row_data_type(self) -> RowType:
        """Return the type of rows with the physical columns."""
        return _row_type([column for column in self.columns if column.is_physical()])

    def to_sink_row_data_type(self) -> RowType:
        """Return the type of the rows that a sink writes."""
        return _row_type([column for column in self.columns if column.is_persisted()])

    def __hash__(self) -> int:
        """Return the hash of the text."""
        return hash(str(self))

    def __str__(self) -> str:
        """Return the schema as DDL."""
        parts = [column.as_summary_string() for column in self.columns]
        parts += [mark.as_summary_string() for mark in self.watermark_specs]
        parts += [] if self.primary_key is None else [self.primary_key.as_summary_string()]
        return "(\n" + ",\n".join(f"  {part}" for part in parts) + "\n)"


def _row_type(columns: Sequence[Column]) -> RowType:
    fields = [DataTypes.FIELD(column.get_name(), column.get_data_type()) for column in columns]
    return DataTypes.ROW(fields, nullable=False)
