"""Types that SQL has and Python programs cannot declare: documents, sets of integers, and objects with a class."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.common._types import data_types as t

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flintstream.common._types.data_types import DataType


class VariantType(t.AtomicType):
    """A document, as ``PARSE_JSON`` makes it: an object, array, text, number, truth value or null."""


class BitmapType(t.AtomicType):
    """A set of integers of 32 bits."""


class StructuredType(t.RowType):
    """An object as ``OBJECT_OF`` makes it: a row with the name of a class, which need not exist."""

    def __init__(self, class_name: str, fields: Sequence[t.RowField], nullable: bool = True) -> None:
        """Take the name of the class, and the attributes."""
        super().__init__(list(fields), nullable)
        self.class_name = class_name


def python_lacks(kind: DataType) -> DataType | None:
    """Return the part of a type whose values PyFlink cannot bring to Python; None if it can bring all.

    >>> python_lacks(t.ArrayType(VariantType())), python_lacks(t.ArrayType(t.IntType()))
    (VariantType(true), None)
    """
    if isinstance(kind, (VariantType, BitmapType, StructuredType)):
        return kind
    parts: Sequence[DataType] = ()
    if isinstance(kind, (t.ArrayType, t.MultisetType)):
        parts = (kind.element_type,)
    elif isinstance(kind, t.MapType):
        parts = (kind.key_type, kind.value_type)
    elif isinstance(kind, t.RowType):
        parts = kind.field_types()
    return next((found for part in parts if (found := python_lacks(part)) is not None), None)
