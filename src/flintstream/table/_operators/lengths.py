"""Texts and bytes of a length that a column declares."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from flintstream.common._types import data_types as t
from flintstream.table._types.rules import sql_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flintstream.table._expressions.expr import Column
    from flintstream.table._operators.rows import Row

OF_LENGTH = (t.CharType, t.VarCharType, t.BinaryType, t.VarBinaryType)
"""The types whose values have a length, or a largest one."""


class LengthCheck:
    """Cuts values that are too long for their column, and pads those that are too short, or refuses both.

    >>> from flintstream.table import DataTypes
    >>> from flintstream.table._expressions.expr import Column
    >>> (
    ...     LengthCheck("t", Column("c", DataTypes.CHAR(3)), fails=False)("a"),
    ...     LengthCheck("t", Column("b", DataTypes.VARBINARY(1)), fails=False)(b"ab"),
    ... )
    ('a  ', b'a')
    >>> LengthCheck("t", Column("c", DataTypes.VARCHAR(1)), fails=True)("ab")
    Traceback (most recent call last):
    ValueError: table 't': the column 'c' is VARCHAR(1), but a row has a value of length 2: 'ab'. Set
    'table.exec.sink.type-length-enforcer' = 'TRIM_PAD' to cut or
    pad such values
    """

    def __init__(self, table: str, column: Column, *, fails: bool) -> None:
        """Take the column of a table, and whether a wrong length is an error."""
        self.table, self.name, self.type, self.fails = table, column.name, column.type, fails
        self.length = column.type.length if isinstance(column.type, OF_LENGTH) else 0
        self.fixed = isinstance(column.type, (t.CharType, t.BinaryType))

    def __call__(self, value: str | bytes | None) -> str | bytes | None:
        """Return a value of the right length."""
        if value is None or len(value) == self.length or (len(value) < self.length and not self.fixed):
            return value
        if self.fails:
            raise ValueError(
                f"table '{self.table}': the column '{self.name}' is {sql_name(self.type)}, but a row has a value of "
                f"length {len(value)}: {value!r}. Set\n'table.exec.sink.type-length-enforcer' = 'TRIM_PAD' to cut or "
                "pad such values"
            )
        cut = value[: self.length]
        if not self.fixed:
            return cut
        return cut.ljust(self.length) if isinstance(cut, str) else cut.ljust(self.length, b"\0")


class FitRow:
    """Gives the values of a row their lengths."""

    def __init__(self, checks: Mapping[int, LengthCheck]) -> None:
        """Take the checks by position."""
        self.checks = dict(checks)

    def __call__(self, row: Row) -> Row:
        """Return the row."""
        values = list(row)
        for i, check in self.checks.items():
            values[i] = check(cast("str | bytes | None", values[i]))
        return tuple(values)
