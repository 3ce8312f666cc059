"""Projections of fields of a text: compiled loops take the fields of a whole block, and code computes the rest.

A table of lines has such fields, and code that takes them out of one line at a time costs more than what follows.
"""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from flintstream.table._deep_stack import deep
from flintstream.table._expressions.codegen import Generator, Source, compile_source, conjuncts, refs, source
from flintstream.table._expressions.expr import Call, Const, Expr, Ref, is_stable
from flintstream.table._expressions.fields import MILLIS_WITHIN_YEARS, bits_of_integer, is_field
from flintstream.table._expressions.functions.times import in_millis
from flintstream.table._expressions.helpers import parse_integer
from flintstream.table._expressions.plain_values import FieldRows
from flintstream.table._expressions.times.helpers import FIRST_MS, LAST_MS
from flintstream.table._types.rules import INTEGERS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    Projection: TypeAlias = Sequence[Expr] | Expr
    Rows: TypeAlias = tuple[list[object], list[int] | None]


@dataclass(frozen=True)
class FieldSource(Source):
    """Code that also has another form: a loop takes fields, and the code of ``rest`` computes rows from them.

    The other form computes all fields of a row, even those that a condition leaves out. Where it fails, the first form
    decides whether the row has an error.
    """

    taken: FieldRows
    rest: Source | None
    """The code of rows of fields; None if these are the results."""


class _Text(NamedTuple):
    """The column of a text, and what is between its fields."""

    column: int
    separator: str


class _Field(NamedTuple):
    text: _Text
    position: int
    bits: int
    """Those of the number that it is read as; 0 for the text."""


class _Moment(NamedTuple):
    """A time, whose ms are a field."""

    field: _Field


def field_source(projection: Projection, condition: Expr | None, *, stamped: bool) -> Source:
    """Return the code of a projection and a filter, with its other form if they read fields of a text."""
    return with_fields(source(projection, condition, stamped=stamped), projection, condition, stamped=stamped)


@deep
def with_fields(plain: Source, projection: Projection, condition: Expr | None, *, stamped: bool) -> Source:
    """Return the code of a projection and a filter with its other form, if it has one."""
    items = [projection] if isinstance(projection, Expr) else projection
    everything = [*items, *conjuncts(condition)]
    if plain.functions or not all(map(is_stable, everything)):
        return plain
    found = Counter(field.text for item in everything for field in _fields(item))
    if not found:
        return plain
    split = _Split(found.most_common(1)[0][0])
    if isinstance(projection, Expr):
        made: tuple[FieldRows, Source | None] | None = split.values(projection, condition)
    else:
        made = split.rows(projection, condition, stamped=stamped)
    return plain if made is None else FieldSource(plain.text, plain.names, plain.functions, *made)


def _constant_of(expression: Expr) -> object:
    """Return the value of an expression in every row; None if it varies."""
    if any(True for _ in refs(expression)):
        return None
    generator = Generator()
    return generator.value_of(generator.value(expression))


def _field_of(expression: Expr) -> _Field | None:
    bits = bits_of_integer(expression)
    taken = expression.arguments[0] if bits and isinstance(expression, Call) else expression
    if not isinstance(taken, Call) or not is_field(taken):
        return None
    text, separator, position = taken.arguments
    if not isinstance(text, Ref) or type(separator.type) in INTEGERS:
        return None
    known, place = _constant_of(separator), _constant_of(position)
    if not isinstance(known, str) or len(known) != 1 or not isinstance(place, int) or place < 0:
        return None
    return _Field(_Text(text.index, known), place, bits)


def _moment_of(expression: Expr) -> _Field | None:
    """Return the field whose number is the ms of a time."""
    if not isinstance(expression, Call) or expression.name != "TO_TIMESTAMP_LTZ":
        return None
    ms = in_millis(expression)
    within = isinstance(ms, Call) and ms.name == MILLIS_WITHIN_YEARS
    field = _field_of(ms.arguments[0]) if isinstance(ms, Call) and within else None
    return field if field is not None and field.bits else None


def _fields(expression: Expr) -> list[_Field]:
    """Return the fields that an expression reads."""
    waiting, found = [expression], []
    while waiting:
        part = waiting.pop()
        field = _field_of(part)
        if field is not None:
            found.append(field)
        elif isinstance(part, Call):
            waiting += part.arguments
    return found


class _Split:
    """An expression, or several, in two parts: what takes the fields of a text, and what computes the rest."""

    def __init__(self, text: _Text) -> None:
        self.text = text
        self.prefix: str | None = None
        self.places: dict[object, int] = {}
        """The positions in a row of its fields, and of other columns by their index."""

    def values(self, item: Expr, condition: Expr | None) -> tuple[FieldRows, None] | None:
        """Return what makes the values of a single field, perhaps as ms of years that times can have."""
        bounds = None
        if isinstance(item, Call) and item.name == MILLIS_WITHIN_YEARS:
            bounds, (item,) = (FIRST_MS, LAST_MS), item.arguments
        field = _field_of(item)
        if field is None or self._leave_prefix(condition):
            return None
        return self._take([field], (0,), bounds=bounds, single=True), None

    def rows(
        self, items: Sequence[Expr], condition: Expr | None, *, stamped: bool
    ) -> tuple[FieldRows, Source | None] | None:
        """Return what makes the rows of fields, and the code of the rest."""
        others = self._leave_prefix(condition)
        moments = [_moment_of(item) for item in items]
        fields = [_field_of(item) or moment for item, moment in zip(items, moments, strict=True)]
        simple = all(
            (field is not None and field.text == self.text)
            or isinstance(item, Ref)
            or (isinstance(item, Const) and item.value is None)
            for field, item in zip(fields, items, strict=True)
        )
        if not others and simple:
            places = [i for i, field in enumerate(fields) if field is not None]
            kept = tuple(
                (i, item.index if isinstance(item, Ref) else -1, None)
                for i, item in enumerate(items)
                if fields[i] is None
            )
            shown = tuple(i for i, moment in enumerate(moments) if moment is not None)
            return self._take([f for f in fields if f is not None], tuple(places), kept, moments=shown), None
        projection = [self._move(item) for item in items]
        left = [self._move(item) for item in others]
        if len(left) > 1 and isinstance(condition, Call):
            condition = replace(condition, arguments=tuple(left))
        else:
            condition = left[0] if left else None
        wanted = [(key, place) for key, place in self.places.items() if isinstance(key, (_Field, _Moment))]
        kept = tuple((place, key, None) for key, place in self.places.items() if isinstance(key, int))
        read = [key.field if isinstance(key, _Moment) else key for key, _ in wanted]
        shown = tuple(place for key, place in wanted if isinstance(key, _Moment))
        taken = self._take(read, tuple(place for _, place in wanted), kept, moments=shown)
        return taken, source(projection, condition, stamped=stamped)

    def _take(
        self,
        fields: Sequence[_Field],
        places: tuple[int, ...],
        kept: tuple[tuple[int, int, object], ...] = (),
        *,
        bounds: tuple[int, int] | None = None,
        single: bool = False,
        moments: tuple[int, ...] = (),
    ) -> FieldRows:
        wanted = tuple((field.position, field.bits) for field in fields)
        column, separator = self.text
        return FieldRows(column, separator, wanted, places, kept, self.prefix, bounds, single, moments)

    def _leave_prefix(self, condition: Expr | None) -> list[Expr]:
        """Return the conditions without one on how the text begins, which is kept."""
        left = []
        for part in conjuncts(condition):
            prefix = self._prefix_of(part)
            if prefix is None or self.prefix is not None:
                left.append(part)
            else:
                self.prefix = prefix
        return left

    def _prefix_of(self, part: Expr) -> str | None:
        if (
            not isinstance(part, Call)
            or part.name != "LIKE"
            or part.arguments[0] != Ref(part.arguments[0].type, self.text.column)
        ):
            return None
        pattern = _constant_of(part.arguments[1])
        if not isinstance(pattern, str) or not pattern.endswith("%"):
            return None
        prefix = pattern.rstrip("%")
        return None if not prefix or {*prefix} & {"%", "_", "\\"} else prefix

    def _move(self, expression: Expr) -> Expr:
        """Return an expression on the rows of fields."""
        field = _field_of(expression)
        if field is not None and field.text == self.text:
            return Ref(expression.type.nullable(), self.places.setdefault(field, len(self.places)))
        moment = _moment_of(expression)
        if moment is not None and moment.text == self.text:
            key = _Moment(moment)
            return Ref(expression.type.nullable(), self.places.setdefault(key, len(self.places)))
        if isinstance(expression, Ref):
            return Ref(expression.type, self.places.setdefault(expression.index, len(self.places)))
        if isinstance(expression, Call) and expression.arguments:
            return replace(expression, arguments=tuple(map(self._move, expression.arguments)))
        return expression


class FieldLoop:
    """Runs the other form of code over blocks."""

    def __init__(self, code: Source) -> None:
        """Take the code; without another form, there is nothing to run."""
        self._take = code.taken.open(parse_integer) if isinstance(code, FieldSource) else None
        rest = code.rest if isinstance(code, FieldSource) and self._take is not None else None
        self._rest = None if rest is None else compile_source(rest)

    def run(self, values: list[object], timestamps: list[int] | None) -> Rows | None:
        """Return the results and their timestamps; None if the code that has one form must compute them."""
        if self._take is None:
            return None
        with suppress(Exception):  # which only counts if the record fails in order
            rows, stamps = self._take(values, timestamps)
            if self._rest is None:
                return rows, stamps
            made: list[object] = []
            if stamps is None:
                self._rest(rows, made.append)
                return made, None
            marks: list[int] = []
            self._rest(zip(rows, stamps, strict=True), made.append, marks.append)
            return made, marks
        return None
