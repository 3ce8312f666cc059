"""DataFrames on streams and tables; mirrors ``pyflink.dataframe``.

>>> import flintstream.dataframe as pf
>>> pf.set_table_environment(None)
>>> _ = pf.config.set("flintstream.engine", "inline")
>>> users = pf.from_records([(1, "ann", 30), (2, "bob", 17)], schema=["id", "name", "age"])
>>> users.filter(users.age >= 18).select("id", "name").collect()
[<Row(1, 'ann')>]
"""

from __future__ import annotations

from flintstream.dataframe.ai import complete, embed
from flintstream.dataframe.catalog import (
    create_catalog,
    get_catalog,
    get_current_catalog,
    get_current_database,
    list_catalogs,
    list_databases,
    use_catalog,
    use_database,
)
from flintstream.dataframe.context import (
    create_statement_set,
    get_or_create_table_environment,
    get_table_environment,
    set_table_environment,
)
from flintstream.dataframe.convert import (
    from_arrow,
    from_dict,
    from_pandas,
    from_records,
    from_spark,
    from_table,
    range,
)
from flintstream.dataframe.dataframe import DataFrame, GroupedDataFrame, col, lit, proctime
from flintstream.dataframe.dataframe_config import config
from flintstream.dataframe.datatype import DataType
from flintstream.dataframe.io import read_catalog_table, read_generic, read_json, read_kafka, read_parquet
from flintstream.dataframe.iteration import CloseableIterator
from flintstream.dataframe.model_provider import (
    GenericProvider,
    ModelProvider,
    OpenAIProvider,
    TritonProvider,
    list_model_providers,
    set_default_model_provider,
    set_model_provider,
)
from flintstream.dataframe.sql import sql
from flintstream.dataframe.udaf import udaf
from flintstream.dataframe.udf import udf
from flintstream.dataframe.udtf import udtf
from flintstream.table._syntax.frames import (
    CURRENT_ROW,
    UNBOUNDED,
    UNBOUNDED_FOLLOWING,
    UNBOUNDED_PRECEDING,
    following,
    preceding,
)

__all__ = [
    "CURRENT_ROW",
    "UNBOUNDED",
    "UNBOUNDED_FOLLOWING",
    "UNBOUNDED_PRECEDING",
    "CloseableIterator",
    "DataFrame",
    "DataType",
    "GenericProvider",
    "GroupedDataFrame",
    "ModelProvider",
    "OpenAIProvider",
    "TritonProvider",
    "col",
    "complete",
    "config",
    "create_catalog",
    "create_statement_set",
    "embed",
    "following",
    "from_arrow",
    "from_dict",
    "from_pandas",
    "from_records",
    "from_spark",
    "from_table",
    "get_catalog",
    "get_current_catalog",
    "get_current_database",
    "get_or_create_table_environment",
    "get_table_environment",
    "list_catalogs",
    "list_databases",
    "list_model_providers",
    "lit",
    "preceding",
    "proctime",
    "range",
    "read_catalog_table",
    "read_generic",
    "read_json",
    "read_kafka",
    "read_parquet",
    "set_default_model_provider",
    "set_model_provider",
    "set_table_environment",
    "sql",
    "udaf",
    "udf",
    "udtf",
    "use_catalog",
    "use_database",
]
