"""Functions that return the elements of containers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.common.types import Row
from flintstream.table.types import ArrayType, MapType, MultisetType
from flintstream.table.udf import udtf

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from flintstream.table.expression import Expression
    from flintstream.table.types import DataType


def elements_of(kind: DataType) -> tuple[Callable[..., Expression], int]:
    """Return the table function for containers of a type, and how many columns it returns.

    Raises:
        TypeError: The type is none of containers.
    """
    if isinstance(kind, MapType):
        return udtf(_entries, result_types=[kind.key_type, kind.value_type.nullable()]), 2
    if isinstance(kind, MultisetType):
        return udtf(_repeat, result_types=[kind.element_type]), 1
    if isinstance(kind, ArrayType):
        return udtf(_elements, result_types=[kind.element_type.nullable()]), 1
    raise TypeError("column must have an ARRAY, MAP, or MULTISET type")


def _elements(values: Iterable[object] | None) -> Iterator[Row]:
    for value in values or ():
        yield Row(value)


def _entries(values: Mapping[object, object] | None) -> Iterator[Row]:
    for key, value in (values or {}).items():
        yield Row(key, value)


def _repeat(values: Mapping[object, int] | None) -> Iterator[Row]:
    for value, count in (values or {}).items():
        for _ in range(count):
            yield Row(value)
