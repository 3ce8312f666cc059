"""Functions for tables, in Python; mirrors ``pyflink.table.udf``."""

from __future__ import annotations

import inspect
from copy import copy
from importlib import import_module
from typing import TYPE_CHECKING, Any

from flintstream.common._types import data_types as t
from flintstream.table._errors import SqlError
from flintstream.table._functions.kinds import by_rows
from flintstream.table._sql.type_reader import read_type

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from flintstream.common._types.data_types import DataType

__all__ = [
    "AggregateFunction",
    "AsyncScalarFunction",
    "FunctionContext",
    "ScalarFunction",
    "TableAggregateFunction",
    "TableFunction",
    "UserDefinedFunction",
    "udaf",
    "udf",
    "udtaf",
    "udtf",
]


class FunctionContext:
    """What a function learns when it is opened: metrics and job parameters.

    >>> from flintstream.common import Configuration
    >>> from flintstream.table import DataTypes, EnvironmentSettings, TableEnvironment
    >>> from flintstream.table.expressions import col
    >>> from flintstream.table.udf import ScalarFunction
    >>> class Where(ScalarFunction):
    ...     def open(self, function_context):
    ...         self.calls = function_context.get_metric_group().counter("calls")
    ...         self.task = f"{function_context.get_index_of_this_subtask()} of " + str(
    ...             function_context.get_number_of_parallel_subtasks()
    ...         )
    ...         self.start = function_context.get_job_parameter("start", "none")
    ...         print(function_context.get_attempt_number(), function_context.get_max_number_of_parallel_subtasks())
    ...         assert function_context.get_task_name() in function_context.get_task_name_with_subtasks()
    ...
    ...     def eval(self, n):
    ...         self.calls.inc()
    ...         return f"{self.task}, {self.start}"
    >>> where = udf(Where(), result_type=DataTypes.STRING())
    >>> inline = Configuration.from_dict({"flintstream.engine": "inline", "parallelism.default": "1"})
    >>> settings = EnvironmentSettings.new_instance().in_batch_mode().with_configuration(inline).build()
    >>> table = TableEnvironment.create(settings).from_elements([(1,)], ["n"])
    >>> list(table.select(where(col("n")).alias("here")).execute().collect())
    0 128
    [Row(here='0 of 1, none')]
    """

    def __init__(self, runtime_context: Any) -> None:
        """Take the context of the task."""
        self._runtime_context = runtime_context

    @staticmethod
    def of(runtime_context: Any) -> FunctionContext:
        """Return the context for a task.

        >>> from flintstream.testing.harness import OneInputHarness
        >>> from flintstream.datastream.functions import MapFunction
        >>> class Task(MapFunction):
        ...     def open(self, runtime_context):
        ...         self.context = FunctionContext.of(runtime_context)
        ...
        ...     def map(self, value):
        ...         return self.context.get_index_of_this_subtask()
        >>> with OneInputHarness(lambda numbers: numbers.map(Task())) as harness:
        ...     harness.process_element(17)
        ...     harness.extract_output_values()
        [0]
        """
        return FunctionContext(runtime_context)

    def get_metric_group(self) -> Any:
        """Return the group of metrics of this operator."""
        return self._runtime_context.get_metrics_group()

    def get_job_parameter(self, key: str, default_value: str) -> str:
        """Return a parameter of the job."""
        found: str = self._runtime_context.get_job_parameter(key, default_value)
        return found

    def get_task_name(self) -> str:
        """Return the name of the task."""
        return str(self._runtime_context.get_task_name())

    def get_task_name_with_subtasks(self) -> str:
        """Return the name of the task with the number of this subtask: ``Calc (1/2)``."""
        return str(self._runtime_context.get_task_name_with_subtasks())

    def get_number_of_parallel_subtasks(self) -> int:
        """Return the parallelism of the task."""
        return int(self._runtime_context.get_number_of_parallel_subtasks())

    def get_max_number_of_parallel_subtasks(self) -> int:
        """Return the number of key groups."""
        return int(self._runtime_context.get_max_number_of_parallel_subtasks())

    def get_index_of_this_subtask(self) -> int:
        """Return the number of this subtask, from 0 on."""
        return int(self._runtime_context.get_index_of_this_subtask())

    def get_attempt_number(self) -> int:
        """Return how many times the task was started before."""
        return int(self._runtime_context.get_attempt_number())


class UserDefinedFunction:
    """Base class of functions for tables.

    >>> from flintstream.common import Configuration
    >>> from flintstream.table import DataTypes, EnvironmentSettings, TableEnvironment
    >>> from flintstream.table.expressions import col
    >>> from flintstream.table.udf import ScalarFunction
    >>> class Tax(ScalarFunction):
    ...     def open(self, function_context):
    ...         self.rate = float(function_context.get_job_parameter("rate", "0.5"))
    ...
    ...     def eval(self, price):
    ...         return price * self.rate
    ...
    ...     def close(self):
    ...         self.rate = None
    ...
    ...     def is_deterministic(self):
    ...         return True
    >>> tax = udf(Tax(), result_type=DataTypes.DOUBLE())
    >>> inline = Configuration.from_dict({"flintstream.engine": "inline"})
    >>> settings = EnvironmentSettings.new_instance().in_batch_mode().with_configuration(inline).build()
    >>> prices = TableEnvironment.create(settings).from_elements([(4.0,)], ["price"])
    >>> list(prices.select(tax(col("price")).alias("tax")).execute().collect())
    [Row(tax=2.0)]
    """

    def open(self, function_context: FunctionContext) -> None:
        """Prepare the function, in the task."""

    def close(self) -> None:
        """Release what :meth:`open` holds."""

    def is_deterministic(self) -> bool:
        """Return whether equal arguments always give equal results."""
        return True


class ScalarFunction(UserDefinedFunction):
    """A function with one result for each row: override ``eval``.

    >>> from flintstream.common import Configuration
    >>> from flintstream.table import DataTypes, EnvironmentSettings, TableEnvironment
    >>> from flintstream.table.expressions import col
    >>> class Distance(ScalarFunction):
    ...     def eval(self, a, b):
    ...         return abs(a - b)
    >>> distance = udf(Distance(), result_type=DataTypes.BIGINT())
    >>> inline = Configuration.from_dict({"flintstream.engine": "inline"})
    >>> settings = EnvironmentSettings.new_instance().in_batch_mode().with_configuration(inline).build()
    >>> table = TableEnvironment.create(settings).from_elements([(3, 8)], ["a", "b"])
    >>> list(table.select(distance(col("a"), col("b")).alias("d")).execute().collect())
    [Row(d=5)]
    """

    def eval(self, *args: Any) -> Any:
        """Return the result."""
        raise NotImplementedError


class AsyncScalarFunction(UserDefinedFunction):
    """A function with one result for each row, which is awaited: override ``eval`` with an ``async`` one.

    >>> class Ask(AsyncScalarFunction):
    ...     async def eval(self, city):
    ...         return {"Bern": 5}.get(city)
    >>> import asyncio
    >>> asyncio.run(Ask().eval("Bern"))
    5
    """

    async def eval(self, *args: Any) -> Any:
        """Return the result."""
        raise NotImplementedError


class TableFunction(UserDefinedFunction):
    """A function with any number of rows for each row: override ``eval``.

    >>> class Words(TableFunction):
    ...     def eval(self, line):
    ...         yield from line.split()
    >>> list(Words().eval("to be"))
    ['to', 'be']
    """

    def eval(self, *args: Any) -> Any:
        """Return an iterable of rows, or yield them."""
        raise NotImplementedError


class AggregateFunction(UserDefinedFunction):
    """A function with one result for a group of rows: override all methods that the query needs.

    The state of a group is an object that can be pickled: a list, a ``Row``, a ``ListView`` ...

    >>> from flintstream.common import Configuration
    >>> from flintstream.table import DataTypes, EnvironmentSettings, TableEnvironment
    >>> from flintstream.table.expressions import col
    >>> class Range(AggregateFunction):
    ...     def create_accumulator(self):
    ...         return []
    ...
    ...     def accumulate(self, accumulator, value):
    ...         accumulator.append(value)
    ...
    ...     def retract(self, accumulator, value):
    ...         accumulator.remove(value)
    ...
    ...     def merge(self, accumulator, accumulators):
    ...         for each in accumulators:
    ...             accumulator.extend(each)
    ...
    ...     def get_value(self, accumulator):
    ...         return max(accumulator) - min(accumulator) if accumulator else None
    ...
    ...     def get_result_type(self):
    ...         return DataTypes.BIGINT()
    ...
    ...     def get_accumulator_type(self):
    ...         return DataTypes.ARRAY(DataTypes.BIGINT())
    >>> inline = Configuration.from_dict({"flintstream.engine": "inline"})
    >>> settings = EnvironmentSettings.new_instance().in_batch_mode().with_configuration(inline).build()
    >>> table = TableEnvironment.create(settings).from_elements([(3,), (8,), (5,)], ["n"])
    >>> list(table.select(udaf(Range())(col("n"))).execute().collect())
    [Row(EXPR$0=5)]
    """

    def create_accumulator(self) -> Any:
        """Return the state of a group without rows."""
        raise NotImplementedError

    def accumulate(self, accumulator: Any, *args: Any) -> None:
        """Add a row."""
        raise NotImplementedError

    def retract(self, accumulator: Any, *args: Any) -> None:  # noqa: ARG002 - the contract
        """Take a row back; needed if the rows that the function reads can change."""
        raise RuntimeError("Method retract is not implemented")

    def merge(self, accumulator: Any, accumulators: Iterable[Any]) -> None:  # noqa: ARG002 - the contract
        """Add other states; needed for windows that merge, such as sessions."""
        raise RuntimeError("Method merge is not implemented")

    def get_value(self, accumulator: Any) -> Any:
        """Return the result."""
        raise NotImplementedError

    def get_result_type(self) -> Any:
        """Return the type of the result, unless ``udaf`` gets it."""
        raise RuntimeError("Method get_result_type is not implemented")

    def get_accumulator_type(self) -> Any:
        """Return the type of the state; flintstream does not need it."""
        raise RuntimeError("Method get_accumulator_type is not implemented")


class TableAggregateFunction(AggregateFunction):
    """A function with any number of rows for a group of rows: override ``emit_value``, and not ``get_value``.

    >>> class TwoLargest(TableAggregateFunction):
    ...     def create_accumulator(self):
    ...         return []
    ...
    ...     def accumulate(self, accumulator, n):
    ...         accumulator[:] = sorted([*accumulator, n])[-2:]
    ...
    ...     def emit_value(self, accumulator):
    ...         yield from accumulator
    >>> function = TwoLargest()
    >>> accumulator = function.create_accumulator()
    >>> for n in (3, 8, 5):
    ...     function.accumulate(accumulator, n)
    >>> list(function.emit_value(accumulator))
    [5, 8]
    """

    def emit_value(self, accumulator: Any) -> Iterable[Any]:
        """Return the rows, or yield them; a row of one column can be its value."""
        raise NotImplementedError

    def get_value(self, accumulator: Any) -> Any:  # noqa: ARG002 - the contract
        """Return nothing: the results are those of :meth:`emit_value`.

        Raises:
            RuntimeError: Always.
        """
        raise RuntimeError(f"{type(self).__name__} has rows: call it in flat_aggregate()")


class _Plain(UserDefinedFunction):
    def __init__(self, function: Callable[..., Any]) -> None:
        self.eval = function


def as_data_type(given: DataType | str) -> DataType:
    """Return a type given by its name in SQL, or as it is."""
    if not isinstance(given, str):
        return given
    from flintstream.table._sql.dialect import Tokens, place_at  # noqa: PLC0415 - needs sqlglot

    tokens = Tokens(given)
    found, _ = read_type(tokens.all, 0, lambda token: place_at(given, token.start))
    return found


class FunctionWrapper:
    """A Python function with its types: what ``udf`` and ``udtf`` return."""

    advice = "join its rows with LATERAL TABLE(...) or join_lateral()"

    def __init__(self, implementation: Any, kind: str, input_types: Any, results: Any, name: str | None) -> None:
        """Wrap a function, an object with ``__call__``, or an object with ``eval``."""
        self.kind = kind
        self.implementation = implementation if hasattr(implementation, "eval") else _Plain(implementation)
        given = [input_types] if isinstance(input_types, (t.DataType, str)) else input_types
        self.input_types = None if given is None else [as_data_type(each) for each in given]
        self.result_types = _columns(results) if kind == "table" else [as_data_type(results)]
        self.result_type = self.result_types[0]
        self.name = name or getattr(implementation, "__name__", type(implementation).__name__)
        self.alias_names: tuple[str, ...] = ()

    def alias(self, *alias_names: str) -> FunctionWrapper:
        """Give the columns of the result names, where a method of tables takes the function and no call of it."""
        made = copy(self)
        made.alias_names = alias_names
        return made

    def of_types(self, types: Sequence[DataType]) -> FunctionWrapper:
        """Return the function for arguments of these types, which decide what pandas makes of them."""
        if not hasattr(self.implementation, "of_types"):
            return self
        made = copy(self)
        made.implementation = self.implementation.of_types(types)
        return made

    def of_rows(self, names: Sequence[str], types: Sequence[DataType]) -> FunctionWrapper:
        """Return the function for a single argument that is a row with all columns of a table.

        A function of pandas gets a ``DataFrame``.
        """
        made = copy(self)
        made.input_types = None
        if hasattr(self.implementation, "of_frames"):
            made.implementation = self.implementation.of_frames(names, types)
        return made

    def __call__(self, *arguments: Any) -> Any:
        """Return the expression of a call."""
        from flintstream.table._expressions import syntax as s  # noqa: PLC0415
        from flintstream.table.expression import Expression, syntax_of  # noqa: PLC0415

        return Expression(s.Invoke(None, self, tuple(syntax_of(each) for each in arguments)))


def _columns(results: Any) -> list[DataType]:
    if isinstance(results, (t.DataType, str)):
        one = as_data_type(results)
        return one.field_types() if isinstance(one, t.RowType) else [one]
    return [as_data_type(each) for each in results]


def _wrapped(f: Any, kind: str, input_types: Any, results: Any, name: str | None, *, pandas: bool = False) -> Any:
    if results is None:
        raise TypeError(f"a {kind} function needs its result type, such as DataTypes.INT()")

    def wrap(function: Any) -> FunctionWrapper:
        if inspect.isclass(function):
            raise TypeError(f"create the function first: {function.__name__}()")
        made = FunctionWrapper(function, kind, input_types, results, name)
        if kind == "scalar":
            made.implementation = by_rows(made.implementation, made.input_types, pandas=pandas)
        return made

    return wrap if f is None else wrap(f)


def udf(
    f: Any = None,
    input_types: Sequence[DataType | str] | DataType | str | None = None,
    result_type: DataType | str | None = None,
    deterministic: bool | None = None,  # noqa: ARG001 - plans never evaluate a call twice
    name: str | None = None,
    func_type: str = "general",
    udf_type: str | None = None,
) -> Any:
    """Make a scalar function of a Python function or a :class:`ScalarFunction`; also a decorator.

    A function of pandas (``func_type="pandas"``) gets a ``Series`` of one value for each argument, and ``async`` ones
    are awaited row by row.

    Raises:
        TypeError: The result type is missing.

    >>> from flintstream.table import DataTypes
    >>> @udf(result_type=DataTypes.BIGINT())
    ... def twice(x):
    ...     return 2 * x
    >>> twice.name
    'twice'
    """
    return _wrapped(f, "scalar", input_types, result_type, name, pandas="pandas" in {func_type, udf_type})


def udtf(
    f: Any = None,
    input_types: Sequence[DataType | str] | DataType | str | None = None,
    result_types: Any = None,
    deterministic: bool | None = None,  # noqa: ARG001 - plans never evaluate a call twice
    name: str | None = None,
) -> Any:
    """Make a table function of a Python function or a :class:`TableFunction`; also a decorator.

    Raises:
        TypeError: The result types are missing.

    >>> from flintstream.table import DataTypes
    >>> @udtf(result_types=[DataTypes.STRING()])
    ... def words(line):
    ...     yield from line.split()
    >>> words.kind
    'table'
    """
    return _wrapped(f, "table", input_types, result_types, name)


def udaf(
    f: Any = None,
    input_types: Sequence[DataType | str] | DataType | str | None = None,
    result_type: DataType | str | None = None,
    accumulator_type: DataType | str | None = None,  # noqa: ARG001 - states are pickled
    deterministic: bool | None = None,  # noqa: ARG001 - plans never evaluate a call twice
    name: str | None = None,
    func_type: str = "general",
) -> Any:
    """Make an aggregate function of an :class:`AggregateFunction`, or of a function of series with ``"pandas"``.

    Raises:
        TypeError: It is neither.

    >>> from flintstream.table import DataTypes
    >>> @udaf(result_type=DataTypes.DOUBLE(), func_type="pandas")
    ... def mean(values):
    ...     return values.mean()
    >>> mean.kind
    'aggregate'
    """
    from flintstream.table._functions.aggregate_functions import AggregateWrapper  # noqa: PLC0415 - it needs this module

    def wrap(function: Any) -> FunctionWrapper:
        made = function() if inspect.isclass(function) else function
        return AggregateWrapper(made, input_types, result_type, name, pandas=func_type == "pandas")

    return wrap if f is None else wrap(f)


def udtaf(
    f: Any = None,
    input_types: Sequence[DataType | str] | DataType | str | None = None,
    result_type: DataType | str | None = None,
    accumulator_type: DataType | str | None = None,  # noqa: ARG001 - states are pickled
    deterministic: bool | None = None,  # noqa: ARG001 - plans never evaluate a call twice
    name: str | None = None,
    func_type: str = "general",
) -> Any:
    """Make a function for ``flat_aggregate()`` of a :class:`TableAggregateFunction`.

    Raises:
        TypeError: It is none.
        ValueError: ``func_type`` is not ``"general"``.

    >>> from flintstream.table import DataTypes
    >>> class Both(TableAggregateFunction):
    ...     def create_accumulator(self):
    ...         return []
    ...
    ...     def accumulate(self, accumulator, value):
    ...         accumulator.append(value)
    ...
    ...     def emit_value(self, accumulator):
    ...         return [min(accumulator), max(accumulator)]
    >>> udtaf(Both(), result_type=DataTypes.INT()).kind
    'table aggregate'
    """
    from flintstream.table._functions.aggregate_functions import TableAggregateWrapper  # noqa: PLC0415 - it needs this module

    if func_type != "general":
        raise ValueError(f"udtaf() has only func_type='general', not {func_type!r}")

    def wrap(function: Any) -> FunctionWrapper:
        made = function() if inspect.isclass(function) else function
        return TableAggregateWrapper(made, input_types, result_type, name)

    return wrap if f is None else wrap(f)


def function_at(path: str) -> FunctionWrapper:
    """Return the function that ``CREATE FUNCTION ... AS 'module.name' LANGUAGE PYTHON`` names.

    Raises:
        SqlError: There is none.
    """
    module, _, name = path.rpartition(".")
    try:
        found = getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise SqlError(f"no function {path}: {error}") from error
    if not isinstance(found, FunctionWrapper):
        raise SqlError(f"{path} is no function for tables: decorate it with @udf, @udtf or @udaf")
    return found
