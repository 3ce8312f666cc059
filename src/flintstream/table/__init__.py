"""The types of tables, for the columns of files. The rest of ``pyflink.table`` is not part of flintstream."""

from __future__ import annotations

from flintstream.common.types import Row, RowKind
from flintstream.table.types import DataTypes

__all__ = ["DataTypes", "Row", "RowKind"]


def __getattr__(name: str) -> object:
    if name[0].isupper():  # the name of a class, so that this tells more than "cannot import"
        raise ImportError(f"{name}: of the Table API flintstream has DataTypes alone; use Spark SQL for tables")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
