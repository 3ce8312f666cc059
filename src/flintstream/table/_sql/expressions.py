"""From sqlglot's trees of expressions to our syntax."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

from flintstream.common import _datatypes as t
from flintstream.table._errors import SqlError, at, unsupported
from flintstream.table._expressions import helpers
from flintstream.table._expressions import syntax as s
from flintstream.table._expressions.types import IntervalType

if TYPE_CHECKING:
    from flintstream.table._sql.dialect import Parsed

_BINARY = {
    "Add": "+", "Sub": "-", "Mul": "*", "Div": "/", "Mod": "%", "EQ": "=", "NEQ": "<>", "LT": "<", "LTE": "<=", "GT": ">",  # noqa: E501
    "GTE": ">=", "And": "AND", "Or": "OR", "Like": "LIKE", "DPipe": "||", "NullSafeEQ": "IS NOT DISTINCT FROM",
    "NullSafeNEQ": "IS DISTINCT FROM", "SimilarTo": "SIMILAR TO", "StrPosition": "POSITION",
}  # fmt: skip
_NULLARY = {
    "CurrentTimestamp": "CURRENT_TIMESTAMP", "CurrentDate": "CURRENT_DATE", "CurrentTime": "CURRENT_TIME",
    "Localtimestamp": "LOCALTIMESTAMP", "Localtime": "LOCALTIME", "LocalTimestamp": "LOCALTIMESTAMP",
}  # fmt: skip
_MS = {"SECOND": 1000, "MINUTE": 60_000, "HOUR": 3_600_000, "DAY": 86_400_000, "WEEK": 604_800_000}
_MONTHS = {"MONTH": 1, "QUARTER": 3, "YEAR": 12}


class ExpressionReader:
    """Converts expressions of one query."""

    def __init__(self, parsed: Parsed) -> None:
        self.parsed = parsed

    def read(self, node: Any) -> s.Syntax:
        """Return the syntax of an expression.

        Raises:
            SqlError: There is no such expression in Flink.
        """
        kind = type(node).__name__
        place = self.parsed.place(node)
        method = getattr(self, f"_{kind.lower()}", None)
        if method is not None:
            found: s.Syntax = method(node, place)
            return found
        if kind in _BINARY:
            return s.Apply(place, _BINARY[kind], (self.read(node.this), self.read(node.expression)))
        if kind in _NULLARY:
            return s.Apply(place, _NULLARY[kind], ())
        if kind in {"Window", "Subquery", "Select", "Exists"}:
            what = {"Window": "OVER", "Exists": "EXISTS"}.get(kind, "a query within an expression")
            raise unsupported(what, place, "join or window the streams before")
        raise SqlError(f"{node.sql()}{at(place)} is not an expression that flintstream knows ({kind})")

    def _all(self, nodes: Any) -> tuple[s.Syntax, ...]:
        return tuple(self.read(each) for each in nodes)

    def _column(self, node: Any, place: s.Place | None) -> s.Syntax:
        names = tuple(part.name for part in node.parts)
        if type(node.this).__name__ == "Star":
            return s.Star(place, names[0] if len(names) > 1 else None)
        return s.Name(place, names)

    def _dot(self, node: Any, place: s.Place | None) -> s.Syntax:
        inner = self.read(node.this)
        if isinstance(inner, s.Name):
            return s.Name(inner.place, (*inner.parts, node.name))
        key = s.Value(place, node.expression.name, t.CharType(max(len(node.expression.name), 1), False))
        return s.Apply(place, "GET", (inner, key))

    def _star(self, _: Any, place: s.Place | None) -> s.Syntax:
        return s.Star(place)

    def _alias(self, node: Any, place: s.Place | None) -> s.Syntax:
        return s.Alias(place, self.read(node.this), (node.alias,))

    def _paren(self, node: Any, _: s.Place | None) -> s.Syntax:
        return self.read(node.this)

    def _literal(self, node: Any, place: s.Place | None) -> s.Syntax:
        text = node.this
        if node.is_string:
            return s.Value(place, text, t.CharType(max(len(text), 1), False))
        return number(text, place)

    def _boolean(self, node: Any, place: s.Place | None) -> s.Syntax:
        return s.Value(place, bool(node.this), t.BooleanType(False))

    def _null(self, _: Any, place: s.Place | None) -> s.Syntax:
        return s.Value(place, None, t.NullType())

    def _neg(self, node: Any, place: s.Place | None) -> s.Syntax:
        return s.Apply(place, "-", (self.read(node.this),))

    def _not(self, node: Any, place: s.Place | None) -> s.Syntax:
        if type(node.this).__name__ == "Is":
            return self._is(node.this, place, negated=True)
        return s.Apply(place, "NOT", (self.read(node.this),))

    def _is(self, node: Any, place: s.Place | None, *, negated: bool = False) -> s.Syntax:
        other = node.expression
        word = "NULL" if type(other).__name__ == "Null" else "TRUE" if other.this else "FALSE"
        return s.Apply(place, f"IS {'NOT ' if negated else ''}{word}", (self.read(node.this),))

    def _cast(self, node: Any, place: s.Place | None, *, lenient: bool = False) -> s.Syntax:
        if not node.to.expressions:
            return self._typed_literal(node, place)
        index = int(node.to.expressions[0].this.this)
        return s.Convert(place, self.read(node.this), self.parsed.types[index], lenient)

    def _trycast(self, node: Any, place: s.Place | None) -> s.Syntax:
        return self._cast(node, place, lenient=True)

    def _typed_literal(self, node: Any, place: s.Place | None) -> s.Syntax:
        text, word = node.this.name, node.to.this.name
        try:
            if word == "DATE":
                return s.Value(place, helpers.parse_date(text), t.DateType(False))
            if word == "TIME":
                return s.Value(place, helpers.parse_time(text), t.TimeType(0, False))
            digits = len(text.partition(".")[2])
            return s.Value(place, helpers.parse_timestamp(text, 9), t.TimestampType(min(digits, 9), False))
        except ValueError as error:
            raise SqlError(f"{error}{at(place)}") from error

    def _interval(self, node: Any, place: s.Place | None) -> s.Syntax:
        unit = "" if node.args.get("unit") is None else node.args["unit"].name.upper().rstrip("S")
        text = node.this.name
        if unit in _MONTHS:
            return s.Value(place, int(text) * _MONTHS[unit], IntervalType(True, False))
        if unit not in _MS:
            raise SqlError(f"INTERVAL{at(place)} has no unit '{unit}'")
        return s.Value(place, int(Decimal(text) * _MS[unit]), IntervalType(False, False))

    def _case(self, node: Any, place: s.Place | None) -> s.Syntax:
        subject = None if node.this is None else self.read(node.this)
        parts: list[s.Syntax] = []
        for each in node.args["ifs"]:
            condition = self.read(each.this)
            if subject is not None:
                condition = s.Apply(condition.place, "=", (subject, condition))
            parts += [condition, self.read(each.args["true"])]
        default = node.args.get("default")
        parts.append(s.Value(place, None, t.NullType()) if default is None else self.read(default))
        return s.Apply(place, "CASE", tuple(parts))

    def _if(self, node: Any, place: s.Place | None) -> s.Syntax:
        default = node.args.get("false")
        otherwise = s.Value(place, None, t.NullType()) if default is None else self.read(default)
        return s.Apply(place, "IF", (self.read(node.this), self.read(node.args["true"]), otherwise))

    def _between(self, node: Any, place: s.Place | None) -> s.Syntax:
        parts = (self.read(node.this), self.read(node.args["low"]), self.read(node.args["high"]))
        return s.Apply(place, "BETWEEN", parts)

    def _in(self, node: Any, place: s.Place | None) -> s.Syntax:
        if node.args.get("query") is not None:
            raise unsupported("IN with a query", place, "join the streams before")
        return s.Apply(place, "IN", (self.read(node.this), *self._all(node.expressions)))

    def _escape(self, node: Any, place: s.Place | None) -> s.Syntax:
        like = node.this
        return s.Apply(
            place, "LIKE ESCAPE", (self.read(like.this), self.read(like.expression), self.read(node.expression))
        )

    def _anonymous(self, node: Any, place: s.Place | None) -> s.Syntax:
        name = node.name
        if name.upper() in {"TIMESTAMPDIFF", "TIMESTAMPADD"}:
            unit, *others = node.expressions
            word = unit.name.upper().rstrip("S")
            return s.Apply(place, name, (s.Value(place, word, t.CharType(len(word), False)), *self._all(others)))
        return s.Apply(place, name, self._all(node.expressions))

    def _extract(self, node: Any, place: s.Place | None) -> s.Syntax:
        unit = node.this.name.upper()
        return s.Apply(
            place, "EXTRACT", (s.Value(place, unit, t.CharType(len(unit), False)), self.read(node.expression))
        )

    def _trim(self, node: Any, place: s.Place | None) -> s.Syntax:
        where = (node.args.get("position") or "BOTH").upper()
        chars = node.args.get("expression")
        given = s.Value(place, " ", t.CharType(1, False)) if chars is None else self.read(chars)
        return s.Apply(place, f"TRIM_{where}", (self.read(node.this), given))

    def _substring(self, node: Any, place: s.Place | None) -> s.Syntax:
        parts = (node.this, node.args.get("start"), node.args.get("length"))
        return s.Apply(place, "SUBSTRING", self._all(each for each in parts if each is not None))

    def _strposition(self, node: Any, place: s.Place | None) -> s.Syntax:
        return s.Apply(place, "POSITION", (self.read(node.args["substr"]), self.read(node.this)))

    def _tuple(self, node: Any, place: s.Place | None) -> s.Syntax:
        return s.Apply(place, "ROW", self._all(node.expressions))

    def _bracket(self, node: Any, place: s.Place | None) -> s.Syntax:
        return s.Apply(place, "ITEM", (self.read(node.this), self.read(node.expressions[0])))

    def _array(self, node: Any, place: s.Place | None) -> s.Syntax:
        return s.Apply(place, "ARRAY", self._all(node.expressions))

    def _map(self, node: Any, place: s.Place | None) -> s.Syntax:
        keys, values = node.args["keys"].expressions, node.args["values"].expressions
        pairs = [part for pair in zip(keys, values, strict=True) for part in pair]
        return s.Apply(place, "MAP", self._all(pairs))

    def _tomap(self, node: Any, place: s.Place | None) -> s.Syntax:
        return s.Apply(place, "MAP", self._all(node.this.expressions))


def number(text: str, place: s.Place | None) -> s.Value:
    """Return a number: INT or BIGINT if whole, DECIMAL with a point, DOUBLE with an exponent."""
    if "e" in text.lower():
        return s.Value(place, float(text), t.DoubleType(False))
    if "." in text:
        value = Decimal(text)
        scale = max(-int(value.as_tuple().exponent), 0)
        return s.Value(place, value, t.DecimalType(max(len(value.as_tuple().digits), scale), scale, False))
    whole = int(text)
    if whole < 1 << 31:
        return s.Value(place, whole, t.IntType(False))
    if whole < 1 << 63:
        return s.Value(place, whole, t.BigIntType(False))
    return s.Value(place, Decimal(whole), t.DecimalType(len(text), 0, False))
