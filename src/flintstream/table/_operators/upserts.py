"""What comes before a sink with a primary key, and after a source of newest rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from flintstream.common._types import data_types as t
from flintstream.contracts.functions import KeyedProcessFunction
from flintstream.runtime.operators.base import Operator
from flintstream.table._operators.rows import value_state
from flintstream.table._types.row_kinds import DELETE, INSERT, UPDATE_AFTER, UPDATE_BEFORE, is_insert_like
from flintstream.table._types.rules import is_nullable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from flintstream.contracts.functions import RuntimeContext
    from flintstream.contracts.state import ValueState
    from flintstream.table._expressions.expr import Column
    from flintstream.table._operators.rows import Change, Row


class LastUpdates(Operator):
    """Turns rows before an update into deletions, unless the row after the update follows.

    A filter or a join behind an aggregation drops the row after an update that no longer passes or matches. A sink that
    keeps the newest row of each key learns only from the row before it that the key is gone.
    """

    def __init__(self, key: Sequence[int]) -> None:
        """Take the positions of the primary key."""
        self.key = tuple(key)

    def process(self, values: list[Change], timestamps: list[int] | None) -> None:
        """Convert a block."""
        results: list[Change] = []
        stamps: list[int] | None = None if timestamps is None else []
        for i, row in enumerate(values):
            if row[-1] == UPDATE_BEFORE:
                after = values[i + 1] if i + 1 < len(values) else None
                if after is not None and after[-1] == UPDATE_AFTER and all(after[k] == row[k] for k in self.key):
                    continue
                results.append((*row[:-1], DELETE))
            else:
                results.append(row)
            if stamps is not None and timestamps is not None:
                stamps.append(timestamps[i])
        if results:
            self.output.emit(results, stamps)


class SinkMaterializer(KeyedProcessFunction):
    """Keeps all rows of a sink's key, in the order in which they came, and emits changes of the last one.

    Rows of a key come from several subtasks, so a row may arrive before the one that it replaces is retracted.
    """

    def __init__(self, ttl_ms: int) -> None:
        """Take how long rows are kept (ms), 0 for no limit."""
        self.ttl_ms = ttl_ms

    def open(self, runtime_context: RuntimeContext) -> None:
        """Declare the rows."""
        self.rows: ValueState[list[Row]] = runtime_context.get_state(value_state("rows", self.ttl_ms))

    def process_element(self, value: Change, ctx: KeyedProcessFunction.Context[Row]) -> Iterator[Row]:
        """Add a row, or take one back."""
        row, kind = value[:-1], value[-1]
        rows = self.rows.value() or []
        if is_insert_like(kind):
            self.rows.update([*rows, row])
            yield (*row, UPDATE_AFTER if rows else INSERT)
            return
        if row not in rows:
            return  # its state has expired
        place = rows.index(row)
        left = rows[:place] + rows[place + 1 :]
        if left:
            self.rows.update(left)
        else:
            self.rows.clear()
        if not left:
            yield (*value[:-1], DELETE)
        elif place == len(left):
            yield (*left[-1], UPDATE_AFTER)


class SinkConflicts(KeyedProcessFunction):
    """Emits the first row of a sink's key until it is retracted; others are dropped, or fail the job.

    Changes are final at the next watermark, because those of several subtasks come in any order before it.
    """

    def __init__(self, table: str, key: dict[str, int], *, fails: bool) -> None:
        """Take the table, its key with positions in a row, and whether another row of a key fails the job."""
        self.table, self.key, self.fails = table, key, fails

    def open(self, runtime_context: RuntimeContext) -> None:
        """Declare the row, and the changes since the watermark."""
        self.current: ValueState[Row] = runtime_context.get_state(value_state("current"))
        self.changes: ValueState[list[Change]] = runtime_context.get_state(value_state("changes"))

    def process_element(self, value: Change, ctx: KeyedProcessFunction.Context[Row]) -> Iterator[Row]:
        """Keep a change until the watermark has passed."""
        self.changes.update([*(self.changes.value() or []), value])
        timers = ctx.timer_service()
        timers.register_event_time_timer(timers.current_watermark() + 1)
        return iter(())

    def on_timer(self, timestamp: int, ctx: KeyedProcessFunction.OnTimerContext[Row]) -> Iterator[Row]:
        """Emit what the key has become.

        Raises:
            ValueError: It has more than one row, and this fails the job.
        """
        before = current = self.current.value()
        added, retracted = _compact(self.changes.value() or [])
        self.changes.clear()
        if current in retracted:
            current = None
        rows = [*([] if current is None else [current]), *added]
        if self.fails and len(rows) > 1:
            key = ", ".join(f"{name}={rows[0][i]!r}" for name, i in self.key.items())
            raise ValueError(
                f"table '{self.table}': Primary key constraint violation: multiple distinct records with the same "
                f"primary key detected: {key}. Use ON CONFLICT DO DEDUPLICATE or DO NOTHING"
            )
        after = rows[0] if rows else None
        if after is None:
            self.current.clear()
        else:
            self.current.update(after)
        if before == after:
            return
        if after is None and before is not None:
            yield (*before, DELETE)
        elif after is not None:
            yield (*after, INSERT if before is None else UPDATE_AFTER)


def _compact(changes: list[Change]) -> tuple[list[Row], list[Row]]:
    """Return the rows that changes add, and those that they retract; a row that they add and retract is in neither."""
    added: list[Row] = []
    retracted: list[Row] = []
    for change in changes:
        row, to, other = change[:-1], added, retracted
        if not is_insert_like(change[-1]):
            to, other = retracted, added
        if row in other:
            other.remove(row)
        else:
            to.append(row)
    return added, retracted


class NullCheck:
    """Refuses None in the columns of a sink that are NOT NULL.

    >>> NullCheck("t", ["id", "n"], [0])((None, 1))
    Traceback (most recent call last):
    ValueError: table 't': the column 'id' is NOT NULL, but a row has NULL in it: (None, 1). Set
    'table.exec.sink.not-null-enforcer' = 'DROP' to leave such rows out
    """

    def __init__(self, table: str, names: list[str], positions: list[int]) -> None:
        self.table, self.names, self.positions = table, names, positions

    def __call__(self, row: Row) -> None:
        """Raise the error for a row.

        Raises:
            ValueError: Always.
        """
        name = next(self.names[i] for i in self.positions if row[i] is None)
        raise ValueError(
            f"table '{self.table}': the column '{name}' is NOT NULL, but a row has NULL in it: {row}. Set "
            "'table.exec.sink.not-null-enforcer' = 'DROP' to leave such rows out"
        )


class NestedNullCheck:
    """Finds None that is NOT NULL within the rows, and perhaps the collections, of a sink's columns.

    >>> from flintstream.table import DataTypes
    >>> from flintstream.table._expressions.expr import Column
    >>> pair = DataTypes.ROW([DataTypes.FIELD("x", DataTypes.ARRAY(DataTypes.INT(False)))])
    >>> check = NestedNullCheck("t", [Column("r", pair)], collections=True)
    >>> check.has_nulls((([1],),)), check.has_nulls((([1, None],),)), check.has_nulls((None,))
    (False, True, False)
    >>> check((([1, None],),))
    Traceback (most recent call last):
    ValueError: table 't': the column 'r.x[1]' is NOT NULL, but a row has NULL in it: (([1, None],),). Set
    'table.exec.sink.not-null-enforcer' = 'DROP' to leave such rows out
    """

    def __init__(self, table: str, columns: Sequence[Column], *, collections: bool) -> None:
        """Take the columns, and whether elements of arrays, maps and multisets count, too."""
        self.table, self.collections = table, collections
        self.columns = [(i, c.name, c.type) for i, c in enumerate(columns) if self._is_strict(c.type)]

    def _parts(self, kind: t.DataType) -> list[t.DataType]:
        if isinstance(kind, t.RowType):
            return list(kind.field_types())
        if not self.collections:
            return []
        if isinstance(kind, t.MapType):
            return [kind.key_type, kind.value_type]
        return [kind.element_type] if isinstance(kind, (t.ArrayType, t.MultisetType)) else []

    def _is_strict(self, kind: t.DataType) -> bool:
        return any(not is_nullable(part) or self._is_strict(part) for part in self._parts(kind))

    def _nulls(self, place: str, value: object, kind: t.DataType) -> Iterator[str]:
        """Yield the place of each None that must not be there."""
        if value is None:
            if not is_nullable(kind):
                yield place
        elif isinstance(kind, t.RowType):
            items = cast("Iterable[object]", value)
            for name, part, item in zip(kind.names, kind.field_types(), items, strict=True):
                yield from self._nulls(f"{place}.{name}", item, part)
        elif parts := self._parts(kind):
            for i, item in enumerate(cast("Iterable[object]", value)):
                yield from self._nulls(f"{place}[{i if isinstance(kind, t.ArrayType) else 'key'}]", item, parts[0])
                if isinstance(value, dict) and len(parts) == 2:
                    yield from self._nulls(f"{place}[value]", value[item], parts[1])

    def _first_null(self, row: Row) -> str | None:
        found = (place for i, name, kind in self.columns for place in self._nulls(name, row[i], kind.nullable()))
        return next(found, None)

    def has_nulls(self, row: Row) -> bool:
        """Return whether there is such a None; that of a column itself does not count."""
        return self._first_null(row) is not None

    def __call__(self, row: Row) -> None:
        """Raise the error for a row.

        Raises:
            ValueError: Always.
        """
        place = self._first_null(row)
        raise ValueError(
            f"table '{self.table}': the column '{place}' is NOT NULL, but a row has NULL in it: {row}. Set "
            "'table.exec.sink.not-null-enforcer' = 'DROP' to leave such rows out"
        )


class ChangelogNormalize(KeyedProcessFunction):
    """Turns the newest rows of keys, or changes of which some are repeated, into changes that say what they replace."""

    def open(self, runtime_context: RuntimeContext) -> None:
        """Declare the last row."""
        self.last: ValueState[Row] = runtime_context.get_state(value_state("last"))

    def process_element(self, value: Change, ctx: KeyedProcessFunction.Context[Row]) -> Iterator[Row]:
        """Replace the row of a key, or remove it."""
        row, before = value[:-1], self.last.value()
        if value[-1] == UPDATE_BEFORE:
            return  # what it takes back is known
        if value[-1] == DELETE:
            if before is not None:
                self.last.clear()
                yield (*before, DELETE)
            return
        if before == row:
            return
        self.last.update(row)
        if before is None:
            yield (*row, INSERT)
        else:
            yield (*before, UPDATE_BEFORE)
            yield (*row, UPDATE_AFTER)
