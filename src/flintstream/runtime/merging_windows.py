"""Which windows of a key are in flight when windows merge, and where the contents of each lie.

Contents are kept under the window that was there first (the *state window*), so that a session that grows with every
record does not move its contents each time. The mapping from windows to state windows is itself state of the key.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flintstream.datastream.window import MergingWindowAssigner

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from flintstream.datastream.state import MapState

    MergeFunction = Callable[[Any, list[Any], Any, list[Any]], None]
    """Called with the merged window, the windows it replaces, its state window, and the state windows to empty."""


class _Merges(MergingWindowAssigner.MergeCallback[Any]):
    """Collects what the assigner wants to become one."""

    def __init__(self) -> None:
        self.found: list[tuple[Any, list[Any]]] = []

    def merge(self, to_be_merged: Iterable[Any], merge_result: Any) -> None:
        """Note one merged window."""
        self.found.append((merge_result, list(to_be_merged)))


class MergingWindowSet:
    """The windows of the current key."""

    __slots__ = ("_assigner", "_mapping", "_state")

    def __init__(self, assigner: MergingWindowAssigner[Any, Any], state: MapState[Any, Any]) -> None:
        """Take the windows from ``state``, whose scope is the key; changes are written there at once."""
        self._assigner = assigner
        self._state = state
        self._mapping: dict[Any, Any] = dict(state.items())

    def state_window(self, window: Any) -> Any:
        """Return where the contents of a window lie, None when the window is not in flight."""
        return self._mapping.get(window)

    def add(self, window: Any, on_merge: MergeFunction) -> Any:
        """Add a window and merge what belongs together; return the window that ``window`` is part of now."""
        if window in self._mapping:
            return window
        merges = _Merges()
        self._assigner.merge_windows([*self._mapping, window], merges)
        result = window
        for merged, sources in merges.found:
            if window in sources:
                result = merged
            known = [mine for mine in self._mapping if mine in sources]
            if not known:
                continue
            state_windows = [self._mapping[source] for source in known]
            for source in known:
                self._drop(source)
            self._put(merged, state_windows[0])
            replaced = [source for source in known if source != merged]
            if replaced:
                on_merge(merged, replaced, state_windows[0], state_windows[1:])
        if result not in self._mapping:
            self._put(result, result)
        return result

    def retire(self, window: Any) -> None:
        """Forget a window; it must be in flight."""
        self._drop(window)

    def _put(self, window: Any, state_window: Any) -> None:
        self._mapping[window] = state_window
        self._state.put(window, state_window)

    def _drop(self, window: Any) -> None:
        del self._mapping[window]
        self._state.remove(window)
