"""Rows whose fields differ from the type they are written as: matched by position, like in Flink."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from flintstream.common._types.parts import element_of, inner_types, is_sequence
from flintstream.common.typeinfo import MapTypeInfo, RowTypeInfo
from flintstream.common.types import Row, _make_row

if TYPE_CHECKING:
    from collections.abc import Callable

    from flintstream.common.typeinfo import TypeInformation

    Fit = Callable[[Any], Any]

_log = logging.getLogger(__name__)


class RowShape:
    """Converts rows to the fields of a type before they are written.

    A row with the field names of the type, in any order, is matched by name; any other row by position.
    """

    def __init__(self, schema: str, type_info: RowTypeInfo, *, cuts: bool) -> None:
        """Prepare; ``cuts`` tells whether to drop extra fields of rows that are longer than the type."""
        convert = type_info.converter()
        assert convert is not None  # noqa: S101 - rows always have one
        self._convert = convert
        self._fit = _RowFit(schema, type_info, cuts=cuts)
        self._differs = False
        """Whether an earlier row had other fields: later ones have them as well."""

    def __call__(self, value: Any) -> Any:
        """Return the row with the fields of the type; None for None.

        Raises:
            TypeError, OverflowError: The value does not fit the type.
        """
        if value is None:
            return None
        if self._differs:
            return self._convert(self._fit(value))
        try:
            return self._convert(value)
        except TypeError:
            fitted = self._fit(value)
            if fitted is value:
                raise
            self._differs = True
            return self._convert(fitted)


def _fit_of(schema: str, type_info: TypeInformation, *, cuts: bool) -> Fit | None:
    """Return a function that fits the rows within a value; None if values cannot contain rows."""
    if isinstance(type_info, RowTypeInfo):
        return _RowFit(schema, type_info, cuts=cuts)
    if isinstance(type_info, MapTypeInfo):
        return _within_map(_fit_of(schema, inner_types(type_info)[1], cuts=cuts))
    if is_sequence(type_info):
        return _within_list(_fit_of(schema, element_of(type_info), cuts=cuts))
    return None


def _within_map(fit: Fit | None) -> Fit | None:
    if fit is None:
        return None
    return lambda value: {k: fit(part) for k, part in value.items()} if isinstance(value, dict) else value


def _within_list(fit: Fit | None) -> Fit | None:
    if fit is None:
        return None
    return lambda value: [*map(fit, value)] if isinstance(value, (list, tuple)) else value


class _RowFit:
    """Fits rows of one type, and the rows within them."""

    def __init__(self, schema: str, type_info: RowTypeInfo, *, cuts: bool) -> None:
        self._schema = schema
        self._names = tuple(type_info.get_field_names())
        fits = [_fit_of(schema, field_kind, cuts=cuts) for field_kind in type_info.get_field_types()]
        self._parts = [(place, fit) for place, fit in enumerate(fits) if fit is not None]
        self._cuts = cuts
        self._warned = False

    def __call__(self, value: Any) -> Any:
        """Return a row with the names of the type, or the value itself if it needs no change or does not fit."""
        if not isinstance(value, Row):
            return value
        names, own = self._names, value._field_names
        size = len(names)
        if len(value) < size or (len(value) > size and not self._cuts):
            return value
        if own is not None and own != names and set(own) == set(names):
            values = list(value.get_fields_by_names(names))
        else:
            values = value[:size]
            self._compare(own)
        for place, fit in self._parts:
            values[place] = fit(values[place])
        return _make_row(names, values, value.get_row_kind())

    def _compare(self, own: tuple[str, ...] | None) -> None:
        """Warn once if a field is written under a name that another field of the row has."""
        if self._warned or own is None:
            return
        for name, taken in zip(self._names, own, strict=False):
            if name != taken and name in own:
                self._warned = True
                _log.warning(
                    "%s matches the fields of a row by position, as Flink does: its field '%s' is the row's field "
                    "'%s', not the row's '%s'",
                    *(self._schema, name, taken, name),
                )
                return
