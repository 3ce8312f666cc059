"""Connectors of tables that a program or package adds: what ``'connector' = '...'`` may name.

A connector is a class that describes how tables are read, or written, or both. :class:`TableSource` and
:class:`TableSink` also say what else it can do: find rows by key, read only some columns, take changes.

>>> from flintstream.connectors.collection import CollectionSource
>>> from flintstream.table import EnvironmentSettings, TableEnvironment
>>> class Letters(SourceConnector):
...     def source(self, table):
...         return TableSource(CollectionSource([(letter,) for letter in table.options.required("text")]))
>>> register("letters", Letters)
>>> t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
>>> _ = t_env.execute_sql("CREATE TABLE vowels (letter STRING) WITH ('connector' = 'letters', 'text' = 'aei')")
>>> with t_env.execute_sql("SELECT UPPER(letter) FROM vowels").collect() as rows:
...     print(*rows)
<Row('A')> <Row('E')> <Row('I')>
"""

from __future__ import annotations

from flintstream.common._public import publish
from flintstream.table._connectors.contract import (
    CHANGES,
    INSERTIONS,
    UPSERTS,
    ConnectorTable,
    Records,
    SinkConnector,
    SourceConnector,
    TableConnector,
    TableSink,
    TableSource,
)
from flintstream.table._connectors.options import Options
from flintstream.table._connectors.registry import register
from flintstream.table._operators.lookups import Lookup
from flintstream.table._session.message_schemas import FormatDeserializationSchema, FormatSerializationSchema

__all__ = [
    "CHANGES",
    "INSERTIONS",
    "UPSERTS",
    "ConnectorTable",
    "FormatDeserializationSchema",
    "FormatSerializationSchema",
    "Lookup",
    "Options",
    "Records",
    "SinkConnector",
    "SourceConnector",
    "TableConnector",
    "TableSink",
    "TableSource",
    "register",
]

publish(__name__, ["FormatDeserializationSchema", "FormatSerializationSchema"], globals())
