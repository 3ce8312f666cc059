"""Resolves names, functions and types of expressions against the columns of a table."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from flintstream.common._types import data_types as t
from flintstream.table._errors import (
    ColumnNotFoundError,
    SqlError,
    StrictError,
    TableNotFoundError,
    at,
    nearest,
    unsupported,
)
from flintstream.table._expressions.casts import cast
from flintstream.table._expressions.expr import Call, Const, OuterRef, Ref, template
from flintstream.table._expressions.functions import FUNCTIONS
from flintstream.table._expressions.invocations import invocation
from flintstream.table._expressions.scope import HIDDEN
from flintstream.table._syntax import scalar as s
from flintstream.table._syntax.summary import function_named, name_in_flink
from flintstream.table._types.objects import VariantType
from flintstream.table._types.rules import INTEGERS, TEXTS, IntervalType, is_nullable, sql_name, with_null

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flintstream.table._errors import Place
    from flintstream.table._expressions.expr import Column, Expr
    from flintstream.table._expressions.scope import Scope


def resolve(syntax: s.Syntax, scope: Scope) -> Expr:
    """Return the expression with types.

    Raises:
        SqlError: A name is unknown, or a function does not take its arguments.
    """
    chain: list[s.Apply] = []
    while isinstance(syntax, s.Apply) and len(syntax.arguments) == 2:
        chain.append(syntax)  # of a long sum, each operator's first argument is the sum so far
        syntax = syntax.arguments[0]
    found = _resolve(syntax, scope)
    for item in reversed(chain):
        found = _apply(item, [found, resolve(item.arguments[1], scope)], scope)
    return found


def resolve_condition(syntax: s.Syntax, scope: Scope, clause: str, place: Place | None) -> Expr:
    """Return a condition of a clause with types.

    Raises:
        SqlError: It is not a BOOLEAN.
    """
    found = resolve(syntax, scope)
    if not isinstance(found.type, (t.BooleanType, t.NullType)):
        raise SqlError(f"{clause}{at(place)} needs a BOOLEAN, but got {sql_name(found.type)}")
    return found


def _resolve(syntax: s.Syntax, scope: Scope) -> Expr:
    if isinstance(syntax, s.Name):
        return _column_of(syntax, scope)
    if isinstance(syntax, s.Value):
        return Const(syntax.type, syntax.value)
    if isinstance(syntax, s.Alias):
        return resolve(syntax.argument, scope)
    if isinstance(syntax, s.Convert):
        argument = resolve(syntax.argument, scope)
        if isinstance(argument.type, VariantType):
            raise SqlError(
                f"Cast function cannot convert value of type VARIANT to type {sql_name(syntax.type.nullable())}"
                f"{at(syntax.place)}: JSON_STRING gives its text, JSON_VALUE a value in it"
            )
        made = cast(argument, syntax.type, scope.zone, lenient=syntax.lenient)
        if made is None or (isinstance(argument.type, IntervalType) and isinstance(syntax.type, t.NumericType)):
            raise SqlError(
                f"Cannot cast {sql_name(argument.type)} to {sql_name(syntax.type.nullable())}{at(syntax.place)}"
            )
        return made
    if isinstance(syntax, s.Invoke):
        return invocation(
            syntax.function, [resolve(item, scope) for item in syntax.arguments], scope.zone, syntax.place
        )
    if isinstance(syntax, s.Apply):
        return _apply(syntax, [resolve(item, scope) for item in syntax.arguments], scope)
    if isinstance(syntax, s.Aggregate):
        raise SqlError(
            f"the aggregate function {syntax.function}{at(syntax.place)} is only allowed in SELECT and HAVING"
        )
    if isinstance(syntax, s.Subquery):
        anywhere = not isinstance(syntax, s.Quantified) or syntax.quantifier == "IN"
        instead = "join or window the streams before" if anywhere else "write it as a condition of WHERE, joined by AND"
        raise unsupported(syntax.clause, syntax.place, instead)
    raise SqlError(f"'*'{at(syntax.place)} is only allowed in the SELECT list")


def _column_of(name: s.Name, scope: Scope) -> Expr:
    """Return a column of a scope, or of the one around it."""
    outer = scope.find_outer(name)
    if outer is not None:
        column, index, rest = outer
        return _fields(OuterRef(column.type, index), rest, name)
    index, rest = scope.find(name)
    return _fields(Ref(scope.columns[index].type, index), rest, name)


def _apply(syntax: s.Apply, arguments: list[Expr], scope: Scope) -> Expr:
    name = syntax.function.upper()
    own = scope.functions.get(syntax.function.lower())
    if own is None and syntax.place is None and scope.functions:  # methods of the Table API call functions by name
        own = scope.functions.get(name_in_flink(name).lower())
    if own is not None:
        return invocation(own, arguments, scope.zone, syntax.place)
    known = FUNCTIONS.get(name)
    if name == "CURRENT_DATABASE" and not arguments:
        return Const(t.VarCharType(t.MAX_LENGTH, False), scope.database)
    if known is None and name == "GET":
        return _get(syntax, arguments)
    renamed = function_named(syntax.function) if known is None else None
    if renamed is not None and renamed in FUNCTIONS:
        return _apply(replace(syntax, function=renamed), arguments, scope)
    if known is None:
        meant = nearest(name, [*FUNCTIONS, *scope.functions])
        raise SqlError(f"No match found for function '{syntax.function}'{at(syntax.place)}{meant}")
    if scope.strict:
        _refuse_what_flink_refuses(name, arguments, syntax.place)
    made = None if name == "CASE" and len(arguments) < 3 else known.build(name, arguments, scope.zone)
    if made is None and name == "+" and syntax.place is None and isinstance(arguments[0].type, TEXTS):
        made = _join_texts(arguments, scope.zone)  # of expressions that are not in a text
    if made is None:
        given = ", ".join(sql_name(argument.type) for argument in arguments)
        raise SqlError(f"{name}({given}){at(syntax.place)} has arguments of the wrong type: it takes {known.takes}")
    return made


_NUMBERS = (*INTEGERS, t.DecimalType, t.FloatType, t.DoubleType)
_COMPARISONS = {"=", "<>", "<", "<=", ">", ">="}


def _refuse_what_flink_refuses(name: str, arguments: Sequence[Expr], place: Place | None) -> None:
    kinds = [argument.type for argument in arguments]
    if name in {*_COMPARISONS, "+", "-", "*", "/", "%", "IF"} and any(isinstance(kind, t.NullType) for kind in kinds):
        raise StrictError(f"{name}{at(place)}: Flink requires a type for NULL, such as CAST(NULL AS INT)")
    if name in _COMPARISONS and any(isinstance(kind, TEXTS) for kind in kinds):
        number = next((kind for kind in kinds if isinstance(kind, _NUMBERS)), None)
        if number is not None:
            raise StrictError(
                f"{name}{at(place)}: Flink does not compare numbers with strings: write CAST to {sql_name(number)}"
            )


def _join_texts(arguments: Sequence[Expr], zone: str) -> Expr | None:
    """Return ``text + value``, in which the Table API joins texts."""
    text, other = arguments
    if isinstance(other.type, (t.ArrayType, t.MapType, t.RowType, t.MultisetType)):
        return None
    given = other if isinstance(other.type, TEXTS) else cast(other, t.DataTypes.STRING(), zone)
    return None if given is None else FUNCTIONS["||"].build("||", (text, given), zone)


def _get(syntax: s.Apply, arguments: Sequence[Expr]) -> Expr:
    container, key = arguments
    if not isinstance(key, Const) or not isinstance(container.type, t.RowType):
        raise SqlError(f"get(){at(syntax.place)} needs a ROW and a literal name or position")
    name = container.type.names[key.value] if isinstance(key.value, int) else str(key.value)
    return _fields(container, (name,), s.Name(syntax.place, (name,)))


def _fields(expression: Expr, names: Sequence[str], syntax: s.Name) -> Expr:
    for name in names:
        kind = expression.type
        if not isinstance(kind, t.RowType) or name not in kind.names:
            known = kind.names if isinstance(kind, t.RowType) else []
            where = f"{at(syntax.place)}: {sql_name(kind)} has no field '{name}'"
            raise ColumnNotFoundError(syntax.parts, where, nearest(name, known))
        index = kind.names.index(name)
        part = kind.field_types()[index]
        result = with_null(part, is_nullable(part) or is_nullable(kind))
        expression = Call(result, "FIELD", (expression,), template(f"{{0}}[{index}]"))
    return expression


def _fields_of_row(first: str, star: s.Star, scope: Scope) -> list[Item]:
    name = s.Name(star.place, (first, *star.row))
    try:
        row = resolve(name, scope)
    except ColumnNotFoundError:
        if star.row:
            raise
        raise TableNotFoundError((first,), star.place, set(scope.tables)) from None
    if not isinstance(row.type, t.RowType):
        raise SqlError(f"{'.'.join(name.parts)}.*{at(star.place)}: {sql_name(row.type)} has no fields")
    return fields_of(row)


def fields_of(row: Expr) -> list[Item]:
    """Return the fields of a row as columns."""
    names = row.type.names if isinstance(row.type, t.RowType) else []
    return [Item(name, _fields(row, (name,), s.Name(None, (name,)))) for name in names]


@dataclass(frozen=True)
class Item:
    """A column of a result: its name and expression."""

    name: str
    expression: Expr
    time: str = ""


def items_of(columns: Sequence[Column]) -> list[Item]:
    """Return the items that are the first columns of a table."""
    return [Item(column.name, Ref(column.type, i), column.time) for i, column in enumerate(columns)]


def resolve_items(items: Sequence[s.Syntax], scope: Scope, unnamed: str = "_c") -> list[Item]:
    """Return the columns of a SELECT list, with stars expanded; ``unnamed`` and a number name what has no name."""
    found: list[Item] = []
    for item in items:
        if isinstance(item, s.Star):
            if item.table is not None and (item.row or item.table not in scope.tables):
                found += _fields_of_row(item.table, item, scope)
                continue
            shown = [
                i for i, column in enumerate(scope.columns) if column.in_star and not column.name.startswith(HIDDEN)
            ]
            chosen = [i for i in shown if item.table is None or scope.tables[i] == item.table]
            found += [_column(scope, i) for i in chosen]
        elif isinstance(item, s.Apply) and item.function == "FLATTEN":
            found += _flatten(item.arguments[0], scope)
        elif isinstance(item, s.Columns):
            found += [_column(scope, i) for i in _choose(item, scope)]
        else:
            found.append(_item(item, scope, f"{unnamed}{len(found)}"))
    return found


def _flatten(syntax: s.Syntax, scope: Scope) -> list[Item]:
    """Return the fields of a row as columns ``row$field``."""
    row = resolve(syntax, scope)
    name = syntax.parts[-1] if isinstance(syntax, s.Name) else "row"
    fields = fields_of(row)
    return [Item(f"{name}${item.name}", item.expression) for item in fields] if fields else [Item(name, row)]


def _column(scope: Scope, index: int) -> Item:
    column = scope.columns[index]
    return Item(column.name, Ref(column.type, index), column.time)


def _item(item: s.Syntax, scope: Scope, unnamed: str) -> Item:
    expression = resolve(item, scope)
    inner = item.argument if isinstance(item, s.Alias) else item
    time = scope.columns[expression.index].time if isinstance(expression, Ref) else ""
    if isinstance(inner, s.Apply) and inner.function.upper() == "PROCTIME":
        time = "PROCTIME"
    if isinstance(item, s.Alias):
        return Item(item.names[0], expression, time)
    named = isinstance(item, s.Name) and not item.parts[-1].startswith(HIDDEN)  # a column that only the plan has
    return Item(item.parts[-1] if named and isinstance(item, s.Name) else unnamed, expression, time)


def _choose(item: s.Columns, scope: Scope) -> list[int]:
    chosen: list[int] = []
    for element in item.chosen:
        if isinstance(element, tuple):
            first, last = (_position(end, item, scope) for end in element)
            chosen += range(first, last + 1)
        else:
            chosen.append(_position(element, item, scope))
    return [i for i in range(len(scope.columns)) if i not in chosen] if item.without else chosen


def _position(given: int | str, item: s.Columns, scope: Scope) -> int:
    if isinstance(given, int):
        if not 1 <= given <= len(scope.columns):
            raise SqlError(f"there is no column {given}: the table has {len(scope.columns)}")
        return given - 1
    return scope.find(s.Name(item.place, (given,)))[0]
