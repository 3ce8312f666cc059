"""Joins of DataFrames, and the elements of their arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.dataframe._checks import require_bool
from flintstream.dataframe._frame.base import Frame, check_column, column_of, find_unused
from flintstream.dataframe._frame.elements import elements_of
from flintstream.table._owners import aggregates, environment_of, keep_matches
from flintstream.table._syntax import scalar as s
from flintstream.table.expression import Expression, syntax_of
from flintstream.table.expressions import and_, coalesce, col

if TYPE_CHECKING:
    from collections.abc import Sequence

    from typing_extensions import Self

    from flintstream.dataframe._frame.base import ColumnLike
    from flintstream.table.table import Table

_KINDS = ("inner", "left", "right", "full", "outer", "semi", "anti", "cross")


class Joins(Frame):
    """The methods that join rows with others."""

    def join(
        self,
        other: Self,
        *,
        on: str | Expression | list[str] | None = None,
        how: str = "inner",
        left_on: str | Expression | list[str] | None = None,
        right_on: str | Expression | list[str] | None = None,
    ) -> Self:
        """Return the rows of this DataFrame joined with those of another one.

        Columns of ``on``, and keys with the same name on both sides, are in the result once. Other names must differ.

        Args:
            other: The right side.
            on: Columns that both have, or the whole condition.
            how: ``inner``, ``left``, ``right``, ``full`` (or ``outer``), ``semi``, ``anti`` or ``cross``. The last
                has no keys; ``semi`` and ``anti`` have only the columns of this DataFrame.
            left_on: Keys of this DataFrame: a column, an expression or columns.
            right_on: Keys of the other one, as many.

        Raises:
            TypeError: An argument has another type.
            ValueError: The kind, keys or columns do not fit, or the environments differ.

        >>> import flintstream.dataframe as pf
        >>> pf.set_table_environment(None)
        >>> _ = pf.config.set("flintstream.engine", "inline").set("execution.runtime-mode", "batch")
        >>> orders = pf.from_records([(1, 10), (2, 20)], schema=["customer", "amount"])
        >>> people = pf.from_records([(1, "ann")], schema=["customer", "name"])
        >>> orders.join(people, on="customer").collect()
        [<Row(1, 10, 'ann')>]
        >>> orders.join(people, on="customer", how="anti").collect()
        [<Row(2, 20)>]
        """
        if not isinstance(other, Frame):
            raise TypeError("other must be a pyflink.dataframe.DataFrame")
        if environment_of(self._table) is not environment_of(other._table):
            raise ValueError("DataFrames must belong to the same TableEnvironment")
        if not isinstance(how, str):
            raise TypeError("how must be a string")
        if how not in _KINDS:
            names = ", ".join(f'"{kind}"' for kind in _KINDS[:-1])
            raise ValueError(f'how must be one of {names}, or "{_KINDS[-1]}"')
        if how == "cross":
            if (on, left_on, right_on) != (None, None, None):
                raise ValueError("cross join does not accept on, left_on, or right_on")
            check_conflicts(self.columns, other.columns, set())
            return self._with(self._table.join(other._table))
        plan = _Plan(self, other, on, left_on, right_on, both=how not in {"semi", "anti"})
        return self._with(plan.table("full" if how == "outer" else how))

    def explode(
        self,
        column: ColumnLike,
        *,
        output_column: str | list[str] | None = None,
        ignore_empty_and_null: bool = False,
    ) -> Self:
        """Return a row for each element of an array, map or multiset.

        The elements replace the column; those of another expression come last. Elements of maps are two columns, a key
        and a value. A row whose container is empty or None has one row with None, unless these are ignored.

        Args:
            column: The container.
            output_column: The name of the elements, or two for a map; that of the column if there is none.
            ignore_empty_and_null: Whether rows without elements are left out.

        Raises:
            TypeError: An argument has another type, or the container is missing.
            ValueError: A name is taken, empty or missing.

        >>> import flintstream.dataframe as pf
        >>> pf.set_table_environment(None)
        >>> _ = pf.config.set("flintstream.engine", "inline").set("execution.runtime-mode", "batch")
        >>> tagged = pf.from_dict({"id": [1, 2], "tags": [["a", "b"], []]})
        >>> tagged.explode("tags", output_column="tag").collect()
        [<Row(1, 'a')>, <Row(1, 'b')>, <Row(2, None)>]
        """
        expression = column_of(column, "column")
        require_bool(ignore_empty_and_null, "ignore_empty_and_null")
        if output_column is not None and not isinstance(output_column, (str, list)):
            raise TypeError("output_column must be a string or list of strings")
        if aggregates(expression):
            raise ValueError("column must be a row-wise expression, not an aggregation")
        chosen = self._table.select(expression).get_resolved_schema()
        if len(chosen.get_column_names()) != 1:
            raise ValueError("column must select a single column")
        call, width = elements_of(chosen.get_column_data_types()[0])
        names = _outputs(output_column, chosen.get_column_names()[0], width)
        kept, place = self.columns, len(self.columns)
        bare = syntax_of(expression)
        bare = bare.argument if isinstance(bare, s.Alias) else bare
        if isinstance(bare, s.Name) and bare.parts[-1] in kept:
            place = kept.index(bare.parts[-1])
            del kept[place]
        if set(names) & set(kept):
            raise ValueError("output_column names conflict with retained input columns")
        taken = {*kept, *names, *self.columns}
        own = [find_unused(f"__element_{i}", taken) for i in range(width)]
        lateral = call(expression if not isinstance(syntax_of(expression), s.Alias) else Expression(bare)).alias(*own)
        table = self._table
        joined = table.join_lateral(lateral) if ignore_empty_and_null else table.left_outer_join_lateral(lateral)
        items = [col(name) for name in kept]
        items[place:place] = [col(hidden).alias(name) for hidden, name in zip(own, names, strict=True)]
        return self._with(joined.select(*items))


def _outputs(given: str | list[str] | None, own: str, width: int) -> list[str]:
    if given is None:
        if width != 1:
            raise ValueError("output_column is required for multiple output fields")
        return [own]
    names = [given] if isinstance(given, str) else given
    if not all(isinstance(name, str) for name in names):
        raise TypeError("output_column must contain only strings")
    if len(names) != width:
        raise ValueError(f"output_column must contain {width} name(s)")
    if not all(names) or len(set(names)) != width:
        raise ValueError("output_column names must be non-empty and unique")
    return names


def check_conflicts(left: Sequence[str], right: Sequence[str], shared: set[str], method: str = "join") -> None:
    """Check that no other columns than shared keys have the same name on both sides.

    Raises:
        ValueError: Some have.
    """
    conflicts = sorted((set(left) & set(right)) - shared)
    if conflicts:
        raise ValueError(
            f"{method}() found duplicate non-key columns {conflicts}; rename them with rename_columns() before joining"
        )


def keys_of_side(value: object, name: str, columns: Sequence[str]) -> list[ColumnLike]:
    """Return the keys of one side of a join: columns, which must be there, or an expression.

    Raises:
        TypeError: They are neither.
        ValueError: There is none, or a column is missing or there twice.
    """
    if isinstance(value, Expression):
        return [value]
    keys = [value] if isinstance(value, str) else value
    if not isinstance(keys, list) or not all(isinstance(key, str) for key in keys):
        raise TypeError(f"{name} must be a string, an expression, or a list of strings")
    if not keys:
        raise ValueError(f"{name} must not be empty")
    if len(set(keys)) != len(keys):
        raise ValueError(f"{name} must not contain duplicate column names")
    for key in keys:
        check_column(key, columns, name)
    return list(keys)


class _Plan:
    """Both sides of a join, with a column for each key, and the condition."""

    def __init__(self, left: Frame, right: Frame, on: object, left_on: object, right_on: object, *, both: bool) -> None:
        self.names = left.columns
        self.shared: dict[str, str] = {}
        """The names of shared keys on the right side."""
        self.left, self.right = left._table, right._table
        self.more = right.columns
        if isinstance(on, Expression):
            if left_on is not None or right_on is not None:
                raise ValueError("on cannot be combined with left_on or right_on")
            if both:
                check_conflicts(left.columns, right.columns, set())
            self.condition = on
            return
        mine, theirs = self._sides(left, right, on, left_on, right_on)
        same = {a for a, b in zip(mine, theirs, strict=True) if isinstance(a, str) and isinstance(b, str) and a == b}
        if both:
            check_conflicts(left.columns, right.columns, same)
        taken = {*left.columns, *right.columns}
        conflicts = same if both else set(left.columns) & set(right.columns)
        self.shared = {name: find_unused(f"__right_{name}", taken) for name in left.columns if name in conflicts}
        self.left, left_keys = with_keys(self.left, mine, "left", taken)
        self.right, right_keys = with_keys(self.right, theirs, "right", taken)
        if self.shared:
            self.right = self.right.rename_columns(*(col(name).alias(new) for name, new in self.shared.items()))
        pairs = zip(left_keys, (self.shared.get(key, key) for key in right_keys), strict=True)
        equal = [col(a) == col(b) for a, b in pairs]
        self.condition = equal[0] if len(equal) == 1 else and_(*equal)
        self.shared = {name: new for name, new in self.shared.items() if name in same}

    @staticmethod
    def _sides(
        left: Frame, right: Frame, on: object, left_on: object, right_on: object
    ) -> tuple[list[ColumnLike], list[ColumnLike]]:
        if on is not None:
            if left_on is not None or right_on is not None:
                raise ValueError("on cannot be combined with left_on or right_on")
            return keys_of_side(on, "on", left.columns), keys_of_side(on, "on", right.columns)
        if left_on is None and right_on is None:
            raise ValueError("join() requires on or both left_on and right_on")
        if left_on is None or right_on is None:
            raise ValueError("left_on and right_on must be provided together")
        mine, theirs = keys_of_side(left_on, "left_on", left.columns), keys_of_side(right_on, "right_on", right.columns)
        if len(mine) != len(theirs):
            raise ValueError("left_on and right_on must have the same number of keys")
        return mine, theirs

    def table(self, how: str) -> Table:
        """Return the joined rows."""
        if how in {"semi", "anti"}:
            kept = keep_matches(self.left, self.right, self.condition, without=how == "anti")
            return kept.select(*map(col, self.names))
        join = {
            "inner": self.left.join,
            "left": self.left.left_outer_join,
            "right": self.left.right_outer_join,
            "full": self.left.full_outer_join,
        }[how]
        items = []
        for name in self.names:
            theirs = self.shared.get(name)
            if theirs is None or how in {"inner", "left"}:
                items.append(col(name))
            else:
                found = col(theirs) if how == "right" else coalesce(col(name), col(theirs))
                items.append(found.alias(name))
        items += [col(name) for name in self.more if name not in self.shared]
        return join(self.right, self.condition).select(*items)


def with_keys(table: Table, keys: Sequence[ColumnLike], side: str, taken: set[str]) -> tuple[Table, list[str]]:
    """Return a table with a column for each key that is an expression, and the names of the keys."""
    names = []
    for i, key in enumerate(keys):
        if isinstance(key, str):
            names.append(key)
        else:
            names.append(find_unused(f"__{side}_key_{i}", taken))
            table = table.add_columns(key.alias(names[-1]))
    return table, names
