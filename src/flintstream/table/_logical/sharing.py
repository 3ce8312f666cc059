"""Equal parts of the plans of a job become one stream, as in Flink: a table that two queries read is read once.

Parts are equal if their nodes have equal fields. Functions are equal if they have the same code and close over equal
values; all other objects count by their identity, so that parts which might differ stay apart.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import partial
from types import FunctionType, MethodType
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from flintstream.common._types.data_types import DataType
from flintstream.options.tables import REUSE_SOURCES, REUSE_SUB_PLANS
from flintstream.table._errors import Place
from flintstream.table._expressions.expr import Expr, is_stable
from flintstream.table._functions.wrappers import FunctionWrapper
from flintstream.table._logical.nodes import Node, Scan

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from flintstream.datastream import DataStream, StreamExecutionEnvironment

active: WeakKeyDictionary[StreamExecutionEnvironment, Sharing] = WeakKeyDictionary()
"""What the plans share that are being translated for an environment."""
_BY_VALUE = (str, bytes, int, type(None), type, Enum, frozenset)
_OPEN = (
    "flintstream.connectors.",
    "flintstream.datastream.connectors.",
    "flintstream.datastream.formats.",
    "flintstream.table._connectors.",
    "flintstream.table._operators.",
)
"""Modules whose objects only hold settings until a job runs."""
_LONGEST = 1_000
"""How many items a list may have that is looked at: rows of ``from_elements`` are many."""
_MOST = 20_000
"""How many objects a plan may have that are looked at."""


class Sharing:
    """The streams of the plans that are translated for one job."""

    def __init__(self, *, sources: bool) -> None:
        """Share sources, too, not only what is computed from them."""
        self._sources = sources
        self._streams: dict[int, DataStream] = {}
        self._numbers: dict[object, int] = {}
        self._known: dict[int, tuple[object, int]] = {}
        """By id: an object, which lives on so that no other one gets its id, and its number."""
        self._needs: dict[int, frozenset[int]] = {}
        """The columns that all plans need, by the number of a table."""
        self._seen: dict[int, Node] = {}
        self._tables: list[Scan] = []
        self.repeats = False
        """Whether plans read a table, or have a part, more than once."""
        self._unstable: set[int] = set()
        self._meets_unstable = False

    def expect(self, node: Node) -> None:
        """Read what this plan needs, too, where another one reads the same table."""
        waiting = [node]
        while waiting:
            found = waiting.pop()
            if id(found) in self._seen:
                self.repeats = True
                continue
            self._seen[id(found)] = found
            waiting += found.inputs
            if isinstance(found, Scan):
                self.repeats |= any(table.name == found.name for table in self._tables)
                self._tables.append(found)

    def _sum_up_needs(self) -> None:
        tables, self._tables = self._tables, []
        for scan in tables if self._sources else ():
            if scan.narrowed is not None:
                table = self._number_of_table(scan)
                self._needs[table] = self._needs.get(table, frozenset()) | _own_need(scan)

    def stream(self, node: Node, env: StreamExecutionEnvironment, make: Callable[[], DataStream]) -> DataStream:
        """Return the stream of an equal node, if there is one, else make it."""
        if not self.repeats:  # nothing can be equal
            return make()
        if self._tables:
            self._sum_up_needs()
        try:
            number = self.number(node)
        except RecursionError:  # it is too deep to be compared
            return make()
        if number in self._unstable or (isinstance(node, Scan) and not self._sources):
            return make()
        found = self._streams.get(number)
        if found is None:
            need = self._find_need(node)
            if isinstance(node, Scan) and node.narrowed is not None and need not in (None, _own_need(node)):
                make = partial(node.narrowed(need), env)
            found = self._streams[number] = make()
        return found

    def _find_need(self, node: object) -> frozenset[int] | None:
        """Return the columns that plans need of a table of which not all are read."""
        if isinstance(node, Scan) and node.narrowed is not None:
            return self._needs.get(self._number_of_table(node))
        return None

    def _number_of_table(self, scan: Scan) -> int:
        return self.number((scan.columns, scan.name, scan.updates, scan.key, scan.lookup, scan.narrowed))

    def number(self, value: object) -> int:
        """Return a number that equal values share. Where something stands in a statement does not count."""
        if isinstance(value, Place):
            value = Place
        known = self._known.get(id(value))
        if known is not None:
            self._meets_unstable |= known[1] in self._unstable
            return known[1]
        if len(self._known) > _MOST:
            return self._intern(("id", id(value)), value)
        outside, self._meets_unstable = self._meets_unstable, _is_unstable(value)
        self._known[id(value)] = value, -1 - len(self._known)  # for what refers to itself
        number = self._intern(self._key(value), value)
        if self._meets_unstable:
            self._unstable.add(number)
        self._meets_unstable |= outside
        return number

    def _intern(self, key: object, value: object) -> int:
        number = self._numbers.setdefault(key, len(self._numbers))
        self._known[id(value)] = value, number
        return number

    def _key(self, value: object) -> object:
        if isinstance(value, _BY_VALUE):
            return type(value), value
        if isinstance(value, float):
            return float, repr(value)
        if isinstance(value, (tuple, list)) and len(value) <= _LONGEST:
            return type(value), self._all(value)
        if isinstance(value, set):
            return set, frozenset(map(self.number, value))
        if isinstance(value, dict):
            return dict, self._all(value), self._all(value.values())
        if isinstance(value, partial):
            return partial, self._all((value.func, value.args, value.keywords))
        if isinstance(value, FunctionType):
            try:
                around = tuple(cell.cell_contents for cell in value.__closure__ or ())
            except ValueError:  # a variable that is not set yet
                return "id", id(value)
            return value.__code__, self._all((around, value.__defaults__, value.__kwdefaults__))
        if isinstance(value, MethodType):
            return MethodType, self._all((value.__func__, value.__self__))
        if self._find_need(value) is not None and isinstance(value, Scan):
            return Scan, self._number_of_table(value)
        if isinstance(value, Node) or (is_dataclass(value) and type(value).__module__.startswith("flintstream.")):
            return type(value), self._all(getattr(value, field.name) for field in fields(value))
        if isinstance(value, DataType) or (type(value).__module__.startswith(_OPEN) and hasattr(value, "__dict__")):
            return type(value), self.number(vars(value))
        return "id", id(value)

    def _all(self, values: Iterable[object]) -> tuple[int, ...]:
        return tuple(map(self.number, values))


def _is_unstable(value: object) -> bool:
    """Return whether an expression or a function may have other results when it is computed again."""
    if isinstance(value, FunctionWrapper):
        return not value._deterministic
    return isinstance(value, Expr) and not is_stable(value)


def _own_need(scan: Scan) -> frozenset[int]:
    return frozenset(range(len(scan.columns))) if scan.need is None else scan.need


@contextmanager
def sharing(env: StreamExecutionEnvironment) -> Iterator[None]:
    """Share streams between the plans that are translated inside the block, unless an option forbids it."""
    configuration = env._configuration
    if env in active or not configuration.get(REUSE_SUB_PLANS):
        yield
        return
    active[env] = Sharing(sources=configuration.get(REUSE_SOURCES))
    try:
        yield
    finally:
        del active[env]


def expect(nodes: Iterable[Node], env: StreamExecutionEnvironment) -> None:
    """Announce the plans that will be translated, so that a table which several read has the columns of all."""
    found = active.get(env)
    if found is not None:
        for node in nodes:
            found.expect(node)
