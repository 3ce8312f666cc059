# mypy: disable-error-code="import-not-found,import-untyped"
"""How functions of a row are declared, and the types that they take and return."""

import asyncio
import datetime as dt
import functools
from decimal import Decimal

from pyflink.common import Row
from pyflink.table import DataTypes
from pyflink.table.expressions import call, col, lit
from pyflink.table.udf import AsyncScalarFunction, FunctionContext, ScalarFunction, udf
from tests.table.conformance.registry import BOTH, program
from tests.table.conformance.shapes import PROCESS, columns

INT, STRING = DataTypes.INT(), DataTypes.STRING()
ROW_TYPE = DataTypes.ROW([DataTypes.FIELD("x", INT), DataTypes.FIELD("y", STRING)])
BASE = 10


def rows(t_env):
    kinds = {
        "id": DataTypes.INT(False), "v": INT, "s": STRING, "f": DataTypes.BOOLEAN(), "i8": DataTypes.TINYINT(),
        "i16": DataTypes.SMALLINT(), "i64": DataTypes.BIGINT(), "f32": DataTypes.FLOAT(), "f64": DataTypes.DOUBLE(),
        "n": DataTypes.DECIMAL(10, 2), "b": DataTypes.BYTES(), "d": DataTypes.DATE(), "t": DataTypes.TIME(),
        "ts": DataTypes.TIMESTAMP(3), "a": DataTypes.ARRAY(INT), "m": DataTypes.MAP(STRING, INT), "r": ROW_TYPE,
        "ar": DataTypes.ARRAY(STRING), "aa": DataTypes.ARRAY(DataTypes.ARRAY(INT)), "rows": DataTypes.ARRAY(ROW_TYPE),
    }  # fmt: skip
    first = (
        1, 5, "ab", True, 1, 300, 2**40, 1.5, 2.25, Decimal("1.50"), bytearray(b"\x01a"), dt.date(2020, 2, 29),
        dt.time(1, 2, 3), dt.datetime(2020, 1, 2, 3, 4, 5, 6000), [1, 2], {"k": 1}, Row(7, "z"), ["p", None],
        [[1], [2, 3]], [Row(1, "u"), Row(2, None)],
    )  # fmt: skip
    second: tuple[object, ...] = (
        2, -7, "", False, -128, -1, -5, -0.5, 1e100, Decimal("-99999999.99"), bytearray(), dt.date(1969, 12, 31),
        dt.time(23, 59, 59), dt.datetime(1969, 12, 31, 23, 59, 59), [], {}, Row(None, ""), [], [[]], [],
    )  # fmt: skip
    nothing = (3, *[None] * (len(kinds) - 1))
    schema = DataTypes.ROW([DataTypes.FIELD(name, kind) for name, kind in kinds.items()])
    return t_env.from_elements([first, second, nothing], schema)


def plus(x):
    return None if x is None else x + 1


@udf(result_type=INT)
def decorated(x):
    return None if x is None else x + 1


@udf(result_type="INT")
def typed_by_text(x):
    return None if x is None else x + 1


@udf(input_types=[INT], result_type=INT)
def with_input_types(x):
    return None if x is None else x + 1


@udf(input_types=["INT"], result_type="INT")
def with_input_texts(x):
    return None if x is None else x + 1


@udf(input_types=INT, result_type=INT, deterministic=False, name="named_plus")
def with_everything(x):
    return None if x is None else x + 1


@udf(result_type=INT)
def with_hints(x: int | None) -> int | None:
    return None if x is None else x + 1


@udf(result_type=INT)
def with_a_default(x, y=3):
    return None if x is None else x + y


@udf(result_type=INT)
def of_any_number(*given):
    return sum(item or 0 for item in given)


def twice(function):
    @functools.wraps(function)
    def wrapped(x):
        return None if x is None else 2 * function(x)

    return wrapped


@udf(result_type=INT)
@twice
def wrapped_below(x):
    return x + 1


@udf(result_type=INT)
def recursive(x):
    def fib(n):
        return n if n < 2 else fib(n - 1) + fib(n - 2)

    return None if x is None else fib(abs(x))


@udf(result_type=INT)
def reading_a_global(x):
    return BASE if x is None else x + BASE


class Adding:
    def __init__(self, more):
        self.more = more

    def __call__(self, x):
        return None if x is None else x + self.more

    def add(self, x):
        return None if x is None else x + self.more

    @staticmethod
    def twice(x):
        return None if x is None else 2 * x


class Plain(ScalarFunction):
    def eval(self, x):
        return None if x is None else x + 1


class Opened(ScalarFunction):
    def __init__(self, more=1):
        self.more = more
        self.ready = 0

    def open(self, function_context: FunctionContext):
        self.ready = self.more

    def eval(self, x):
        return None if x is None else x + self.ready


class Inherited(Opened):
    def eval(self, x):
        return super().eval(x)


class OfMany(ScalarFunction):
    def eval(self, *given):
        return sum(item or 0 for item in given)


class Undetermined(ScalarFunction):
    def eval(self, x):
        return 4

    def is_deterministic(self):
        return False


class Later(AsyncScalarFunction):
    async def eval(self, x):
        await asyncio.sleep(0)
        return None if x is None else x + 1


async def later(x):
    await asyncio.sleep(0)
    return None if x is None else x + 1


class WithoutEval(ScalarFunction):
    pass


def ways(more=3):
    """Return the ways to declare a function."""
    v = col("v")
    return {
        "decorated": lambda: decorated(v),
        "a type as text": lambda: typed_by_text(v),
        "input types": lambda: with_input_types(v),
        "input types as text": lambda: with_input_texts(v),
        "one input type, a name, not deterministic": lambda: with_everything(v),
        "hints": lambda: with_hints(v),
        "hints alone": lambda: udf(lambda x: x)(v),
        "a default value": lambda: with_a_default(v),
        "a default value given": lambda: with_a_default(v, lit(5)),
        "any number of values": lambda: of_any_number(v, col("id"), lit(1)),
        "no values": of_any_number,
        "a decorator below": lambda: wrapped_below(v),
        "recursive": lambda: recursive(v),
        "a global": lambda: reading_a_global(v),
        "a lambda": lambda: udf(lambda x: None if x is None else x + 1, result_type=INT)(v),
        "a lambda with positions": lambda: udf(lambda x: x, [INT], INT)(v),
        "a closure": lambda: udf(lambda x: more if x is None else x + more, result_type=INT)(v),
        "a function": lambda: udf(plus, result_type=INT)(v),
        "a partial function": lambda: udf(functools.partial(max, 0), result_type=INT)(col("id")),
        "a partial function with a name": lambda: udf(functools.partial(with_a_name, y=4), result_type=INT)(v),
        "a callable object": lambda: udf(Adding(2), result_type=INT)(v),
        "a bound method": lambda: udf(Adding(2).add, result_type=INT)(v),
        "a static method": lambda: udf(Adding.twice, result_type=INT)(v),
        "a built-in function": lambda: udf(abs, result_type=INT)(col("id")),
        "a class of Python": lambda: udf(str, result_type=STRING)(v),
        "an instance": lambda: udf(Plain(), result_type=INT)(v),
        "an instance with open": lambda: udf(Opened(5), result_type=INT)(v),
        "an instance of a subclass": lambda: udf(Inherited(6), result_type=INT)(v),
        "an instance with any number of values": lambda: udf(OfMany(), result_type=INT)(v, v, v),
        "an instance that is not deterministic": lambda: udf(Undetermined(), result_type=INT)(v),
        "a class instead of an instance": lambda: udf(Plain, result_type=INT)(v),
        "an instance without eval": lambda: udf(WithoutEval(), result_type=INT)(v),
        "a number": lambda: udf(5, result_type=INT)(v),
        "a wrong kind": lambda: udf(plus, result_type=INT, func_type="other")(v),
        "within another": lambda: decorated(typed_by_text(with_hints(v))),
        "within built-in ones": lambda: decorated(v.abs + 1).cast(STRING),
        "of a constant": lambda: decorated(lit(3)),
        "of NULL": lambda: decorated(lit(None, INT)),
        "too few values": decorated,
        "too many values": lambda: decorated(v, v),
        "a value of another type": lambda: with_input_types(col("s")),
        "a wider value": lambda: with_input_types(col("i64")),
        "a narrower value": lambda: with_input_types(col("i8")),
        "raising": lambda: udf(lambda x: 1 // 0, result_type=INT)(v),
        "returning another type": lambda: udf(lambda x: "x", result_type=INT)(v),
    }


def with_a_name(x, y):
    return None if x is None else x + y


def identities():
    """Return a function that returns its value for each type, and some with a result of another type."""
    t = DataTypes
    kinds = {
        "v": INT, "s": STRING, "f": t.BOOLEAN(), "i8": t.TINYINT(), "i16": t.SMALLINT(), "i64": t.BIGINT(),
        "f32": t.FLOAT(), "f64": t.DOUBLE(), "n": t.DECIMAL(10, 2), "b": t.BYTES(), "d": t.DATE(), "t": t.TIME(),
        "ts": t.TIMESTAMP(3), "a": t.ARRAY(INT), "m": t.MAP(STRING, INT), "r": ROW_TYPE, "ar": t.ARRAY(STRING),
        "aa": t.ARRAY(t.ARRAY(INT)), "rows": t.ARRAY(ROW_TYPE),
    }  # fmt: skip
    texts = {
        "v": "INT", "s": "STRING", "n": "DECIMAL(10, 2)", "a": "ARRAY<INT>", "m": "MAP<STRING, INT>",
        "r": "ROW<x INT, y STRING>", "ts": "TIMESTAMP(3)", "b": "BYTES",
    }  # fmt: skip
    found = {f"{name}: the same": _same(name, kind) for name, kind in kinds.items()}
    found |= {f"{name}: the same, type as text": _same(name, kind) for name, kind in texts.items()}
    found |= {f"{name}: repr": _of(name, repr, STRING) for name in kinds}
    return found


def _same(name, kind):
    return _of(name, lambda value: value, kind)


def _of(name, function, kind):
    """Apply a function to a column; PyFlink cannot bring NULLs within values to Python, so that those become texts."""
    made = {"r", "ar", "rows", "aa", "m"} & {name} and kind is not STRING
    return lambda: (
        in_text(udf(function, result_type=kind)(col(name))) if made else udf(function, result_type=kind)(col(name))
    )


def in_text(expression):
    return expression.cast(STRING)


def rows_returned():
    """Return functions that make rows, arrays and maps."""
    v, r = col("v"), col("r")
    nested = DataTypes.ROW([DataTypes.FIELD("k", INT), DataTypes.FIELD("in", ROW_TYPE)])
    return {
        "a Row": lambda: in_text(udf(lambda x: Row(x, str(x)), result_type=ROW_TYPE)(v)),
        "a named Row": lambda: in_text(udf(lambda x: Row(x=x, y=str(x)), result_type=ROW_TYPE)(v)),
        "a tuple": lambda: in_text(udf(lambda x: (x, str(x)), result_type=ROW_TYPE)(v)),
        "a dict": lambda: in_text(udf(lambda x: {"x": x, "y": str(x)}, result_type=ROW_TYPE)(v)),
        "a row in a row": lambda: in_text(udf(lambda x: Row(x, Row(x, "q")), result_type=nested)(v)),
        "a field of a row": lambda: udf(lambda x: Row(x, str(x)), result_type=ROW_TYPE)(v).get("y"),
        "fields by name": lambda: udf(lambda x: None if x is None else x.y, result_type=STRING)(r),
        "fields by position": lambda: udf(lambda x: None if x is None else x[0], result_type=INT)(r),
        "fields by key": lambda: udf(lambda x: None if x is None else x["y"], result_type=STRING)(r),
        "a field as the value": lambda: decorated(r.get("x")),
        "an element as the value": lambda: decorated(col("a").at(1)),
        "a value of a map": lambda: decorated(col("m").at(lit("k"))),
        "an array of a tuple": lambda: in_text(udf(lambda x: [x, None], result_type=DataTypes.ARRAY(INT))(v)),
        "an array of rows": lambda: in_text(udf(lambda x: [Row(x, "e")], result_type=DataTypes.ARRAY(ROW_TYPE))(v)),
        "a map of numbers": lambda: in_text(udf(lambda x: {1: x}, result_type=DataTypes.MAP(INT, INT))(v)),
        "the size of an array": lambda: udf(lambda x: None if x is None else len(x), result_type=INT)(col("a")),
        "the keys of a map": lambda: udf(lambda x: sorted(x or {}), result_type=DataTypes.ARRAY(STRING))(col("m")),
    }


def series():
    """Return functions on pandas data."""
    t = DataTypes

    def of(name, function, kind, **more):
        return lambda: udf(function, result_type=kind, func_type="pandas", **more)(col(name))

    found = {
        f"pandas {name}: the same": of(name, lambda s: s, kind)
        for name, kind in {
            "id": INT, "s": STRING, "f": t.BOOLEAN(), "i64": t.BIGINT(), "f64": t.DOUBLE(), "f32": t.FLOAT(),
            "n": t.DECIMAL(10, 2), "b": t.BYTES(), "d": t.DATE(), "t": t.TIME(), "ts": t.TIMESTAMP(3), "a": t.ARRAY(INT),
        }.items()
    }  # fmt: skip
    add = udf(lambda a, b: a + b, result_type="INT", func_type="pandas")
    return found | {
        "pandas: two series": lambda: add(col("id"), col("id")),
        "pandas: a series and a constant": lambda: add(col("id"), lit(10)),
        "pandas: over another": lambda: add(add(col("id"), lit(1)), col("id")),
        "pandas: over a function of rows": lambda: add(decorated(col("id")), col("id")),
        "pandas: below a function of rows": lambda: decorated(add(col("id"), col("id"))),
        "pandas: a class": lambda: udf(Plus(), result_type=INT, func_type="pandas")(col("id")),
        "pandas: a row as a frame": lambda: udf(lambda r: r.x, result_type=INT, func_type="pandas")(col("r")),
        "pandas: input types": of("id", lambda s: s + 1, INT, input_types=[INT]),
        "pandas: a scalar result": of("id", lambda s: 5, INT),
        "pandas: partial": lambda: udf(functools.partial(minus, y=1), result_type=INT, func_type="pandas")(col("id")),
    }


def minus(x, y):
    return x - y


class Plus(ScalarFunction):
    def eval(self, s):
        return s + 1


@program(config=PROCESS, modes=BOTH)
def shapes_of_declarations(env, t_env):
    return columns(rows(t_env), col("id"), ways())


@program(config=PROCESS, modes=BOTH)
def shapes_of_types(env, t_env):
    return columns(rows(t_env), col("id"), identities())


@program(config=PROCESS, modes=BOTH)
def shapes_of_rows(env, t_env):
    return columns(rows(t_env), col("id"), rows_returned())


@program(config=PROCESS, modes=BOTH)
def shapes_of_pandas(env, t_env):
    return columns(rows(t_env), col("id"), series())


@program(config=PROCESS, modes=BOTH)
def shapes_of_asynchronous_functions(env, t_env):
    t_env.create_temporary_system_function("later_by_name", udf(Later(), result_type=INT))
    v = col("v")
    return columns(
        rows(t_env).where(v == 5),  # with several rows, PyFlink gives results of one to another
        col("id"),
        {
            "async: an instance": lambda: udf(Later(), result_type=INT)(v),
            "async: a function": lambda: udf(later, result_type=INT)(v),
            "async: by name": lambda: call("later_by_name", v),
            "async: of a function of rows": lambda: udf(Later(), result_type=INT)(decorated(v)),
            "async: below a function of rows": lambda: decorated(udf(Later(), result_type=INT)(v)),
            "async: of another": lambda: udf(Later(), result_type=INT)(udf(Later(), result_type=INT)(v)),
            "async: with a default value": lambda: udf(later_default, result_type=INT)(v),
        },
    )


async def later_default(x, y=2):
    return None if x is None else x + y
