"""Turns the contents of windows into results: calls the window function and collects its results in blocks."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

from flintstream.contracts.functions import (
    AllWindowFunction,
    ProcessAllWindowFunction,
    ProcessWindowFunction,
    WindowFunction,
)
from flintstream.runtime.copies import copy_mutable
from flintstream.runtime.keys import thaw_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import TypeAlias

    from flintstream.runtime.windows.contexts import WindowContext, WindowTriggerContext

    Fire: TypeAlias = Callable[[object, object, Any, int], None]


def _method(function: object, name: str) -> Callable[..., Any]:
    """Return a method of a window function; if a duck-typed function lacks it, calls raise TypeError."""
    found = getattr(function, name, None)
    if found is not None:
        return found  # type: ignore[no-any-return]

    def missing(*_: Any) -> Any:
        raise TypeError(f"{name}() of windows calls a method {name}(), which {type(function).__name__} does not have")

    return missing


def _evaluation(
    function: Any, cls: type, context: WindowContext
) -> Callable[[object, object, Any], Iterable[object] | None]:
    """Return a function from a key, a window and the list of its contents to results."""
    if function is None:
        return lambda key, window, contents: contents  # noqa: ARG005
    if issubclass(cls, WindowFunction):
        apply = _method(function, "apply")
        return lambda key, window, contents: apply(thaw_key(key), window, contents)
    if issubclass(cls, ProcessWindowFunction):
        process = _method(function, "process")
        return lambda key, window, contents: process(thaw_key(key), context, contents)  # noqa: ARG005
    if issubclass(cls, AllWindowFunction):
        apply_all = _method(function, "apply")
        return lambda key, window, contents: apply_all(window, contents)  # noqa: ARG005
    if issubclass(cls, ProcessAllWindowFunction):
        process_all = _method(function, "process")
        return lambda key, window, contents: process_all(context, contents)  # noqa: ARG005
    raise TypeError(f"{type(function).__name__} is not a window function")


class OneRow(ProcessWindowFunction):
    """A window function that makes one new result of a reduced or aggregated value, without its context."""

    @abstractmethod
    def row_of(self, key: Any, window: Any, value: Any) -> object:
        """Return the result of a window. It is emitted without a copy."""

    def process(self, key: object, context: Any, elements: Iterable[object]) -> Iterable[object]:
        """Emit the result."""
        return [self.row_of(key, context.window(), value) for value in elements]


class Emitter:
    """Collects the results of one operator until its block ends."""

    __slots__ = (
        "_at", "_clear", "_context", "_evaluate", "_frozen", "_function", "finish", "fire", "results", "stamps",
    )  # fmt: skip

    def __init__(
        self,
        function: Any,
        cls: type | None,
        context: WindowContext,
        at: WindowTriggerContext,
        frozen: frozenset[type],
        *,
        listing: bool,
    ) -> None:
        """Collect the results of a window function.

        Args:
            function: the window function; None to emit a reduced or aggregated value unchanged.
            cls: the class that determines how to call the function; its own class if None.
            context: the context that process functions receive.
            at: switched to the key and window of each call; ``context`` follows it.
            frozen: the classes whose instances are emitted without a copy.
            listing: whether windows hold lists.
        """
        cls = cls or type(function)
        has_clear = issubclass(cls, (ProcessWindowFunction, ProcessAllWindowFunction)) and not issubclass(cls, OneRow)
        self._function = function
        self._evaluate = _evaluation(function, cls, context)
        self._clear = getattr(function, "clear", None) if has_clear else None
        self._context = context
        self._at = at
        self._frozen = frozen
        self.fire: Fire
        """Produces results from the contents of a window, if it has any; called with its key, the window, its contents,
        and the timestamp of results (ms)."""
        if listing:
            self.fire = self._fire_list
        elif function is None:
            self.fire = self._emit_contents
        else:
            self.fire = self._emit_row if issubclass(cls, OneRow) else self._fire_one
        self.finish = self.fire if self._clear is None else self._fire_and_drop
        """The same for a window that is dropped."""
        self.results: list[object] = []
        self.stamps: list[int] = []

    def _emit_contents(self, _key: object, _window: object, contents: Any, timestamp: int) -> None:
        if contents is not None:
            self.results.append(contents if type(contents) in self._frozen else copy_mutable(contents))
            self.stamps.append(timestamp)

    def _emit_row(self, key: object, window: object, contents: Any, timestamp: int) -> None:
        if contents is not None:
            self.results.append(self._function.row_of(thaw_key(key), window, contents))
            self.stamps.append(timestamp)

    def _fire_and_drop(self, key: object, window: object, contents: Any, timestamp: int) -> None:
        self.fire(key, window, contents, timestamp)
        self.drop(key, window)

    def _fire_one(self, key: object, window: object, contents: Any, timestamp: int) -> None:
        if contents is not None:
            self._fire_list(key, window, [contents], timestamp)

    def _fire_list(self, key: object, window: object, contents: Any, timestamp: int) -> None:
        if not contents:
            return
        self._at.enter(key, window)
        produced = self._evaluate(key, window, contents)
        if produced:
            results, frozen = self.results, self._frozen
            before = len(results)
            for result in produced:
                results.append(result if type(result) in frozen else copy_mutable(result))
            self.stamps += [timestamp] * (len(results) - before)

    def drop(self, key: object, window: object) -> None:
        """Let the window function clear its state of a window that is dropped."""
        if self._clear is not None:
            self._at.enter(key, window)
            self._clear(self._context)

    def take(self) -> tuple[list[object], list[int]]:
        """Return the results since the last call, and their timestamps."""
        results, stamps = self.results, self.stamps
        self.results, self.stamps = [], []
        return results, stamps
