"""The contents of windows in a table by key and window: see :class:`flintstream.state.backend.Panes`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flintstream.common._user_code.formulas import formula_of
from flintstream.compiled import load
from flintstream.contracts.functions import ReduceFunctionWrapper

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from flintstream.contracts.state import StateDescriptor
    from flintstream.state.backend import Add, Cells, KeyedStateBackend

    Function = Callable[..., Any]


_compiled = load("windows")


class _Panes:
    """Base of the panes of all kinds of state."""

    __slots__ = ("_backend", "_dirty", "_values", "cursor")

    folds = False
    """Whether records may come as columns, because adding them needs no call of a function."""

    def __init__(self, backend: KeyedStateBackend, cells: Cells, descriptor: StateDescriptor) -> None:
        """Keep panes in ``cells``, in the form of the state of ``descriptor``."""
        self.cursor: Iterator[Any] = iter(())
        self._backend = backend
        self._values = cells.values
        self._dirty = cells.dirty
        self._configure(descriptor)

    def _configure(self, descriptor: Any) -> None:
        """Read the settings of this kind of state from the descriptor."""

    def get(self, key: Any, window: Any) -> Any:
        """Return the contents of a pane, as a window function gets them."""
        self._backend.key = key
        return self._result(self._values.get((key, window)))

    def pop(self, key: Any, window: Any) -> Any:
        """Empty a pane and return its contents, as a window function gets them."""
        backend, pane = self._backend, (key, window)
        backend.key = key
        if backend.tracking:
            self._dirty[pane] = 0
        return self._result(self._values.pop(pane, None))

    def clear(self, key: Any, window: Any) -> None:
        """Empty a pane."""
        backend, pane = self._backend, (key, window)
        backend.key = key
        if backend.tracking:
            self._dirty[pane] = 0
        self._values.pop(pane, None)

    def _result(self, contents: Any) -> Any:
        return contents


class ListPanes(_Panes):
    """All records of a window."""

    __slots__ = ()

    def get(self, key: Any, window: Any) -> Any:
        """Return the records in a list that the caller may keep."""
        self._backend.key = key
        contents = self._values.get((key, window))
        return None if contents is None else contents[:]

    def adder(
        self,
        opened: Callable[[object, object], None] | None = None,
        copied: Callable[[Any], Any] | None = None,
    ) -> Add:
        """Return a function that appends records to panes."""
        backend, values, dirty = self._backend, self._values, self._dirty
        get, tracking = values.get, backend.tracking

        def add(key: object, windows: Iterable[object], records: Sequence[object]) -> None:
            backend.key = key
            for window in windows:
                pane = (key, window)
                contents = get(pane)
                if contents is None:
                    values[pane] = [*records]
                    if tracking:
                        dirty[pane] = 0
                    if opened is not None:
                        opened(key, window)
                    continue
                if tracking and pane not in dirty:
                    dirty[pane] = len(contents)
                contents += records

        return add


class _FoldedPanes(_Panes):
    """One value per window, which a function of a value so far and a record makes."""

    __slots__ = ("_call", "_create", "_fold", "folds")

    _call: Function
    _create: Function | None
    """Makes the first value, which is then the second argument of the function; None if records are values."""

    def _configure(self, descriptor: Any) -> None:
        self._call, self._create = self._function_of(descriptor)
        self._fold = _compiled and _compiled.Fold(formula_of(self._call, 2), 0 if self._create is None else 1)
        self.folds = bool(self._fold)

    def _function_of(self, descriptor: Any) -> tuple[Function, Function | None]:
        raise NotImplementedError

    def adder(
        self, opened: Callable[[Any, Any], None] | None = None, copied: Callable[[Any], Any] | None = None
    ) -> Add:
        """Return a function that adds records to the values of panes."""
        backend, values, dirty, call, create = self._backend, self._values, self._dirty, self._call, self._create
        tracking = backend.tracking
        if _compiled is not None:
            return _compiled.Adder(  # type: ignore[no-any-return]
                self, backend, values, dirty, tracking, call, formula_of(call, 2), self._fold, create, opened, copied
            )

        def extend(contents: object, value: object) -> object:
            if create is not None:
                return call(value, create() if contents is None else contents)
            if contents is not None:
                return call(contents, value)
            return value if copied is None else copied(value)

        def add(key: object, windows: Iterable[object], records: Sequence[object]) -> None:
            backend.key = key
            for window in windows:
                pane = (key, window)
                contents = known = values.get(pane)
                self.cursor = cursor = iter(records)
                for value in cursor:
                    if value is None:
                        contents = known = None
                    else:
                        contents = extend(contents, value)
                if contents is not None:
                    values[pane] = contents
                else:
                    values.pop(pane, None)
                if tracking:
                    dirty[pane] = 0
                if known is None and opened is not None:
                    opened(key, window)

        return add


class ReducingPanes(_FoldedPanes):
    """The reduced value of a window."""

    __slots__ = ()

    def _function_of(self, descriptor: Any) -> tuple[Function, None]:
        return plain_reduce(descriptor), None


class AggregatingPanes(_FoldedPanes):
    """The accumulator of a window. Callers get its result."""

    __slots__ = ("_get_result",)

    def _function_of(self, descriptor: Any) -> tuple[Function, Function]:
        function = descriptor.get_agg_function()
        self._get_result = function.get_result
        return function.add, function.create_accumulator

    def _result(self, contents: Any) -> Any:
        return None if contents is None else self._get_result(contents)


def plain_reduce(descriptor: Any) -> Callable[[Any, Any], Any]:
    """Return the function of a reducing state without its wrappers, each of which would cost a call."""
    function: Callable[[Any, Any], Any] = descriptor.get_reduce_function().reduce
    while type(wrapper := getattr(function, "__self__", None)) is ReduceFunctionWrapper:
        function = wrapper._func
    return function
