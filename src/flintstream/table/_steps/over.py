"""Tables between ``over_window()`` and ``select()``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flintstream.table._analyzer.over import select_items
from flintstream.table._deep_stack import deep
from flintstream.table._errors import SqlError, nearest
from flintstream.table._expressions.expr import Ref
from flintstream.table._expressions.resolver import resolve
from flintstream.table._logical.recording import Unfinished, record_steps
from flintstream.table._steps.grouped import change_syntax, list_items
from flintstream.table._syntax import scalar as s
from flintstream.table._types.rules import RowsType
from flintstream.table.expression import syntax_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flintstream.table.expression import Expression
    from flintstream.table.table import Table
    from flintstream.table.window import OverWindow

_UNBOUNDED = {"UNBOUNDED_ROW": True, "UNBOUNDED_RANGE": False}
_CURRENT = {"CURRENT_ROW": True, "CURRENT_RANGE": False}


def has_window(syntax: s.Syntax) -> bool:
    """Return whether an expression has a function over a window that it describes itself."""
    return isinstance(syntax, s.Over) or any(map(has_window, s.parts(syntax)))


@record_steps
class OverWindowedTable(Unfinished):
    """A table with windows over the rows around each row; mirrors PyFlink's class of this name.

    >>> from flintstream.table import EnvironmentSettings, TableEnvironment
    >>> from flintstream.table.expressions import col
    >>> from flintstream.table.window import Over
    >>> t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    >>> orders = t_env.sql_query("SELECT *, PROCTIME() AS p FROM (VALUES ('ann', 3), ('ann', 4)) AS T(name, n)")
    >>> running = orders.over_window(Over.partition_by(col("name")).order_by(col("p")).alias("w"))
    >>> running.select(col("name"), col("n").sum.over(col("w")).alias("total")).get_schema().get_field_names()
    ['name', 'total']
    """

    def __init__(self, table: Table, windows: Sequence[OverWindow]) -> None:
        """Hold the windows; :meth:`Table.over_window` makes it."""
        self._table = table
        self._windows = {window._name: window for window in windows}

    @deep
    def select(self, *fields: Expression) -> Table:
        """Return columns and expressions, with aggregates as ``col("n").sum.over(col("w"))``.

        Raises:
            SqlError: There is no such window, or it has another order than a time attribute.
        """
        table = self._table
        items = [change_syntax(item, self._with_window) for item in list_items(table, fields)]
        return table._with(select_items(table._session.settings, table._node, table._scope(), items, unnamed="_c"))

    def _with_window(self, syntax: s.Syntax) -> s.Syntax:
        if not isinstance(syntax, s.Apply) or syntax.function != "OVER":
            return syntax
        function, alias = syntax.arguments
        name = alias.parts[0] if isinstance(alias, s.Name) else ""
        window = self._windows.get(name)
        if window is None:
            raise SqlError(f"over() needs the name of a window, but got {name!r}{nearest(name, self._windows)}")
        by = resolve(syntax_of(window._order), self._table._scope())
        timely = isinstance(by, Ref) and self._table._node.columns[by.index].time
        if not timely and not self._table._session.settings.batch:
            raise SqlError(
                f"the window '{name}': Ordering must be defined on a time attribute: declare a watermark for the column"
            )
        order = ((syntax_of(window._order), False, True),)
        partition = tuple(syntax_of(item) for item in window._partition)
        return s.Over(None, function, partition, order, _frame(window))


def _frame(window: OverWindow) -> Any:
    """Return the rows that count as SQL writes them."""
    begin = "UNBOUNDED_RANGE" if window._preceding is None else syntax_of(window._preceding)
    word = begin.function if isinstance(begin, s.Apply) else begin if isinstance(begin, str) else ""
    low: tuple[s.Syntax | None, str]
    if word in _UNBOUNDED:
        rows, low = _UNBOUNDED[word], (None, "UNBOUNDED")
    elif isinstance(begin, s.Value):
        rows, low = isinstance(begin.type, RowsType), (begin, "PRECEDING")
    else:
        raise SqlError(f"preceding() of the window '{window._name}' needs a time, rows, or UNBOUNDED_RANGE")
    end = None if window._following is None else syntax_of(window._following)
    named = end.function if isinstance(end, s.Apply) else None
    if end is not None and (named is None or _CURRENT.get(named) != rows):
        wanted = "CURRENT_ROW" if rows else "CURRENT_RANGE"
        raise SqlError(f"following() of the window '{window._name}' needs {wanted}, as preceding() is of the same kind")
    if low[0] is None and not rows:
        return None
    return rows, low, (None, "CURRENT ROW")
