"""Generated functions on single rows, and state that all operators on tuples describe alike."""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, Generic, TypeVar

from flintstream.common.time import Time
from flintstream.common.typeinfo import Types
from flintstream.contracts.state import MapStateDescriptor, StateTtlConfig, ValueStateDescriptor
from flintstream.runtime.keys import freeze_key
from flintstream.runtime.selectors import GeneratedSelector
from flintstream.table._deep_stack import deep
from flintstream.table._expressions.codegen import Generator, Source, compile_source
from flintstream.table._expressions.expr import Expr, Ref

if TYPE_CHECKING:
    from typing import TypeAlias

    from typing_extensions import Unpack

    from flintstream.contracts.state import StateDescriptor
    from flintstream.table._functions.user_defined import UserDefinedFunction

    Row: TypeAlias = tuple[object, ...]
    Change: TypeAlias = tuple[Unpack[tuple[object, ...]], int]
    """A row and the kind of its change."""
    from collections.abc import Callable, Sequence

K = TypeVar("K")
V = TypeVar("V")


@deep
def _source(expressions: Sequence[Expr] | Expr) -> Source:
    """Return the code of a function of a row: it returns a tuple of expressions, or the value of a single one."""
    items = [expressions] if isinstance(expressions, Expr) else expressions
    generator = Generator(depth=1)
    generator.load(items)
    values = [generator.value(item) for item in items]
    result = values[0] if isinstance(expressions, Expr) else f"({''.join(f'{value}, ' for value in values)})"
    text = "\n".join([*generator.parts, "def run(r):", *generator.lines, f"    return {result}"])
    return Source(text, generator.names, tuple(generator.functions))


class _Generated(GeneratedSelector, Generic[V]):
    """A function of a row, compiled in the task that calls it first."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._run: Callable[[Row], V] | None = None

    @property
    def functions(self) -> tuple[UserDefinedFunction, ...]:
        """The objects behind Python functions, to be opened and closed."""
        return self._source.functions

    def __getstate__(self) -> dict[str, object]:
        """Leave out the compiled code."""
        return {**self.__dict__, "_run": None}

    def __call__(self, row: Row) -> V:
        """Return the result for a row."""
        return (self._run or self.code())(row)

    def code(self) -> Callable[[Row], V]:
        """Return the compiled function, for loops that call it for each row."""
        if self._run is None:
            self._run = compile_source(self._source)
        return self._run


class RowFunction(_Generated["Row"]):
    """Expressions compiled into one function of a row.

    >>> from flintstream.common._types.data_types import DataTypes
    >>> from flintstream.table._expressions.expr import Ref
    >>> RowFunction([Ref(DataTypes.INT(), 1)])(("a", 5))
    (5,)
    """

    def __init__(self, expressions: Sequence[Expr]) -> None:
        super().__init__(_source(expressions))


class ValueFunction(_Generated[object]):
    """One expression compiled into a function of a row.

    >>> from flintstream.common._types.data_types import DataTypes
    >>> from flintstream.table._expressions.expr import Ref
    >>> ValueFunction(Ref(DataTypes.INT(), 1))(("a", 5))
    5
    """

    def __init__(self, expression: Expr) -> None:
        super().__init__(_source(expression))


def key_of_values(expressions: Sequence[Expr]) -> Callable[[Row], object]:
    """Return a function that takes the key of a row: a single value as it is, several as a tuple.

    Keys without a tuple around them cost less, because loops find the key group of a number by computing it.

    >>> from flintstream.common._types.data_types import DataTypes
    >>> from flintstream.table._expressions.expr import Ref
    >>> name, count = Ref(DataTypes.STRING(), 0), Ref(DataTypes.INT(), 1)
    >>> key_of_values([count])(("a", 5)), key_of_values([count, name])(("a", 5))
    (5, (5, 'a'))
    """
    positions = [expression.index for expression in expressions if isinstance(expression, Ref)]
    if len(positions) == len(expressions):
        return key_at(positions)
    return ValueFunction(expressions[0]) if len(expressions) == 1 else RowFunction(expressions)


def key_at(positions: Sequence[int]) -> Callable[[Row], object]:
    """Return the same for the key that is in some columns of a row.

    >>> key_at([1])(("a", 5)), key_at([1, 0])(("a", 5)), key_at([])(("a", 5))
    (5, (5, 'a'), ())
    """
    return itemgetter(*positions) if positions else itemgetter(slice(0))


def key_columns(key: object, count: int) -> Row:
    """Return the columns of a key of ``count`` values."""
    return key if count != 1 and isinstance(key, tuple) else (key,)


def to_hashable(row: Row) -> object:
    """Return a row as a key of a dictionary, also if it has lists or maps."""
    try:
        hash(row)
    except TypeError:
        return freeze_key(row)
    return row


def map_state(name: str, ttl_ms: int = 0) -> MapStateDescriptor[K, V]:
    """Describe a map by key whose entries expire."""
    descriptor = MapStateDescriptor[K, V](name, Types.PICKLED_BYTE_ARRAY(), Types.PICKLED_BYTE_ARRAY())
    _expire(descriptor, ttl_ms)
    return descriptor


def value_state(name: str, ttl_ms: int = 0) -> ValueStateDescriptor[V]:
    """Describe a value by key that expires."""
    descriptor = ValueStateDescriptor[V](name, Types.PICKLED_BYTE_ARRAY())
    _expire(descriptor, ttl_ms)
    return descriptor


def _expire(descriptor: StateDescriptor, ttl_ms: int) -> None:
    if ttl_ms > 0:
        descriptor.enable_time_to_live(StateTtlConfig.new_builder(Time.milliseconds(ttl_ms)).build())
