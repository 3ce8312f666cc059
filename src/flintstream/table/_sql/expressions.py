"""From sqlglot's trees of expressions to our syntax."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from flintstream.common._types import data_types as t
from flintstream.table._errors import SqlError, at, unsupported
from flintstream.table._expressions import helpers
from flintstream.table._expressions.aggregates import AGGREGATES
from flintstream.table._sql.dialect import DIFFERENCES
from flintstream.table._sql.ordering import window_of
from flintstream.table._syntax import scalar as s
from flintstream.table._syntax.literals import interval, number
from flintstream.table._types.rules import text_type

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlglot.expressions import Expr

    from flintstream.table._errors import Place
    from flintstream.table._sql.dialect import Parsed

_BINARY = {
    "Add": "+", "Sub": "-", "Mul": "*", "Div": "/", "Mod": "%", "EQ": "=", "NEQ": "<>", "LT": "<", "LTE": "<=", "GT": ">",  # noqa: E501
    "GTE": ">=", "And": "AND", "Or": "OR", "Like": "LIKE", "DPipe": "||", "NullSafeEQ": "IS NOT DISTINCT FROM",
    "NullSafeNEQ": "IS DISTINCT FROM", "SimilarTo": "SIMILAR TO", "StrPosition": "POSITION",
}  # fmt: skip
_CHAINED = {"Add", "Sub", "Mul", "Div", "Mod", "And", "Or", "DPipe"}
_NULLARY = {
    "CurrentTimestamp": "CURRENT_TIMESTAMP", "CurrentDate": "CURRENT_DATE", "CurrentTime": "CURRENT_TIME",
    "Localtimestamp": "LOCALTIMESTAMP", "Localtime": "LOCALTIME", "LocalTimestamp": "LOCALTIMESTAMP",
}  # fmt: skip
_WITHOUT_PARENTHESES = {"LOCALTIMESTAMP", "LOCALTIME", "CURRENT_ROW_TIMESTAMP"}
_UNSUPPORTED = {
    "Exists": "EXISTS", "Subquery": "a subquery within an expression", "Select": "a subquery within an expression",
}  # fmt: skip
_QUANTIFIED = {"ANY": "OR", "ALL": "AND"}
_PARTS = ("this", "expression", "expressions", "safe")
_READ: dict[str, tuple[str, ...]] = {
    "Column": ("table", "db", "catalog"), "Identifier": ("quoted",), "Literal": ("is_string",), "Cast": ("to",),
    "TryCast": ("to",), "Interval": ("unit",), "Case": ("ifs", "default"), "If": ("true", "false"),
    "Between": ("low", "high", "symmetric"), "In": ("query",), "Trim": ("position",), "Substring": ("start", "length"),
    "StrPosition": ("substr",), "Map": ("keys", "values"), "Alias": ("alias",), "Overlay": ("from_", "for_"),
    "Floor": ("to", "decimals"), "Ceil": ("to", "decimals"), "Escape": (), "Dot": (),
    "JSONObjectAgg": ("null_handling",), "JSONArrayAgg": ("null_handling",),
}  # fmt: skip
"""The parts of each kind of expression that its method reads, besides ``_PARTS``."""


class ExpressionReader:
    """Converts expressions of one query."""

    def __init__(self, parsed: Parsed, functions: Mapping[str, Any] | None = None) -> None:
        """Take the query, and the functions of the program by name."""
        self.parsed = parsed
        self.functions = functions or {}
        self.windows: dict[str, Any] = {}
        """The clause WINDOW by name."""

    def read(self, node: Any) -> s.Syntax:
        """Return the syntax of an expression.

        Raises:
            SqlError: There is no such expression in Flink.
        """
        chain = []
        while type(node).__name__ in _CHAINED:
            chain.append(node)  # of a long sum, each operator's first argument is the sum so far
            node = node.this
        found = self._read(node)
        for item in reversed(chain):
            kind, place = type(item).__name__, self.parsed.place(item)
            self._refuse_unread(kind, item, place)
            other = self.read(item.expression)
            if kind in {"And", "Or"} and isinstance(found, s.Apply) and found.function == _BINARY[kind]:
                found = s.Apply(place, _BINARY[kind], (*found.arguments, other))
            else:
                found = s.Apply(place, _BINARY[kind], (found, other))
        return found

    def _read(self, node: Expr) -> s.Syntax:
        kind = type(node).__name__
        place = self.parsed.place(node)
        if kind not in _UNSUPPORTED and kind != "Window":
            self._refuse_unread(kind, node, place)
        method = getattr(self, f"_{kind.lower()}", None)
        if method is not None:
            found: s.Syntax = method(node, place)
            return found
        if kind in _BINARY and _quantifier(node.expression):
            return self._quantified(_BINARY[kind], node, place)
        if kind in _BINARY:
            both = s.Apply(place, _BINARY[kind], (self.read(node.this), self.read(node.expression)))
            return s.Apply(place, "NOT", (both,)) if node.args.get("negate") else both
        if kind in _NULLARY:
            return s.Apply(place, _NULLARY[kind], ())
        if kind in _UNSUPPORTED:
            raise unsupported(_UNSUPPORTED[kind], place, "join or window the streams before")
        raise SqlError(f"{node.sql()}{at(place)} is not an expression that flintstream supports ({kind})")

    def _refuse_unread(self, kind: str, node: Expr, place: Place | None) -> None:
        """Refuse a part of an expression that no method reads, so that none is ignored."""
        read = _READ.get(kind, ()) if kind in _READ or kind not in _BINARY else ("negate",)
        for key, value in node.args.items():
            if value and key not in _PARTS and key not in read:
                raise SqlError(f"{node.sql()}{at(place)} has a part that flintstream does not support ({kind} {key})")

    def _all(self, nodes: Any) -> tuple[s.Syntax, ...]:
        return tuple(self.read(node) for node in nodes)

    def _window(self, node: Expr, place: Place | None) -> s.Syntax:
        return window_of(self, node, self.windows, place)

    def _column(self, node: Any, place: Place | None) -> s.Syntax:
        names = tuple(part.name for part in node.parts)
        if len(names) == 1 and not node.this.args.get("quoted") and names[0].upper() in _WITHOUT_PARENTHESES:
            return s.Apply(place, names[0].upper(), ())
        if type(node.this).__name__ == "Star":
            return s.Star(place, names[0] if len(names) > 1 else None)
        return s.Name(place, names)

    def _dot(self, node: Expr, place: Place | None) -> s.Syntax:
        inner = self.read(node.this)
        if isinstance(inner, s.Name):
            return s.Name(inner.place, (*inner.parts, node.name))
        key = s.Value(place, node.expression.name, t.CharType(max(len(node.expression.name), 1), False))
        return s.Apply(place, "GET", (inner, key))

    def _star(self, _: object, place: Place | None) -> s.Syntax:
        return s.Star(place)

    def _alias(self, node: Expr, place: Place | None) -> s.Syntax:
        return s.Alias(place, self.read(node.this), (node.alias,))

    def _paren(self, node: Expr, _: Place | None) -> s.Syntax:
        return self.read(node.this)

    def _literal(self, node: Expr, place: Place | None) -> s.Syntax:
        text = node.this
        if node.is_string:
            return s.Value(place, text, text_type(text))
        return number(text, place)

    def _boolean(self, node: Expr, place: Place | None) -> s.Syntax:
        return s.Value(place, bool(node.this), t.BooleanType(False))

    def _null(self, _: object, place: Place | None) -> s.Syntax:
        return s.Value(place, None, t.NullType())

    def _neg(self, node: Expr, place: Place | None) -> s.Syntax:
        return s.Apply(place, "-", (self.read(node.this),))

    def _not(self, node: Expr, place: Place | None) -> s.Syntax:
        if type(node.this).__name__ == "Is":
            return self._is(node.this, place, negated=True)
        return s.Apply(place, "NOT", (self.read(node.this),))

    def _is(self, node: Expr, place: Place | None, *, negated: bool = False) -> s.Syntax:
        other = node.expression
        if type(other).__name__ == "JSON" and not other.args.get("unique"):
            kind = f" {other.this}" if other.this else ""
            return s.Apply(place, f"IS {'NOT ' if negated else ''}JSON{kind}", (self.read(node.this),))
        if type(other).__name__ not in {"Null", "Boolean"}:
            raise unsupported(f"IS {other.sql()}", place, "test the value in a Python function")
        word = "NULL" if type(other).__name__ == "Null" else "TRUE" if other.this else "FALSE"
        return s.Apply(place, f"IS {'NOT ' if negated else ''}{word}", (self.read(node.this),))

    def _cast(self, node: Any, place: Place | None, *, lenient: bool = False) -> s.Syntax:
        if not node.to.expressions:
            return self._typed_literal(node, place)
        index = int(node.to.expressions[0].this.this)
        return s.Convert(place, self.read(node.this), self.parsed.types[index], lenient)

    def _trycast(self, node: Expr, place: Place | None) -> s.Syntax:
        return self._cast(node, place, lenient=True)

    def _typed_literal(self, node: Any, place: Place | None) -> s.Syntax:
        text, word = node.this.name, node.to.this.name
        try:
            if word == "DATE":
                return s.Value(place, helpers.parse_date(text), t.DateType(False))
            if word == "TIME":
                return s.Value(place, helpers.parse_time(text).replace(microsecond=0), t.TimeType(0, False))
            digits = len(text.partition(".")[2])
            return s.Value(place, helpers.parse_timestamp(text, 9), t.TimestampType(min(digits, 9), False))
        except ValueError as error:
            raise SqlError(f"{error}{at(place)}") from error

    def _interval(self, node: Any, place: Place | None) -> s.Syntax:
        unit = node.args.get("unit")
        span = type(unit).__name__ == "IntervalSpan"
        first, last = (unit.this.name, unit.expression.name) if span else ("" if unit is None else unit.name, "")
        words = [word.upper().rstrip("S") for word in (first, last)]
        try:
            return interval(node.this.name, words[0], words[1], place)
        except (ValueError, ArithmeticError):
            raise SqlError(
                f"INTERVAL '{node.this.name}'{at(place)} does not fit {' TO '.join(filter(None, words))}"
            ) from None

    def _case(self, node: Expr, place: Place | None) -> s.Syntax:
        subject = None if node.this is None else self.read(node.this)
        parts: list[s.Syntax] = []
        for arg in node.args["ifs"]:
            condition = self.read(arg.this)
            if subject is not None:
                condition = s.Apply(condition.place, "=", (subject, condition))
            parts += [condition, self.read(arg.args["true"])]
        default = node.args.get("default")
        parts.append(s.Value(place, None, t.NullType()) if default is None else self.read(default))
        return s.Apply(place, "CASE", tuple(parts))

    def _if(self, node: Expr, place: Place | None) -> s.Syntax:
        default = node.args.get("false")
        otherwise = s.Value(place, None, t.NullType()) if default is None else self.read(default)
        return s.Apply(place, "IF", (self.read(node.this), self.read(node.args["true"]), otherwise))

    def _between(self, node: Expr, place: Place | None) -> s.Syntax:
        value, *ends = (self.read(node.this), self.read(node.args["low"]), self.read(node.args["high"]))
        found = s.Apply(place, "BETWEEN", (value, *ends))
        if not node.args.get("symmetric"):
            return found
        return s.Apply(place, "OR", (found, s.Apply(place, "BETWEEN", (value, *reversed(ends)))))

    def _in(self, node: Expr, place: Place | None) -> s.Syntax:
        if node.args.get("query") is not None:
            raise unsupported("IN with a subquery", place, "join the streams before")
        return s.Apply(place, "IN", (self.read(node.this), *self._all(node.expressions)))

    def _quantified(self, sign: str, node: Expr, place: Place | None) -> s.Syntax:
        """Return ``a > ALL (1, 2)`` as comparisons with each value."""
        word, other = _quantifier(node.expression), node.expression
        given = other.this
        if type(other).__name__ == "Anonymous" or type(given).__name__ == "Tuple":
            listed = (other if type(other).__name__ == "Anonymous" else given).expressions
        elif type(given).__name__ in {"Paren", "Literal"}:
            listed = [given]
        else:
            raise unsupported(f"{word} of a query here", place, "write it as a condition of WHERE, joined by AND")
        value = self.read(node.this)
        parts = [s.Apply(place, sign, (value, self.read(item))) for item in listed]
        return parts[0] if len(parts) == 1 else s.Apply(place, _QUANTIFIED[word], tuple(parts))

    def _escape(self, node: Expr, place: Place | None) -> s.Syntax:
        like = node.this
        parts = (self.read(like.this), self.read(like.expression), self.read(node.expression))
        found = s.Apply(place, "LIKE ESCAPE", parts)
        return s.Apply(place, "NOT", (found,)) if like.args.get("negate") else found

    def _anonymous(self, node: Expr, place: Place | None) -> s.Syntax:
        name = node.name
        if name in DIFFERENCES:
            (inner,) = self._all(node.expressions)
            if not isinstance(inner, s.Apply) or inner.function != "-" or len(inner.arguments) != 2:
                raise SqlError(f"{DIFFERENCES[name]}{at(place)} must follow a difference: (a - b) {DIFFERENCES[name]}")
            return s.Apply(place, f"- {DIFFERENCES[name]}", inner.arguments)
        if name.upper() in {"TIMESTAMPDIFF", "TIMESTAMPADD"}:
            unit, *others = node.expressions
            word = unit.name.upper().rstrip("S")
            return s.Apply(place, name, (s.Value(place, word, t.CharType(len(word), False)), *self._all(others)))
        own = self.functions.get(name.lower())
        if own is not None and own.kind == "aggregate":
            return self._own_aggregate(own, list(node.expressions), place)
        if name.upper() == "APPROX_COUNT_DISTINCT" and len(node.expressions) == 1:  # here it is exact
            return s.Aggregate(place, "COUNT", self.read(node.expressions[0]), distinct=True)
        if name.upper() in AGGREGATES:
            return self._aggregate(name.upper(), list(node.expressions), place)
        return s.Apply(place, name, self._all(node.expressions))

    def _aggregate(self, name: str, given: list[Any], place: Place | None) -> s.Syntax:
        distinct = len(given) > 0 and type(given[0]).__name__ == "Distinct"
        if distinct:
            given = [*given[0].expressions, *given[1:]]
        option = None
        if name == "LISTAGG" and len(given) == 2:
            option = str(given.pop().this)
        if name == "COUNT" and len(given) == 1 and type(given[0]).__name__ == "Star":
            given = []
        if name == "COUNT" and len(given) > 1:
            return s.Aggregate(place, name, _all_known(place, self._all(given)), distinct)
        if len(given) > 1 or (not given and name != "COUNT"):
            raise SqlError(f"{name}{at(place)} takes one argument, but got {len(given)}")
        return s.Aggregate(place, name, self.read(given[0]) if given else None, distinct, None, option)

    def _own_aggregate(self, function: object, given: list[Any], place: Place | None) -> s.Syntax:
        distinct = len(given) == 1 and type(given[0]).__name__ == "Distinct"
        arguments = self._all(given[0].expressions if distinct else given)
        return replace(s.aggregate_of(place, function, arguments), distinct=distinct)

    def _jsonobjectagg(self, node: Expr, place: Place | None) -> s.Syntax:
        (pair,) = node.expressions
        option = "ABSENT" if str(node.args.get("null_handling") or "").startswith("ABSENT") else "NULL"
        both = s.Apply(place, "ROW", (self.read(pair.this), self.read(pair.expression)))
        return s.Aggregate(place, "JSON_OBJECTAGG", both, option=option)

    def _jsonarrayagg(self, node: Expr, place: Place | None) -> s.Syntax:
        option = "NULL" if str(node.args.get("null_handling") or "").startswith("NULL") else "ABSENT"
        return s.Aggregate(place, "JSON_ARRAYAGG", self.read(node.this), option=option)

    def _filter(self, node: Expr, place: Place | None) -> s.Syntax:
        found = self.read(node.this)
        if not isinstance(found, s.Aggregate):
            raise SqlError(f"FILTER{at(place)} must follow an aggregate function")
        return replace(found, condition=self.read(node.expression.this))

    def _hexstring(self, node: Expr, place: Place | None) -> s.Syntax:
        value = bytes.fromhex(node.this)
        return s.Value(place, value, t.BinaryType(max(len(value), 1), False))

    def _unicodestring(self, node: Expr, place: Place | None) -> s.Syntax:
        text = re.sub(r"\\([0-9a-fA-F]{4})", lambda code: chr(int(code[1], 16)), node.name)
        return s.Value(place, text, text_type(text))

    def _national(self, node: Expr, place: Place | None) -> s.Syntax:
        return s.Value(place, node.name, text_type(node.name))

    def _overlay(self, node: Expr, place: Place | None) -> s.Syntax:
        parts = (node.this, node.expression, node.args.get("from_"), node.args.get("for_"))
        return s.Apply(place, "OVERLAY", self._all(part for part in parts if part is not None))

    def _floor(self, node: Expr, place: Place | None, name: str = "FLOOR") -> s.Syntax:
        to = node.args.get("to")
        if to is None:
            digits = node.args.get("decimals")
            return s.Apply(place, name, self._all(item for item in (node.this, digits) if item is not None))
        unit = to.name.upper()
        return s.Apply(place, f"{name} TO", (self.read(node.this), s.Value(place, unit, t.CharType(len(unit), False))))

    def _ceil(self, node: Expr, place: Place | None) -> s.Syntax:
        return self._floor(node, place, "CEIL")

    def _overlaps(self, node: Expr, place: Place | None) -> s.Syntax:
        periods = [self._all(item.expressions) for item in (node.this, node.expression)]
        if [len(period) for period in periods] != [2, 2]:
            raise SqlError(f"OVERLAPS{at(place)} compares two pairs (start, end)")
        return s.Apply(place, "OVERLAPS", (*periods[0], *periods[1]))

    def _extract(self, node: Expr, place: Place | None) -> s.Syntax:
        unit = node.this.name.upper()
        return s.Apply(
            place, "EXTRACT", (s.Value(place, unit, t.CharType(len(unit), False)), self.read(node.expression))
        )

    def _trim(self, node: Expr, place: Place | None) -> s.Syntax:
        where = (node.args.get("position") or "BOTH").upper()
        chars = node.args.get("expression")
        given = s.Value(place, " ", t.CharType(1, False)) if chars is None else self.read(chars)
        return s.Apply(place, f"TRIM_{where}", (self.read(node.this), given))

    def _substring(self, node: Expr, place: Place | None) -> s.Syntax:
        parts = (node.this, node.args.get("start"), node.args.get("length"))
        return s.Apply(place, "SUBSTRING", self._all(part for part in parts if part is not None))

    def _strposition(self, node: Expr, place: Place | None) -> s.Syntax:
        return s.Apply(place, "POSITION", (self.read(node.args["substr"]), self.read(node.this)))

    def _tuple(self, node: Expr, place: Place | None) -> s.Syntax:
        return s.Apply(place, "ROW", self._all(node.expressions))

    def _bracket(self, node: Expr, place: Place | None) -> s.Syntax:
        owner = node.this
        if type(owner).__name__ == "Column" and owner.sql().upper() == "MAP":
            return s.Apply(place, "MAP", self._all(node.expressions))
        return s.Apply(place, "ITEM", (self.read(node.this), self.read(node.expressions[0])))

    def _array(self, node: Expr, place: Place | None) -> s.Syntax:
        return s.Apply(place, "ARRAY", self._all(node.expressions))

    def _map(self, node: Expr, place: Place | None) -> s.Syntax:
        keys, values = node.args["keys"].expressions, node.args["values"].expressions
        pairs = [part for pair in zip(keys, values, strict=True) for part in pair]
        return s.Apply(place, "MAP", self._all(pairs))

    def _tomap(self, node: Expr, place: Place | None) -> s.Syntax:
        return s.Apply(place, "MAP", self._all(node.this.expressions))


def _quantifier(node: Expr) -> str:
    """Return ANY or ALL if a side of a comparison begins with it."""
    name = type(node).__name__
    word = str(node.this).upper() if name == "Anonymous" else name.upper()
    return word if word in _QUANTIFIED else ""


def _all_known(place: Place | None, parts: tuple[s.Syntax, ...]) -> s.Syntax:
    """Return a row of values, or NULL if one of them is."""
    tests = tuple(s.Apply(place, "IS NOT NULL", (part,)) for part in parts)
    nothing = s.Value(place, None, t.NullType())
    return s.Apply(place, "CASE", (s.Apply(place, "AND", tests), s.Apply(place, "ROW", parts), nothing))
