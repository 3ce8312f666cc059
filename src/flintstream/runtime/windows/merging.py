"""The open windows of a key when windows merge, and the state window of each.

Contents stay under the first of the merged windows (the *state window*), so that a session that grows with every
record does not move its contents each time. The mapping from windows to state windows is itself state of the key.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flintstream.common.typeinfo import Types
from flintstream.contracts.state import MapStateDescriptor
from flintstream.contracts.window import MergingWindowAssigner

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from flintstream.contracts.state import MapState

    MergeFunction = Callable[[Any, list[Any], Any, list[Any]], None]
    """Called with the merged window, the windows it replaces, its state window, and the state windows to empty."""

_UNTYPED = Types.PICKLED_BYTE_ARRAY()
IN_FLIGHT: MapStateDescriptor[Any, Any] = MapStateDescriptor("merging-window-set", _UNTYPED, _UNTYPED)
"""State of a key: its windows, and for each of them its state window."""


class _Merges(MergingWindowAssigner.MergeCallback):
    """Collects the merges that the assigner requests."""

    def __init__(self) -> None:
        self.found: list[tuple[Any, list[Any]]] = []

    def merge(self, to_be_merged: Iterable[Any], merge_result: Any) -> None:
        """Record one merged window."""
        self.found.append((merge_result, list(to_be_merged)))


class MergingWindowSet:
    """The windows of the current key."""

    __slots__ = ("_assigner", "state")

    def __init__(self, assigner: MergingWindowAssigner, state: MapState) -> None:
        """Keep the windows in ``state``, whose scope is the current key."""
        self._assigner = assigner
        self.state = state

    def state_window(self, window: Any) -> Any:
        """Return the state window that holds a window's contents, or None if the window is not open."""
        return self.state.get(window)

    def add(self, window: Any, on_merge: MergeFunction) -> Any:
        """Add a window and merge windows that belong together; return the window that now contains ``window``."""
        state = self.state
        mapping = dict(state.items())
        if window in mapping:
            return window
        result = window
        if mapping:
            merges = _Merges()
            self._assigner.merge_windows([*mapping, window], merges)
            for merged, sources in merges.found:
                if window in sources:
                    result = merged
                known = [mine for mine in mapping if mine in sources]
                if known:
                    self._replace(mapping, known, merged, on_merge)
        if result not in mapping:
            state.put(result, result)
        return result

    def _replace(self, mapping: dict[Any, Any], known: list[Any], merged: Any, on_merge: MergeFunction) -> None:
        """Replace the open windows ``known`` with ``merged``."""
        state_windows = [mapping.pop(source) for source in known]
        replaced = [source for source in known if source != merged]
        for source in replaced:
            self.state.remove(source)
        mapping[merged] = state_windows[0]
        self.state.put(merged, state_windows[0])
        if replaced:
            on_merge(merged, replaced, state_windows[0], state_windows[1:])

    def retire(self, window: Any) -> None:
        """Remove a window."""
        self.state.remove(window)
