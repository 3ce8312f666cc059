"""Expressions whose types are known; mirrors ``pyflink.table.resolved_expression``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.table.expression import Expression

if TYPE_CHECKING:
    from flintstream.common._types.data_types import DataType
    from flintstream.table._syntax.scalar import Syntax

__all__ = ["ResolvedExpression"]


class ResolvedExpression(Expression):
    """The expression of a computed column or a watermark: its text in SQL, and the type of its values.

    >>> from flintstream.table import EnvironmentSettings, TableEnvironment
    >>> t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    >>> _ = t_env.execute_sql("CREATE TABLE t (a INT, b AS a + 1) WITH ('connector' = 'datagen')")
    >>> column = t_env.from_path("t").get_resolved_schema().get_column("b")
    >>> column.get_expression().as_serializable_string(), column.get_expression().get_output_data_type()
    ('`a` + 1', IntType(true))
    >>> column.get_expression().as_summary_string()
    '`a` + 1'
    """

    def __init__(self, syntax: Syntax, data_type: DataType, text: str) -> None:
        """Hold the parts; programs get it from a column or watermark."""
        super().__init__(syntax)
        self._data_type, self._text = data_type, text

    def get_output_data_type(self) -> DataType:
        """Return the type of the values."""
        return self._data_type

    def as_serializable_string(self) -> str:
        """Return the expression in SQL."""
        return self._text

    def as_summary_string(self) -> str:
        """Return the expression in SQL."""
        return self._text

    __str__ = as_summary_string
