"""The columns of resolved schemas."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

from flintstream.table._types.rules import sql_name

if TYPE_CHECKING:
    from typing_extensions import Self

    from flintstream.common._types.data_types import DataType

__all__ = ["Column", "ComputedColumn", "MetadataColumn", "PhysicalColumn", "quote_name", "quote_text"]


def quote_name(name: str) -> str:
    """Return a name in backquotes.

    >>> quote_name("a`b")
    '`a``b`'
    """
    return "`" + name.replace("`", "``") + "`"


def quote_text(text: str) -> str:
    """Return a text as a literal of SQL.

    >>> quote_text("it's")
    "'it''s'"
    """
    return "'" + text.replace("'", "''") + "'"


class TypedExpression(Protocol):
    """What schemas need of a ``ResolvedExpression``."""

    def as_serializable_string(self) -> str:
        """Return the expression in SQL."""

    def get_output_data_type(self) -> DataType:
        """Return the type of its values."""


@dataclass(frozen=True, repr=False)
class Column:
    """A column of a :class:`ResolvedSchema`.

    >>> from flintstream.table import DataTypes
    >>> print(Column.physical("id", DataTypes.BIGINT()).with_comment("of the order"))
    `id` BIGINT COMMENT 'of the order'
    >>> print(Column.metadata("at", DataTypes.TIMESTAMP(3), "timestamp", True))
    `at` TIMESTAMP(3) METADATA FROM 'timestamp' VIRTUAL

    >>> column = Column.physical("n", DataTypes.INT()).copy(DataTypes.BIGINT()).rename("m").with_comment("many")
    >>> column.get_name(), column.get_data_type(), column.get_comment(), column.explain_extras()
    ('m', BigIntType(true), 'many', None)
    >>> column.is_physical(), column.is_persisted(), column.as_summary_string()
    (True, True, "`m` BIGINT COMMENT 'many'")
    """

    _name: str
    _data_type: DataType
    _comment: str | None = None
    _time: str = ""
    """``ROWTIME`` or ``PROCTIME`` if it is a time attribute."""

    @staticmethod
    def physical(name: str, data_type: DataType) -> PhysicalColumn:
        """Return a column that the connector stores."""
        return PhysicalColumn(name, data_type)

    @staticmethod
    def computed(name: str, resolved_expression: TypedExpression) -> ComputedColumn:
        """Return a column that an expression of others computes.

        >>> from flintstream.table import EnvironmentSettings, TableEnvironment
        >>> t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
        >>> _ = t_env.execute_sql("CREATE TABLE t (a INT, b AS a + 1) WITH ('connector' = 'datagen')")
        >>> expression = t_env.from_path("t").get_resolved_schema().get_column("b").get_expression()
        >>> print(Column.computed("c", expression))
        `c` INT AS `a` + 1
        """
        return ComputedColumn(name, resolved_expression.get_output_data_type(), _expression=resolved_expression)

    @staticmethod
    def metadata(name: str, data_type: DataType, metadata_key: str | None, is_virtual: bool) -> MetadataColumn:
        """Return a column that the connector fills; without a key, its name is the key."""
        return MetadataColumn(name, data_type, _key=metadata_key, _virtual=is_virtual)

    def with_comment(self, comment: str | None) -> Self:
        """Return the column with a comment."""
        return replace(self, _comment=comment)

    def copy(self, new_type: DataType) -> Self:
        """Return the column with another type."""
        return replace(self, _data_type=new_type)

    def rename(self, new_name: str) -> Self:
        """Return the column with another name."""
        return replace(self, _name=new_name)

    def is_physical(self) -> bool:
        """Return whether the connector stores it as it is."""
        return isinstance(self, PhysicalColumn)

    def is_persisted(self) -> bool:
        """Return whether a sink writes it."""
        return self.is_physical()

    def get_data_type(self) -> DataType:
        """Return the type."""
        return self._data_type

    def get_name(self) -> str:
        """Return the name."""
        return self._name

    def get_comment(self) -> str | None:
        """Return the comment, if there is one."""
        return self._comment

    def explain_extras(self) -> str | None:
        """Return where the values come from, if not from the connector as they are."""
        return None

    def as_summary_string(self) -> str:
        """Return the column as DDL."""
        comment = "" if self._comment is None else f"COMMENT {quote_text(self._comment)}"
        time = f"*{self._time}*" if self._time else ""
        parts = (quote_name(self._name), sql_name(self._data_type), time, self.explain_extras(), comment)
        return " ".join(filter(None, parts))

    __str__ = as_summary_string


class _OfKind(Column):
    """A column of one of the kinds below, whose ``copy`` has another parameter in PyFlink."""

    def copy(self, new_data_type: DataType) -> Self:
        """Return the column with another type."""
        return super().copy(new_data_type)


class PhysicalColumn(_OfKind):
    """A column that the connector stores.

    >>> from flintstream.table import DataTypes
    >>> isinstance(Column.physical("n", DataTypes.INT()), PhysicalColumn)
    True
    """


@dataclass(frozen=True, repr=False)
class ComputedColumn(_OfKind):
    """A column that an expression of others computes.

    >>> from flintstream.table import EnvironmentSettings, TableEnvironment
    >>> t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    >>> _ = t_env.execute_sql("CREATE TABLE t (a INT, b AS a + 1) WITH ('connector' = 'datagen')")
    >>> column = t_env.from_path("t").get_resolved_schema().get_column("b")
    >>> isinstance(column, ComputedColumn), column.get_expression().as_serializable_string()
    (True, '`a` + 1')
    """

    _expression: TypedExpression = field(kw_only=True)

    def get_expression(self) -> TypedExpression:
        """Return the expression, a ``ResolvedExpression``."""
        return self._expression

    def explain_extras(self) -> str:
        """Return the expression after ``AS``."""
        return f"AS {self._expression.as_serializable_string()}"


@dataclass(frozen=True, repr=False)
class MetadataColumn(_OfKind):
    """A column that the connector fills, such as the timestamp of a message.

    >>> from flintstream.table import DataTypes
    >>> column = Column.metadata("at", DataTypes.TIMESTAMP(3), "timestamp", True)
    >>> isinstance(column, MetadataColumn), column.is_virtual(), column.get_metadata_key()
    (True, True, 'timestamp')
    """

    _key: str | None = None
    _virtual: bool = False

    def is_virtual(self) -> bool:
        """Return whether a sink leaves it out."""
        return self._virtual

    def get_metadata_key(self) -> str | None:
        """Return the key of the connector; None if it is the name."""
        return self._key

    def is_persisted(self) -> bool:
        """Return whether a sink writes it."""
        return not self._virtual

    def explain_extras(self) -> str:
        """Return the key after ``METADATA``."""
        source = "" if self._key is None else f" FROM '{self._key}'"
        return f"METADATA{source}{' VIRTUAL' if self._virtual else ''}"
