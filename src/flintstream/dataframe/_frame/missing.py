"""Values that are missing: None, and NaN."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from flintstream.dataframe._frame.base import Frame
from flintstream.table.expressions import and_, col, if_then_else, lit, or_
from flintstream.table.types import (
    BooleanType,
    CharType,
    DataTypes,
    DecimalType,
    DoubleType,
    FloatType,
    NumericType,
    VarCharType,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from typing_extensions import Self

    from flintstream.table.expression import Expression
    from flintstream.table.types import DataType

_NUMBERS = (NumericType, DecimalType, DoubleType, FloatType)


class Missing(Frame):
    """The methods for values that are missing."""

    def drop_null(self, subset: Sequence[str] | None = None) -> Self:
        """Return the rows in which no column is None, or none of some.

        Raises:
            TypeError: The columns are not list of texts.
            ValueError: A column is unknown.

        >>> import flintstream.dataframe as pf
        >>> pf.from_records([(1, "a"), (2, None)], schema=["id", "name"]).drop_null(["name"]).columns
        ['id', 'name']
        """
        names = self._subset(subset)
        return self._where([col(name).is_not_null for name in names])

    def drop_nan(self, subset: Sequence[str] | None = None) -> Self:
        """Return the rows in which no floating-point column is NaN; rows with None stay.

        Raises:
            TypeError: The columns are not list of texts.
            ValueError: A column is unknown.

        >>> import flintstream.dataframe as pf
        >>> pf.from_records([(1, 0.5)], schema=["id", "score"]).drop_nan().columns
        ['id', 'score']
        """
        return self._where([or_(col(name).is_null, _is_number(name)) for name in self._floats(subset)])

    def fill_null(self, value: object, subset: Sequence[str] | None = None) -> Self:
        """Return the rows with a value in place of None, in the columns whose type the value has.

        Raises:
            TypeError: The columns are not list of texts.
            ValueError: A column is unknown.

        >>> import flintstream.dataframe as pf
        >>> pf.from_records([(1, "a"), (2, None)], schema=["id", "name"]).fill_null("unknown").columns
        ['id', 'name']
        """
        kinds = self._kinds()
        names = [name for name in self._subset(subset) if _fits(value, kinds[name])]
        return self._replace_missing({name: (col(name).is_null, value) for name in names})

    def fill_nan(self, value: object, subset: Sequence[str] | None = None) -> Self:
        """Return the rows with a number in place of NaN, in the floating-point columns.

        Raises:
            TypeError: The columns are not list of texts.
            ValueError: A column is unknown.

        >>> import flintstream.dataframe as pf
        >>> pf.from_records([(1, 0.5)], schema=["id", "score"]).fill_nan(0.0).columns
        ['id', 'score']
        """
        return self._replace_missing({name: (_is_nan(name), value) for name in self._floats(subset)})

    def _kinds(self) -> dict[str, DataType]:
        schema = self._table.get_resolved_schema()
        return dict(zip(schema.get_column_names(), schema.get_column_data_types(), strict=True))

    def _subset(self, subset: object) -> list[str]:
        if subset is None:
            return self.columns
        if not isinstance(subset, list) or not all(isinstance(name, str) for name in subset):
            raise TypeError("subset must be a list of strings")
        unknown = [name for name in subset if name not in self.columns]
        if unknown:
            raise ValueError(f"Columns not found in DataFrame: {unknown}")
        return list(subset)

    def _floats(self, subset: object) -> list[str]:
        kinds = self._kinds()
        return [name for name in self._subset(subset) if isinstance(kinds[name], (DoubleType, FloatType))]

    def _where(self, conditions: Sequence[Expression]) -> Self:
        if not conditions:
            return self
        return self._with(self._table.filter(conditions[0] if len(conditions) == 1 else and_(*conditions)))

    def _replace_missing(self, replaced: dict[str, tuple[Expression, object]]) -> Self:
        if not replaced:
            return self
        kinds = self._kinds()
        made = [
            if_then_else(missing, lit(value).cast(kinds[name]), col(name)).cast(kinds[name]).alias(name)
            for name, (missing, value) in replaced.items()
        ]
        return self._with(self._table.add_or_replace_columns(*made))


def _is_number(name: str) -> Expression:
    """Return whether a value is not NaN, which SQL shows as such a text."""
    return col(name).cast(DataTypes.STRING()) != lit("NaN")


def _is_nan(name: str) -> Expression:
    return col(name).cast(DataTypes.STRING()) == lit("NaN")


def _fits(value: object, kind: DataType) -> bool:
    if isinstance(value, bool):
        return isinstance(kind, BooleanType)
    if isinstance(value, (int, float, Decimal)):
        return isinstance(kind, _NUMBERS)
    if isinstance(value, str):
        return isinstance(kind, (CharType, VarCharType))
    return not isinstance(kind, (*_NUMBERS, BooleanType, CharType, VarCharType))
