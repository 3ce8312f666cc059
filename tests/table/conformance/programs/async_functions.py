"""Asynchronous scalar functions that fail, one row at a time: PyFlink 2.3.0 mixes up the results of several rows."""

from pyflink.table import DataTypes
from pyflink.table.expressions import col
from pyflink.table.udf import AsyncScalarFunction, udf
from tests.table.conformance.registry import program


class Flaky(AsyncScalarFunction):
    def __init__(self, failures):
        self.failures = failures

    def open(self, function_context):
        self.calls = 0

    async def eval(self, text):
        self.calls += 1
        if self.calls <= self.failures:
            raise ValueError(f"failure {self.calls}")
        return f"{text} {self.calls}"


@program(2)
def asynchronous_functions_that_fail(env, t_env):
    table = t_env.from_elements([("a",)], ["a"])
    found = []
    for failures in range(6):
        function = udf(Flaky(failures), result_type=DataTypes.STRING())
        try:
            found += list(table.select(function(col("a"))).execute().collect())
        except Exception as error:  # noqa: BLE001 - any of them
            found.append([f"failure {n}" for n in range(8) if f"failure {n}" in str(error)][-1:])
    return found


@program(2)
def asynchronous_functions_on_pandas(env, t_env):
    async def same(value):
        return value

    found = []
    for function in (same, Flaky(0)):
        try:
            udf(function, result_type=DataTypes.STRING(), func_type="pandas")
        except ValueError as error:
            found.append("Async scalar functions do not support pandas func_type" in str(error))
    return found
