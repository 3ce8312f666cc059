"""The types of tables, for the columns of files. The rest of ``pyflink.table`` is not part of flintstream."""

from __future__ import annotations

from flintstream.common.types import Row, RowKind
from flintstream.table.types import DataTypes

__all__ = ["DataTypes", "Row", "RowKind"]


def __getattr__(name: str) -> object:
    if name[0].isupper():  # a class name: raise a more helpful error than "cannot import"
        raise ImportError(f"{name}: flintstream supports only DataTypes of the Table API: use Spark SQL for tables")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
