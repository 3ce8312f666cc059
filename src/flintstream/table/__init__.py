"""Tables and SQL on streams; mirrors ``pyflink.table``."""

from __future__ import annotations

from flintstream.common.types import Row, RowKind
from flintstream.table.environment_settings import EnvironmentSettings
from flintstream.table.expression import Expression
from flintstream.table.result_kind import ResultKind
from flintstream.table.schema import Schema
from flintstream.table.statement_set import StatementSet
from flintstream.table.table import Table
from flintstream.table.table_config import TableConfig
from flintstream.table.table_environment import StreamTableEnvironment, TableEnvironment
from flintstream.table.table_result import TableResult
from flintstream.table.table_schema import TableSchema
from flintstream.table.types import DataTypes
from flintstream.table.udf import FunctionContext, ScalarFunction, TableFunction

__all__ = [
    "DataTypes",
    "EnvironmentSettings",
    "Expression",
    "FunctionContext",
    "ResultKind",
    "Row",
    "RowKind",
    "ScalarFunction",
    "Schema",
    "StatementSet",
    "StreamTableEnvironment",
    "Table",
    "TableConfig",
    "TableEnvironment",
    "TableFunction",
    "TableResult",
    "TableSchema",
]


def __getattr__(name: str) -> object:
    if name[0].isupper():  # a class name: raise a more helpful error than "cannot import"
        raise ImportError(
            f"{name}: flintstream does not support this part of the Table API yet: docs/table.md lists what is"
        )
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
