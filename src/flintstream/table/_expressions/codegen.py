"""Code for a whole projection and filter: one Python function for each operator, compiled in the task.

>>> from flintstream.table._expressions.expr import Ref
>>> from flintstream.common._types.data_types import DataTypes
>>> print(source([Ref(DataTypes.INT(), 1)], None, stamped=False).text)
def run(records, append):
    for r in records:
        append((r[1],))
"""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date, time
from decimal import Decimal
from functools import cache
from typing import TYPE_CHECKING, Any

from flintstream.table._deep_stack import deep
from flintstream.table._expressions import plain_values
from flintstream.table._expressions.expr import Call, Const, Expr, Ref, is_repeatable, is_stable, may_be_none
from flintstream.table._expressions.objects import bitmaps, variants
from flintstream.table._expressions.plain_values import Fields
from flintstream.table._expressions.times import points as time_points

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from flintstream.table._functions.user_defined import UserDefinedFunction

DEEPEST = 20
"""How deeply blocks may be nested: CPython takes 100 levels, and what is deeper becomes a function."""
_PLAIN = (bool, type(None))
"""Values that code may contain: comparing others with ``is`` would be a SyntaxWarning."""
_SCALARS = (*_PLAIN, str, bytes, int, float, Decimal, date, time)
"""Values that cannot change, so that all rows may have the same one."""


@dataclass(frozen=True)
class Source:
    """The text of a function, and the values and Python functions that it names."""

    text: str
    names: dict[str, Any]
    functions: tuple[UserDefinedFunction, ...]
    """The objects behind Python functions, to be opened and closed."""


class Generator:
    """Writes the statements of a loop over records."""

    def __init__(self, depth: int = 2, *, awaits: bool = False) -> None:
        self.awaits = awaits
        """Whether the code is a coroutine, which awaits asynchronous functions."""
        self.lines: list[str] = []
        self.names: dict[str, object] = {}
        self.functions: list[UserDefinedFunction] = []
        self.parts: list[str] = []
        """The functions that the code calls: expressions that are too deep or too long to be within it."""
        self._ids: dict[int, str] = {}
        self._constants: dict[str, object] = {repr(value): value for value in (None, True, False)}
        """The values that names and literals stand for in every record."""
        self._equal: dict[tuple[type, str], str] = {}
        self._fields: dict[tuple[Fields, str], list[str]] = {}
        self._complete: set[str] = set()
        """The functions that take no further fields."""
        self._depth = depth
        self._count = 0
        self._columns: dict[int, str] = {}
        self._shared: list[dict[str | Expr, str]] = [{}]
        """Per block around the next statement: variables with the value of some code or expression."""

    def line(self, text: str) -> None:
        """Write a statement."""
        self.lines.append("    " * self._depth + text)

    def indent(self, by: int = 1) -> None:
        """Begin or, with -1, end a block."""
        self._depth += by
        self._shared = [*self._shared, *({} for _ in range(by))] if by > 0 else self._shared[: len(self._shared) + by]

    def new(self) -> str:
        """Return a new variable."""
        self._count += 1
        return f"v{self._count}"

    def known(self, prefix: str, value: object) -> str:
        """Return a global name for a value."""
        name = self._ids.get(id(value))
        if name is None:
            name = self._ids[id(value)] = f"{prefix}{len(self.names)}"
            self.names[name] = value
        return name

    def constant(self, value: object) -> str:
        """Return a name or literal for a value that all records have."""
        if type(value) in _PLAIN:
            return repr(value)
        if type(value) not in _SCALARS:
            return self.known("k", value)
        key = type(value), repr(value)
        name = self._equal.get(key)
        if name is None:
            name = self._equal[key] = self.known("k", value)
            self._constants[name] = value
        return name

    def value_of(self, name: str) -> object:
        """Return the value that a name stands for in every record; None if it varies."""
        return self._constants.get(name)

    def function(self, write: Callable[[Generator], None], reads: Sequence[Expr]) -> str:
        """Write a function of the record ``r`` that computes something from expressions, and return a call of it."""
        inner = Generator(depth=1, awaits=self.awaits)
        inner.names, inner.functions, inner.parts, inner._ids = self.names, self.functions, self.parts, self._ids
        inner._constants, inner._equal = self._constants, self._equal
        inner._fields, inner._complete = self._fields, self._complete
        inner.load(reads)
        write(inner)
        name = f"part{len(self.parts)}"
        head, call = ("async def", f"await {name}(r)") if self.awaits else ("def", f"{name}(r)")
        self.parts.append("\n".join([f"{head} {name}(r):", *inner.lines]))
        return call

    def load(self, expressions: Sequence[Expr]) -> None:
        """Put columns that are read more than once, or by functions, into variables."""
        inner = Counter(
            ref.index for expression in expressions if not isinstance(expression, Ref) for ref in refs(expression)
        )
        for index in sorted(inner):
            self._columns[index] = f"c{index}"
            self.line(f"c{index} = r[{index}]")

    def value(self, expression: Expr) -> str:
        """Write the code of an expression, and return a variable or literal with its value."""
        chain: list[Call] = []
        while isinstance(expression, Call) and expression.strict and expression.arguments:
            chain.append(expression)  # of a long sum, each call is the first argument of the next one
            expression = expression.arguments[0]
        name = self._first(expression)
        for call in reversed(chain):
            name = self._call(call, [name, *map(self.value, call.arguments[1:])])
        return name

    def _first(self, expression: Expr) -> str:
        if isinstance(expression, Ref):
            return self._columns.get(expression.index, f"r[{expression.index}]")
        if isinstance(expression, Const):
            return self.constant(expression.value)
        if not isinstance(expression, Call):
            raise TypeError(f"no code for {expression!r}")
        if expression.strict:
            return self._call(expression, [])
        if self._depth > DEEPEST:
            return self.put(self.function(lambda inner: inner.line(f"return {inner.value(expression)}"), [expression]))
        known = next((block[expression] for block in self._shared if expression in block), None)
        if known is not None:
            return known
        code = expression.emit(self, expression, ())
        name = code if code.isidentifier() else self.put(code)
        if is_stable(expression):
            self._shared[-1][expression] = name
        return name

    def _call(self, call: Call, names: list[str]) -> str:
        risky = [
            name
            for name, argument in zip(names, call.arguments, strict=True)
            if may_be_none(argument) and self.value_of(name) is None
        ]
        if "None" in names:
            return "None"
        written = len(self.lines)
        code = call.emit(self, call, names)
        if not is_repeatable(call):
            return self.put(_unless_none(risky, code))
        if written == len(self.lines) and all(name in self._constants for name in names):
            folded = self._fold(code)
            if folded is not None:
                return folded
        return self.share(_unless_none(risky, code))

    def _fold(self, code: str) -> str | None:
        """Return the constant that code is; None if it fails, as it is to fail only if there is a record."""
        with suppress(Exception):
            value = compile_source(Source(f"def run(): return {code}", self.names, ()))()
            return self.constant(value) if type(value) in _SCALARS else None
        return None

    def want(self, fields: Fields, text: str, field: tuple[int, int]) -> tuple[str, int]:
        """Return the name of the function that takes fields out of a text, and the place of a field among them."""
        names = self._fields.setdefault((fields, text), [])
        for name in names:
            known = self.names[name]
            if isinstance(known, Fields) and field in known.wanted:
                return name, known.wanted.index(field)
        if not names or names[-1] in self._complete:
            names.append(f"fields{len(self.names)}")
            self.names[names[-1]] = fields
        last = self.names[names[-1]]
        wanted = last.wanted if isinstance(last, Fields) else ()
        self.names[names[-1]] = replace(fields, wanted=(*wanted, field))
        return names[-1], len(wanted)

    def complete_fields(self) -> None:
        """Let other functions take further fields, because a row that a condition drops does not need them."""
        self._complete.update(name for names in self._fields.values() for name in names)

    def share(self, code: str) -> str:
        """Return a variable with the value of code that has the same value wherever it stands, written once."""
        for block in self._shared:
            if code in block:
                return block[code]
        name = self._shared[-1][code] = self.put(code)
        return name

    def put(self, code: str) -> str:
        """Assign code to a new variable, and return it."""
        name = self.new()
        self.line(f"{name} = {code}")
        return name


def _unless_none(names: Sequence[str], code: str) -> str:
    """Return code that is None if one of some variables is."""
    return f"None if {' or '.join(f'{name} is None' for name in dict.fromkeys(names))} else {code}" if names else code


def conjuncts(condition: Expr | None) -> Sequence[Expr]:
    """Return the conditions that all have to hold."""
    if condition is None:
        return ()
    return condition.arguments if isinstance(condition, Call) and condition.name == "AND" else (condition,)


def refs(expression: Expr) -> Iterator[Ref]:
    """Yield the columns that an expression reads."""
    waiting = [expression]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Ref):
            yield part
        elif isinstance(part, Call):
            waiting += reversed(part.arguments)


@deep
def source(
    projection: Sequence[Expr] | Expr | None, condition: Expr | None, *, stamped: bool, awaits: bool = False
) -> Source:
    """Return the function that filters and projects records. It is a coroutine if it ``awaits`` other ones.

    Results are tuples of a projection, or values if it is a single expression; None keeps records as they are.
    """
    generator = Generator(awaits=awaits)
    head = "def run(records, append, stamp):" if stamped else "def run(records, append):"
    head = f"async {head}" if awaits else head
    loop = "    for r, t in records:" if stamped else "    for r in records:"
    items = [projection] if isinstance(projection, Expr) else projection or ()
    generator.load([*items, *(() if condition is None else (condition,))])
    for part in conjuncts(condition):
        generator.line(f"if {generator.value(part)} is not True: continue")
    generator.complete_fields()
    values = [generator.value(item) for item in items]
    if projection is None:
        result = "r"
    elif isinstance(projection, Expr):
        (result,) = values
    else:
        result = f"({values[0]},)" if len(values) == 1 else f"({', '.join(values)})"
    generator.line(f"append({result})")
    if stamped:
        generator.line("stamp(t)")
    text = "\n".join([*generator.parts, head, loop, *generator.lines])
    return Source(text, generator.names, tuple(generator.functions))


@cache
def _helpers() -> dict[str, object]:
    """Return the functions that code calls."""
    from flintstream.table._expressions import collection_helpers, helpers, number_helpers, text_helpers
    from flintstream.table._expressions.json import helpers as json_helpers
    from flintstream.table._expressions.patterns import helpers as pattern_helpers
    from flintstream.table._expressions.times import helpers as time_helpers
    from flintstream.table._expressions.times import patterns as time_patterns
    from flintstream.table._expressions.times import texts as time_texts

    rooms = (
        *(helpers, json_helpers, number_helpers, pattern_helpers, text_helpers, time_helpers, time_texts),
        *(collection_helpers, time_patterns, time_points, bitmaps, variants, plain_values),
    )
    return {name: value for room in rooms for name, value in vars(room).items()}


def compile_source(code: Source) -> Any:
    """Return the function."""
    named = {name: value.open() if isinstance(value, Fields) else value for name, value in code.names.items()}
    scope = {**_helpers(), **named}
    exec(compile(code.text, "<generated for a table>", "exec"), scope)  # noqa: S102 - our own code
    return scope["run"]
