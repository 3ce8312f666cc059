"""Tables and SQL on streams; mirrors ``pyflink.table``."""

from __future__ import annotations

from flintstream.common.types import Row, RowKind
from flintstream.table._stored.descriptors import ModelDescriptor
from flintstream.table.changelog_mode import ChangelogMode
from flintstream.table.compiled_plan import CompiledPlan
from flintstream.table.data_view import ListView, MapView
from flintstream.table.environment_settings import EnvironmentSettings
from flintstream.table.explain_detail import ExplainDetail
from flintstream.table.expression import Expression
from flintstream.table.plan_reference import PlanReference
from flintstream.table.result_kind import ResultKind
from flintstream.table.schema import Schema
from flintstream.table.sql_dialect import SqlDialect
from flintstream.table.statement_set import StatementSet
from flintstream.table.table import (
    AggregatedTable,
    FlatAggregateTable,
    GroupedTable,
    GroupWindowedTable,
    OverWindowedTable,
    Table,
    WindowGroupedTable,
)
from flintstream.table.table_config import TableConfig
from flintstream.table.table_descriptor import FormatDescriptor, TableDescriptor
from flintstream.table.table_environment import StreamTableEnvironment, TableEnvironment
from flintstream.table.table_pipeline import TablePipeline
from flintstream.table.table_result import TableResult
from flintstream.table.table_schema import TableSchema
from flintstream.table.types import DataTypes
from flintstream.table.udf import (
    AggregateFunction,
    AsyncScalarFunction,
    FunctionContext,
    ScalarFunction,
    TableAggregateFunction,
    TableFunction,
)
from flintstream.table.window import GroupWindow, Over, OverWindow, Session, Slide, Tumble

__all__ = [
    "AggregateFunction",
    "AggregatedTable",
    "AsyncScalarFunction",
    "ChangelogMode",
    "CompiledPlan",
    "DataTypes",
    "EnvironmentSettings",
    "ExplainDetail",
    "Expression",
    "FlatAggregateTable",
    "FormatDescriptor",
    "FunctionContext",
    "GroupWindow",
    "GroupWindowedTable",
    "GroupedTable",
    "ListView",
    "MapView",
    "ModelDescriptor",
    "Over",
    "OverWindow",
    "OverWindowedTable",
    "PlanReference",
    "ResultKind",
    "Row",
    "RowKind",
    "ScalarFunction",
    "Schema",
    "Session",
    "Slide",
    "SqlDialect",
    "StatementSet",
    "StreamTableEnvironment",
    "Table",
    "TableAggregateFunction",
    "TableConfig",
    "TableDescriptor",
    "TableEnvironment",
    "TableFunction",
    "TablePipeline",
    "TableResult",
    "TableSchema",
    "Tumble",
    "WindowGroupedTable",
]


_FILES = "declare a table with CREATE TABLE and 'connector' = 'filesystem'"
_REMOVED = {
    "BatchTableEnvironment": "create a TableEnvironment with EnvironmentSettings.in_batch_mode()",
    "CsvTableSink": _FILES,
    "CsvTableSource": _FILES,
    "WriteMode": _FILES,
}
"""What earlier releases of PyFlink had here, and what to do instead."""


def __getattr__(name: str) -> object:
    if name[0].isupper():  # a class name: raise a more helpful error than "cannot import"
        instead = f": {_REMOVED[name]}" if name in _REMOVED else ""
        raise ImportError(f"{name}: pyflink.table of PyFlink 2.3 does not have this name{instead}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
