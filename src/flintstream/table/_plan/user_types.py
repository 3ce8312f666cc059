"""Types of SQL for the classes of a program."""

from __future__ import annotations

from typing import TypeVar, cast

from flintstream.common._types import data_types as t
from flintstream.common._types.user_defined import UserDefinedType
from flintstream.table._types.rules import is_nullable

K = TypeVar("K", bound=t.DataType)


def sql_type_of(kind: K) -> K:
    """Return a type with those of SQL for the classes of the program.

    >>> sql_type_of(t.RowType([t.RowField("n", t.IntType())]))
    RowType(RowField(n, IntType(true), ...))
    """
    found: t.DataType = kind
    if isinstance(kind, UserDefinedType):
        found = kind.sql_type()
    elif isinstance(kind, t.RowType):
        fields = [t.RowField(field.name, sql_type_of(field.data_type), field.description) for field in kind.fields]
        found = t.RowType(fields, is_nullable(kind))
    elif isinstance(kind, t.ArrayType):
        found = t.ArrayType(sql_type_of(kind.element_type), is_nullable(kind))
    elif isinstance(kind, t.MapType):
        found = t.MapType(sql_type_of(kind.key_type), sql_type_of(kind.value_type), is_nullable(kind))
    return cast("K", found)
