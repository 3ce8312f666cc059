"""DataFrames, and their columns and literals; mirrors ``pyflink.dataframe.dataframe``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.common._public import publish
from flintstream.dataframe._frame.asof import AsOf
from flintstream.dataframe._frame.columns import Columns
from flintstream.dataframe._frame.exchange import Exchange
from flintstream.dataframe._frame.functions import Functions
from flintstream.dataframe._frame.joins import Joins
from flintstream.dataframe._frame.literals import infer_literal, literal_of
from flintstream.dataframe._frame.missing import Missing
from flintstream.dataframe._frame.rows import Rows
from flintstream.dataframe._frame.windows import GroupedDataFrame, Windows
from flintstream.dataframe._frame.writers import Writers
from flintstream.dataframe.datatype import DataType
from flintstream.table import expressions

if TYPE_CHECKING:
    from flintstream.table.expression import Expression

__all__ = ["DataFrame", "GroupedDataFrame", "col", "lit", "proctime"]


class DataFrame(Columns, Rows, Missing, Joins, AsOf, Functions, Windows, Exchange, Writers):
    """A table with the methods of DataFrames. They return other DataFrames; jobs run for results and writers only.

    >>> import flintstream.dataframe as pf
    >>> pf.set_table_environment(None)
    >>> _ = pf.config.set("flintstream.engine", "inline")
    >>> users = pf.from_records([(1, "ann", 30), (2, "bob", 17)], schema=["id", "name", "age"])
    >>> users.filter(pf.col("age") >= 18).with_column("next", pf.col("age") + 1).select("name", "next").collect()
    [<Row('ann', 31)>]
    """


def col(name: str) -> Expression:
    """Return a column.

    >>> import flintstream.dataframe as pf
    >>> pf.range(3).select(pf.col("id") * 2).columns
    ['_c0']
    """
    return expressions.col(name)


def proctime() -> Expression:
    """Return the time at which a row is processed, for :meth:`DataFrame.join_asof`.

    >>> import flintstream.dataframe as pf
    >>> pf.range(3).with_column("now", pf.proctime()).columns
    ['id', 'now']
    """
    return expressions.call_sql("PROCTIME()")


def lit(value: object, data_type: DataType | None = None) -> Expression:
    """Return a literal, whose type the value tells, or the argument. Lists, dicts and tuples may be nested.

    Raises:
        SqlError: The value does not fit the type.
        TypeError: The type is none of :class:`DataType`.

    >>> import flintstream.dataframe as pf
    >>> pf.range(3).select(answer=pf.lit(42, pf.DataType.int64())).columns
    ['answer']
    """
    if data_type is None:
        return infer_literal(value)
    if not isinstance(data_type, DataType):
        raise TypeError("data_type must be a pyflink.dataframe.DataType")
    return literal_of(value, data_type._to_table_data_type())


publish(__name__, __all__, globals())
