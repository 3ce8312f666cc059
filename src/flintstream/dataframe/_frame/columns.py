"""Columns and conditions: select, filter, with_columns, drop and rename."""

from __future__ import annotations

import keyword
from typing import TYPE_CHECKING, TypeVar, overload

from flintstream.dataframe._checks import require_bool
from flintstream.dataframe._frame.base import Frame, aliases_of
from flintstream.table._steps.over import has_window
from flintstream.table.expression import Expression, syntax_of
from flintstream.table.expressions import and_, call_sql, col, lit

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Concatenate

    from typing_extensions import ParamSpec, Self

    from flintstream.dataframe._frame.base import ColumnLike

    P = ParamSpec("P")

T = TypeVar("T")


class Columns(Frame):
    """The methods that choose columns and rows."""

    def filter(self, *predicates: Expression | str | Callable[[Self], Expression], **constraints: object) -> Self:
        """Return the rows for which all conditions hold.

        Args:
            predicates: Conditions as expressions, as SQL, or as functions of this DataFrame.
            constraints: Values that columns have; None is for columns without a value.

        Raises:
            TypeError: A condition is none of these.
            ValueError: The conditions are missing.

        >>> import flintstream.dataframe as pf
        >>> users = pf.from_records([("ann", 30), ("bob", 17)], schema=["name", "age"])
        >>> users.filter(pf.col("age") >= 18, name="ann").columns
        ['name', 'age']
        """
        conditions = [self._condition(predicate) for predicate in predicates]
        for name, value in constraints.items():
            conditions.append(col(name).is_null if value is None else col(name) == lit(value))
        if not conditions:
            raise ValueError("filter() requires at least one predicate or equality constraint")
        return self._with(self._table.filter(conditions[0] if len(conditions) == 1 else and_(*conditions)))

    where = filter

    def _condition(self, predicate: object) -> Expression:
        if isinstance(predicate, str):
            return call_sql(predicate)
        if callable(predicate) and not isinstance(predicate, (Expression, type)):
            found = predicate(self)
            if not isinstance(found, Expression):
                raise TypeError("filter() callable predicates must return an Expression")
            return found
        if not isinstance(predicate, Expression):
            raise TypeError("predicate must be an Expression, SQL string, or callable")
        return predicate

    def with_column(self, name: str, expr: Expression | Callable[[Self], Expression]) -> Self:
        """Return the rows with a column more, or with another one of this name.

        Args:
            name: The column.
            expr: Its values, or a function of this DataFrame that returns them.

        Raises:
            TypeError: The name is not a text, or the values are not expression.

        >>> import flintstream.dataframe as pf
        >>> pairs = pf.from_records([(1, 2)], schema=["left", "right"])
        >>> pairs.with_column("total", lambda both: both["left"] + both["right"]).columns
        ['left', 'right', 'total']
        """
        if not isinstance(name, str):
            raise TypeError("name must be a string")
        found = expr
        if callable(expr) and not isinstance(expr, (Expression, type)):
            found = expr(self)
        if not isinstance(found, Expression):
            raise TypeError("expr must be an Expression")
        return self._with_more([found.alias(name)])

    def with_columns(self, *exprs: Expression, **named_exprs: Expression) -> Self:
        """Return the rows with more columns, or with others of the same names.

        Args:
            exprs: Values with names: ``(pf.col("n") + 1).alias("next")``.
            named_exprs: Values, by the names of their columns.

        Raises:
            TypeError: One is not an expression.

        >>> import flintstream.dataframe as pf
        >>> pf.range(3).with_columns(square=pf.col("id") * pf.col("id")).columns
        ['id', 'square']
        """
        for expression in exprs:
            if not isinstance(expression, Expression):
                raise TypeError("exprs must be expressions")
        for expression in named_exprs.values():
            if not isinstance(expression, Expression):
                raise TypeError("named_exprs must be expressions")
        return self._with_more([*exprs, *(item.alias(name) for name, item in named_exprs.items())])

    def _with_more(self, expressions: Sequence[Expression]) -> Self:
        if not any(has_window(syntax_of(item)) for item in expressions):
            return self._with(self._table.add_or_replace_columns(*expressions))
        new = {name: item for item in expressions for name in aliases_of(item)}
        kept = [new.pop(name, col(name)) for name in self.columns]
        return self._with(self._table.select(*kept, *new.values()))

    def drop_columns(self, *columns: ColumnLike, strict: bool = True) -> Self:
        """Return the rows without some columns.

        Args:
            columns: Names, or expressions that are columns.
            strict: Whether a name that is not there is an error.

        Raises:
            TypeError: An argument has another type.
            ValueError: A column does not exist.

        >>> import flintstream.dataframe as pf
        >>> pf.from_records([(1, "x")], schema=["id", "note"]).drop("note").columns
        ['id']
        """
        require_bool(strict, "strict")
        known = set(self.columns)
        dropped: list[Expression] = []
        for column in columns:
            if isinstance(column, Expression):
                dropped.append(column)
            elif not isinstance(column, str):
                raise TypeError("columns must be strings or expressions")
            elif column in known:
                dropped.append(col(column))
            elif strict:
                raise ValueError(f"Column '{column}' not found in schema")
        return self._with(self._table.drop_columns(*dropped)) if dropped else self

    drop = drop_columns

    def rename_columns(self, *args: object, mapping: Mapping[str, str] | Callable[[str], str] | None = None) -> Self:
        """Return the rows with other names for some columns.

        Args:
            args: A dict of old and new names, a function of the old name, or old and new names in turn.
            mapping: The dict or function, instead of ``args``.

        Raises:
            TypeError: A name is not a text, or there is neither a dict nor a function.
            ValueError: A new name is missing, or both arguments are there.

        >>> import flintstream.dataframe as pf
        >>> users = pf.from_records([(1, "ann")], schema=["id", "name"])
        >>> users.rename({"id": "user"}).columns, users.rename(str.upper).columns, users.rename("id", "key").columns
        (['user', 'name'], ['ID', 'NAME'], ['key', 'name'])
        """
        if args and mapping is not None:
            raise ValueError("rename_columns() accepts either positional arguments or mapping, not both")
        names = self._new_names(args, mapping)
        renamed = [col(old).alias(new) for old, new in names.items() if old != new]
        return self._with(self._table.rename_columns(*renamed)) if renamed else self

    rename = rename_columns

    def _new_names(self, args: Sequence[object], mapping: object) -> dict[str, str]:
        if len(args) > 1:
            if len(args) % 2:
                raise ValueError("rename_columns() positional arguments must be old/new name pairs")
            if not all(isinstance(name, str) for name in args):
                raise TypeError("column names must be strings")
            mapping = dict(zip(args[::2], args[1::2], strict=True))
        elif args:
            mapping = args[0]
        known = self.columns
        if isinstance(mapping, dict):
            if not all(isinstance(name, str) for pair in mapping.items() for name in pair):
                raise TypeError("mapping keys and values must be strings")
            return {old: new for old, new in mapping.items() if old in known}
        if not callable(mapping):
            raise TypeError("mapping must be a dictionary or callable")
        made = {name: mapping(name) for name in known}
        if not all(isinstance(name, str) for name in made.values()):
            raise TypeError("rename_columns() callable must return a string")
        return made

    def select(self, *columns: ColumnLike | Sequence[ColumnLike], **projections: Expression) -> Self:
        """Return columns and expressions.

        Args:
            columns: Names and expressions, or lists of them.
            projections: Expressions, by the names of their columns.

        Raises:
            TypeError: An argument has another type.

        >>> import flintstream.dataframe as pf
        >>> users = pf.from_records([(1, "ann")], schema=["id", "name"])
        >>> users.select(("name", "id"), double=pf.col("id") * 2).columns
        ['name', 'id', 'double']
        """
        chosen: list[Expression] = []
        for column in columns:
            for value in column if isinstance(column, (list, tuple)) else [column]:
                if isinstance(value, str):
                    chosen.append(col(value))
                elif isinstance(value, Expression):
                    chosen.append(value)
                else:
                    raise TypeError("columns must be strings, expressions, or lists or tuples of them")
        for name, projection in projections.items():
            if not isinstance(projection, Expression):
                raise TypeError("projections must be expressions")
            chosen.append(projection.alias(name))
        return self._with(self._table.select(*chosen))

    def pipe(self, func: Callable[Concatenate[Self, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Return what a function makes of this DataFrame and further arguments.

        >>> import flintstream.dataframe as pf
        >>> def named(frame, name):
        ...     return frame.rename("id", name)
        >>> pf.range(3).pipe(named, "number").columns
        ['number']
        """
        return func(self, *args, **kwargs)

    @overload
    def __getitem__(self, key: str) -> Expression: ...

    @overload
    def __getitem__(self, key: Expression | list[str] | list[Expression] | list[ColumnLike]) -> Self: ...

    @overload
    def __getitem__(self, key: tuple[ColumnLike, ...]) -> Self: ...

    def __getitem__(self, key: object) -> Self | Expression:
        """Return a column, the columns of a list, or the rows for which a condition holds.

        Raises:
            TypeError: The key is none of these.

        >>> import flintstream.dataframe as pf
        >>> users = pf.from_records([(1, "ann")], schema=["id", "name"])
        >>> users[["name"]].columns, users[users["id"] > 1].columns
        (['name'], ['id', 'name'])
        """
        if isinstance(key, str):
            return col(key)
        if isinstance(key, (list, tuple)):
            return self.select(key)
        if isinstance(key, Expression):
            return self.filter(key)
        raise TypeError("key must be a string, list, tuple, or Expression")

    def __getattr__(self, name: str) -> Expression:
        """Return a column by its name, if it is not a name of a method: ``users.age``.

        Raises:
            AttributeError: The column does not exist.

        >>> import flintstream.dataframe as pf
        >>> users = pf.from_records([(1, "ann")], schema=["id", "name"])
        >>> users.filter(users.id > 0).columns
        ['id', 'name']
        """
        absent = AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
        if name.startswith("_") or not name.isidentifier() or keyword.iskeyword(name) or hasattr(type(self), name):
            raise absent
        if "_table" not in vars(self) or name not in self.columns:
            raise absent
        return col(name)
