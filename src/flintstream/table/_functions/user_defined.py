"""The classes that users derive functions for tables from; programs import them from ``pyflink.table.udf``."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "AggregateFunction",
    "AsyncScalarFunction",
    "FunctionContext",
    "ScalarFunction",
    "TableAggregateFunction",
    "TableFunction",
    "UserDefinedFunction",
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
    [<Row('0 of 1, none')>]
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
    [<Row(2.0)>]
    """

    def open(self, function_context: FunctionContext) -> None:
        """Prepare the function, in the task."""

    def close(self) -> None:
        """Release what :meth:`open` holds."""

    def is_deterministic(self) -> bool:
        """Return whether equal arguments always give equal results."""
        return True


class ScalarFunction(UserDefinedFunction, ABC):
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
    [<Row(5)>]
    """

    @abstractmethod
    def eval(self, *args: Any) -> Any:
        """Return the result."""
        raise NotImplementedError


class AsyncScalarFunction(UserDefinedFunction, ABC):
    """A function with one result for each row, which is awaited: override ``eval`` with an ``async`` one.

    >>> class Ask(AsyncScalarFunction):
    ...     async def eval(self, city):
    ...         return {"Bern": 5}.get(city)
    >>> import asyncio
    >>> asyncio.run(Ask().eval("Bern"))
    5
    """

    @abstractmethod
    async def eval(self, *args: Any) -> Any:
        """Return the result."""
        raise NotImplementedError


class TableFunction(UserDefinedFunction, ABC):
    """A function with any number of rows for each row: override ``eval``.

    >>> class Words(TableFunction):
    ...     def eval(self, line):
    ...         yield from line.split()
    >>> list(Words().eval("to be"))
    ['to', 'be']
    """

    @abstractmethod
    def eval(self, *args: Any) -> Any:
        """Return an iterable of rows, or yield them."""
        raise NotImplementedError


class AggregateFunction(UserDefinedFunction, ABC):
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
    ...         for other in accumulators:
    ...             accumulator.extend(other)
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
    [<Row(5)>]
    """

    @abstractmethod
    def create_accumulator(self) -> Any:
        """Return the state of a group without rows."""
        raise NotImplementedError

    @abstractmethod
    def accumulate(self, accumulator: Any, *args: Any) -> None:
        """Add a row."""
        raise NotImplementedError

    def retract(self, accumulator: Any, *args: Any) -> None:
        """Take a row back; needed if the rows that the function reads can change."""
        raise RuntimeError("Method retract is not implemented")

    def merge(self, accumulator: Any, accumulators: Iterable[Any]) -> None:
        """Add other states; needed for windows that merge, such as sessions."""
        raise RuntimeError("Method merge is not implemented")

    @abstractmethod
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

    @abstractmethod
    def emit_value(self, accumulator: Any) -> Iterable[Any]:
        """Return the rows, or yield them; a row of one column can be its value."""
        raise NotImplementedError

    def get_value(self, accumulator: Any) -> Any:
        """Return nothing: the results are those of :meth:`emit_value`.

        Raises:
            RuntimeError: Always.
        """
        raise RuntimeError(f"{type(self).__name__} returns rows: call it in flat_aggregate()")
