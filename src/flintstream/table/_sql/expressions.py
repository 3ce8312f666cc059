"""From sqlglot's trees of expressions to our syntax."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

from flintstream.common._types import data_types as t
from flintstream.table._errors import SqlError, at, unsupported
from flintstream.table._expressions.aggregates import AGGREGATES
from flintstream.table._sql import aggregates, exp, literals
from flintstream.table._sql.ordering import window_of
from flintstream.table._sql.short_forms import DIFFERENCES
from flintstream.table._syntax import scalar as s
from flintstream.table._syntax.literals import number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flintstream.table._errors import Place
    from flintstream.table._sql.dialect import Parsed

_WITHOUT_PARENTHESES = {"LOCALTIMESTAMP", "LOCALTIME", "CURRENT_ROW_TIMESTAMP"}
_QUANTIFIERS: dict[str, Literal["ANY", "ALL"]] = {"ANY": "ANY", "ALL": "ALL"}
_PARTS = ("this", "expression", "expressions", "safe")


@cache
def _signs() -> dict[type[exp.Expr], str]:
    return {
        exp.Add: "+", exp.Sub: "-", exp.Mul: "*", exp.Div: "/", exp.Mod: "%", exp.EQ: "=", exp.NEQ: "<>", exp.LT: "<",
        exp.LTE: "<=", exp.GT: ">", exp.GTE: ">=", exp.And: "AND", exp.Or: "OR", exp.Like: "LIKE", exp.DPipe: "||",
        exp.NullSafeEQ: "IS NOT DISTINCT FROM", exp.NullSafeNEQ: "IS DISTINCT FROM", exp.SimilarTo: "SIMILAR TO",
    }  # fmt: skip


@cache
def _chain() -> tuple[type[exp.Expr], ...]:
    return (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod, exp.And, exp.Or, exp.DPipe)


class ExpressionReader:
    """Converts expressions of one query."""

    def __init__(self, parsed: Parsed, functions: Mapping[str, Any] | None = None) -> None:
        """Take the query, and the functions of the program by name."""
        self.parsed = parsed
        self.functions = functions or {}
        self.windows: dict[str, exp.Expr] = {}
        """The clause WINDOW by name."""

    def query(self, tree: exp.Expr) -> s.Query:
        """Return the syntax of a query within an expression.

        Raises:
            UnsupportedClauseError: There can be none here.
        """
        raise unsupported(
            "a subquery within an expression", self.parsed.place(tree), "join or window the streams before"
        )

    def read(self, node: exp.Expr) -> s.Syntax:
        """Return the syntax of an expression.

        Raises:
            SqlError: There is no such expression in Flink.
        """
        chain = []
        while isinstance(node, _chain()):
            chain.append(node)  # of a long sum, each operator's first argument is the sum so far
            node = node.this
        found = self._read(node)
        for item in reversed(chain):
            sign, place = _signs()[type(item)], self.parsed.place(item)
            self._refuse_unread(item, place)
            other = self.read(item.expression)
            if sign in {"AND", "OR"} and isinstance(found, s.Apply) and found.function == sign:
                found = s.Apply(place, sign, (*found.arguments, other))
            else:
                found = s.Apply(place, sign, (found, other))
        return found

    def _read(self, node: exp.Expr) -> s.Syntax:
        kind, place = type(node), self.parsed.place(node)
        method, read = _readers().get(kind, (None, ()))
        if isinstance(node, exp.ILike):
            raise SqlError(f"ILIKE{at(place)} is not SQL of Flink: LOWER({node.this.sql()}) LIKE '...'")
        if method is None:
            raise SqlError(f"{node.sql()}{at(place)} is not an expression that flintstream supports ({kind.__name__})")
        self._refuse_unread(node, place, read)
        return method(self, node, place)

    def _refuse_unread(self, node: exp.Expr, place: Place | None, read: tuple[str, ...] = ()) -> None:
        """Refuse a part of an expression that no method reads, so that none is ignored."""
        for key, value in node.args.items():
            if value and key not in _PARTS and key not in read:
                kind = type(node).__name__
                raise SqlError(f"{node.sql()}{at(place)} has a part that flintstream does not support ({kind} {key})")

    def _operator(self, node: exp.Expr, place: Place | None) -> s.Syntax:
        sign, quantifier = _signs()[type(node)], _quantifier(node.expression)
        if quantifier is not None:
            return self._quantify(sign, quantifier, node, place)
        both = s.Apply(place, sign, (self.read(node.this), self.read(node.expression)))
        return s.Apply(place, "NOT", (both,)) if node.args.get("negate") else both

    def _window(self, node: exp.Expr, place: Place | None) -> s.Syntax:
        return window_of(self, node, self.windows, place)

    def _column(self, node: exp.Column, place: Place | None) -> s.Syntax:
        names = tuple(part.name for part in node.parts)
        if len(names) == 1 and not node.this.args.get("quoted") and names[0].upper() in _WITHOUT_PARENTHESES:
            return s.Apply(place, names[0].upper(), ())
        if isinstance(node.this, exp.Star):
            return s.Star(place, names[0] if len(names) > 1 else None, names[1:-1])
        return s.Name(place, names)

    def _dot(self, node: exp.Expr, place: Place | None) -> s.Syntax:
        if isinstance(node.expression, exp.Anonymous) and _is_path(node.this):
            if node.expression.name.lower() not in self.functions:  # built-in ones are in no catalog
                raise SqlError(f"No match found for function '{node.sql().partition('(')[0]}'{at(place)}")
            return self.read(node.expression)
        inner = self.read(node.this)
        if isinstance(inner, s.Name):
            return s.Name(inner.place, (*inner.parts, node.name))
        key = s.Value(place, node.expression.name, t.CharType(max(len(node.expression.name), 1), False))
        return s.Apply(place, "GET", (inner, key))

    def _star(self, _: object, place: Place | None) -> s.Syntax:
        return s.Star(place)

    def _alias(self, node: exp.Expr, place: Place | None) -> s.Syntax:
        return s.Alias(place, self.read(node.this), (node.alias,))

    def _paren(self, node: exp.Expr, _: Place | None) -> s.Syntax:
        return self.read(node.this)

    def _neg(self, node: exp.Expr, place: Place | None) -> s.Syntax:
        if isinstance(node.this, exp.Literal) and not node.this.is_string:
            return number(f"-{node.this.this}", place)  # the smallest BIGINT has no positive counterpart
        return s.Apply(place, "-", (self.read(node.this),))

    def _not(self, node: exp.Expr, place: Place | None) -> s.Syntax:
        if isinstance(node.this, exp.Is):
            return self._is(node.this, place, negated=True)
        return s.Apply(place, "NOT", (self.read(node.this),))

    def _is(self, node: exp.Expr, place: Place | None, *, negated: bool = False) -> s.Syntax:
        other = node.expression
        if isinstance(other, exp.JSON) and not other.args.get("unique"):
            kind = f" {other.this}" if other.this else ""
            return s.Apply(place, f"IS {'NOT ' if negated else ''}JSON{kind}", (self.read(node.this),))
        if not isinstance(other, (exp.Null, exp.Boolean)):
            raise unsupported(f"IS {other.sql()}", place, "test the value in a Python function")
        word = "NULL" if isinstance(other, exp.Null) else "TRUE" if other.this else "FALSE"
        return s.Apply(place, f"IS {'NOT ' if negated else ''}{word}", (self.read(node.this),))

    def _cast(self, node: exp.Expr, place: Place | None, *, lenient: bool = False) -> s.Syntax:
        if not node.args["to"].expressions:
            kind = node.args["to"].sql()
            if not isinstance(node.this, exp.Literal) or not kind.startswith(("DATE", "TIME")):
                raise SqlError(f"'::'{at(place)} is not SQL of Flink: CAST({node.this.sql()} AS ...)")
            return literals.typed_literal(node, place)
        index = int(node.args["to"].expressions[0].this.this)
        return s.Convert(place, self.read(node.this), self.parsed.types[index], lenient)

    def _trycast(self, node: exp.Expr, place: Place | None) -> s.Syntax:
        return self._cast(node, place, lenient=True)

    def _case(self, node: exp.Expr, place: Place | None) -> s.Syntax:
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

    def _if(self, node: exp.Expr, place: Place | None) -> s.Syntax:
        default = node.args.get("false")
        otherwise = s.Value(place, None, t.NullType()) if default is None else self.read(default)
        return s.Apply(place, "IF", (self.read(node.this), self.read(node.args["true"]), otherwise))

    def _between(self, node: exp.Expr, place: Place | None) -> s.Syntax:
        value, *ends = (self.read(node.this), self.read(node.args["low"]), self.read(node.args["high"]))
        found = s.Apply(place, "BETWEEN", (value, *ends))
        if not node.args.get("symmetric"):
            return found
        return s.Apply(place, "OR", (found, s.Apply(place, "BETWEEN", (value, *reversed(ends)))))

    def _in(self, node: exp.Expr, place: Place | None) -> s.Syntax:
        query = node.args.get("query")
        if query is not None:
            values = node.this.expressions if isinstance(node.this, exp.Tuple) else [node.this]
            return s.Quantified(place, self.query(query), tuple(map(self.read, values)), "=", "IN")
        return s.Apply(place, "IN", (self.read(node.this), *map(self.read, node.expressions)))

    def _subquery(self, node: exp.Expr, place: Place | None) -> s.Syntax:
        return s.Subquery(place, self.query(node))

    def _exists(self, node: exp.Expr, place: Place | None) -> s.Syntax:
        return s.Exists(place, self.query(node.this))

    def _quantify(self, sign: str, quantifier: Literal["ANY", "ALL"], node: exp.Expr, place: Place | None) -> s.Syntax:
        """Return ``a > ALL (1, 2)`` as comparisons with each value, and ``a > ALL (SELECT ...)``."""
        other = node.expression
        given = other.this
        if isinstance(other, exp.Anonymous) or isinstance(given, exp.Tuple):
            listed = (other if isinstance(other, exp.Anonymous) else given).expressions
        elif isinstance(given, exp.Literal) or (isinstance(given, exp.Paren) and not _is_query(given.this)):
            listed = [given]
        else:
            values = node.this.expressions if isinstance(node.this, exp.Tuple) else [node.this]
            return s.Quantified(place, self.query(given), tuple(map(self.read, values)), sign, quantifier)
        value = self.read(node.this)
        parts = [s.Apply(place, sign, (value, self.read(item))) for item in listed]
        word = "OR" if quantifier == "ANY" else "AND"
        return parts[0] if len(parts) == 1 else s.Apply(place, word, tuple(parts))

    def _escape(self, node: exp.Expr, place: Place | None) -> s.Syntax:
        like = node.this
        parts = (self.read(like.this), self.read(like.expression), self.read(node.expression))
        found = s.Apply(place, "LIKE ESCAPE", parts)
        return s.Apply(place, "NOT", (found,)) if like.args.get("negate") else found

    def _anonymous(self, node: exp.Expr, place: Place | None) -> s.Syntax:
        name = node.name
        if name in DIFFERENCES:
            (inner,) = map(self.read, node.expressions)
            if not isinstance(inner, s.Apply) or inner.function != "-" or len(inner.arguments) != 2:
                raise SqlError(f"{DIFFERENCES[name]}{at(place)} must follow a difference: (a - b) {DIFFERENCES[name]}")
            return s.Apply(place, f"- {DIFFERENCES[name]}", inner.arguments)
        if name.upper() in {"TIMESTAMPDIFF", "TIMESTAMPADD"}:
            unit, *others = node.expressions
            word = unit.name.upper().rstrip("S")
            return s.Apply(place, name, (s.Value(place, word, t.CharType(len(word), False)), *map(self.read, others)))
        own = self.functions.get(name.lower())
        if own is not None and own.kind == "aggregate":
            return aggregates.own_aggregate(self, own, list(node.expressions), place)
        if name.upper() == "APPROX_COUNT_DISTINCT" and len(node.expressions) == 1:  # here it is exact
            return s.Aggregate(place, "COUNT", self.read(node.expressions[0]), distinct=True)
        if name.upper() in AGGREGATES:
            return aggregates.aggregate(self, name.upper(), list(node.expressions), place)
        return s.Apply(place, name, tuple(map(self.read, node.expressions)))

    def _overlay(self, node: exp.Expr, place: Place | None) -> s.Syntax:
        parts = (node.this, node.expression, node.args.get("from_"), node.args.get("for_"))
        return s.Apply(place, "OVERLAY", tuple(self.read(part) for part in parts if part is not None))

    def _floor(self, node: exp.Expr, place: Place | None, name: str = "FLOOR") -> s.Syntax:
        to = node.args.get("to")
        if to is None:
            digits = node.args.get("decimals")
            return s.Apply(place, name, tuple(self.read(item) for item in (node.this, digits) if item is not None))
        unit = to.name.upper()
        return s.Apply(place, f"{name} TO", (self.read(node.this), s.Value(place, unit, t.CharType(len(unit), False))))

    def _ceil(self, node: exp.Expr, place: Place | None) -> s.Syntax:
        return self._floor(node, place, "CEIL")

    def _overlaps(self, node: exp.Expr, place: Place | None) -> s.Syntax:
        periods = [tuple(map(self.read, item.expressions)) for item in (node.this, node.expression)]
        if [len(period) for period in periods] != [2, 2]:
            raise SqlError(f"OVERLAPS{at(place)} compares two pairs (start, end)")
        return s.Apply(place, "OVERLAPS", (*periods[0], *periods[1]))

    def _extract(self, node: exp.Expr, place: Place | None) -> s.Syntax:
        unit = node.this.name.upper()
        return s.Apply(
            place, "EXTRACT", (s.Value(place, unit, t.CharType(len(unit), False)), self.read(node.expression))
        )

    def _trim(self, node: exp.Expr, place: Place | None) -> s.Syntax:
        where = (node.args.get("position") or "BOTH").upper()
        chars = node.args.get("expression")
        given = s.Value(place, " ", t.CharType(1, False)) if chars is None else self.read(chars)
        return s.Apply(place, f"TRIM_{where}", (self.read(node.this), given))

    def _substring(self, node: exp.Expr, place: Place | None) -> s.Syntax:
        parts = (node.this, node.args.get("start"), node.args.get("length"))
        return s.Apply(place, "SUBSTRING", tuple(self.read(part) for part in parts if part is not None))

    def _strposition(self, node: exp.Expr, place: Place | None) -> s.Syntax:
        return s.Apply(place, "POSITION", (self.read(node.args["substr"]), self.read(node.this)))

    def _tuple(self, node: exp.Expr, place: Place | None) -> s.Syntax:
        return s.Apply(place, "ROW", tuple(map(self.read, node.expressions)))

    def _bracket(self, node: exp.Expr, place: Place | None) -> s.Syntax:
        owner = node.this
        if isinstance(owner, exp.Column) and owner.sql().upper() == "MAP":
            return s.Apply(place, "MAP", tuple(map(self.read, node.expressions)))
        return s.Apply(place, "ITEM", (self.read(node.this), self.read(node.expressions[0])))

    def _array(self, node: exp.Expr, place: Place | None) -> s.Syntax:
        if not node.expressions:  # as Flink
            raise SqlError(f"ARRAY[]{at(place)} needs at least 1 element: CAST(NULL AS ARRAY<INT>), or remove one")
        return s.Apply(place, "ARRAY", tuple(map(self.read, node.expressions)))

    def _map(self, node: exp.Expr, place: Place | None) -> s.Syntax:
        keys, values = node.args["keys"].expressions, node.args["values"].expressions
        pairs = [part for pair in zip(keys, values, strict=True) for part in pair]
        return s.Apply(place, "MAP", tuple(map(self.read, pairs)))

    def _tomap(self, node: exp.Expr, place: Place | None) -> s.Syntax:
        return s.Apply(place, "MAP", tuple(map(self.read, node.this.expressions)))


_Method = Callable[["ExpressionReader", Any, "Place | None"], s.Syntax]


def _nullary(name: str) -> _Method:
    return lambda _, __, place: s.Apply(place, name, ())


@cache
def _readers() -> dict[type[exp.Expr], tuple[_Method, tuple[str, ...]]]:
    """Return what reads each kind of expression, and the parts that it reads besides ``_PARTS``."""
    reader = ExpressionReader
    return {
        **dict.fromkeys(_signs(), (reader._operator, ("negate",))),
        exp.Alias: (reader._alias, ("alias",)),
        exp.Anonymous: (reader._anonymous, ()),
        exp.Array: (reader._array, ()),
        exp.Between: (reader._between, ("low", "high", "symmetric")),
        exp.Boolean: (literals.boolean, ()),
        exp.Bracket: (reader._bracket, ()),
        exp.Case: (reader._case, ("ifs", "default")),
        exp.Cast: (reader._cast, ("to",)),
        exp.Ceil: (reader._ceil, ("to", "decimals")),
        exp.Column: (reader._column, ("table", "db", "catalog")),
        exp.CurrentDate: (_nullary("CURRENT_DATE"), ()),
        exp.CurrentTime: (_nullary("CURRENT_TIME"), ()),
        exp.CurrentTimestamp: (_nullary("CURRENT_TIMESTAMP"), ()),
        exp.Dot: (reader._dot, ()),
        exp.Escape: (reader._escape, ()),
        exp.Exists: (reader._exists, ()),
        exp.Extract: (reader._extract, ()),
        exp.Filter: (aggregates.aggregate_with_filter, ()),
        exp.Floor: (reader._floor, ("to", "decimals")),
        exp.HexString: (literals.hex_string, ()),
        exp.If: (reader._if, ("true", "false")),
        exp.In: (reader._in, ("query",)),
        exp.Interval: (literals.interval_of, ("unit",)),
        exp.Is: (reader._is, ()),
        exp.JSONArrayAgg: (aggregates.json_array_agg, ("null_handling",)),
        exp.JSONObjectAgg: (aggregates.json_object_agg, ("null_handling",)),
        exp.Literal: (literals.literal, ("is_string",)),
        exp.Localtime: (_nullary("LOCALTIME"), ()),
        exp.Localtimestamp: (_nullary("LOCALTIMESTAMP"), ()),
        exp.Map: (reader._map, ("keys", "values")),
        exp.National: (literals.national, ()),
        exp.Neg: (reader._neg, ()),
        exp.Not: (reader._not, ()),
        exp.Null: (literals.null, ()),
        exp.Overlaps: (reader._overlaps, ()),
        exp.Overlay: (reader._overlay, ("from_", "for_")),
        exp.Paren: (reader._paren, ()),
        exp.Star: (reader._star, ()),
        exp.StrPosition: (reader._strposition, ("substr",)),
        exp.Subquery: (reader._subquery, ("alias", "with_", "order", "limit", "offset", "sample")),
        exp.Substring: (reader._substring, ("start", "length")),
        exp.ToMap: (reader._tomap, ()),
        exp.Trim: (reader._trim, ("position",)),
        exp.TryCast: (reader._trycast, ("to",)),
        exp.Tuple: (reader._tuple, ()),
        exp.WithinGroup: (aggregates.within_group, ()),
        exp.Window: (reader._window, ("alias", "order", "spec", "partition_by", "over", "first")),
    }


def _is_query(node: object) -> bool:
    return isinstance(node, (exp.Query, exp.Values))


def _quantifier(node: exp.Expr) -> Literal["ANY", "ALL"] | None:
    """Return ANY or ALL if a side of a comparison begins with it."""
    if isinstance(node, exp.Anonymous):
        return _QUANTIFIERS.get(str(node.this).upper())
    return "ANY" if isinstance(node, exp.Any) else "ALL" if isinstance(node, exp.All) else None


def _is_path(node: exp.Expr) -> bool:
    """Return whether an expression is the name of a catalog or database, before that of a function."""
    if isinstance(node, exp.Dot):
        return _is_path(node.this) and isinstance(node.expression, exp.Identifier)
    return isinstance(node, exp.Identifier)
