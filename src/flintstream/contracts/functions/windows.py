"""Functions of the records of a window."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from flintstream.contracts.functions.basic import Function

if TYPE_CHECKING:
    from collections.abc import Iterable

    from flintstream.contracts.functions.basic import KeyedStateStore

IN = TypeVar("IN")
OUT = TypeVar("OUT")
KEY = TypeVar("KEY")
W = TypeVar("W")
W2 = TypeVar("W2")


class WindowFunction(Function, Generic[IN, OUT, KEY, W]):
    """Results for the records of a key's window."""

    @abstractmethod
    def apply(self, key: KEY, window: W, inputs: Iterable[IN]) -> Iterable[OUT]:
        """Return the results, or generate them; called each time the window fires."""


class AllWindowFunction(Function, Generic[IN, OUT, W]):
    """Results for the records of a window of a stream that is not keyed."""

    @abstractmethod
    def apply(self, window: W, inputs: Iterable[IN]) -> Iterable[OUT]:
        """Return the results, or generate them; called each time the window fires."""


class ProcessWindowFunction(Function, Generic[IN, OUT, KEY, W]):
    """Results for the records of a key's window, with access to the window, to time and to state."""

    class Context(ABC, Generic[W2]):
        """What the function may ask."""

        @abstractmethod
        def window(self) -> W2:
            """Return the window."""

        @abstractmethod
        def current_processing_time(self) -> int:
            """Return the worker's time in ms since the epoch."""

        @abstractmethod
        def current_watermark(self) -> int:
            """Return the current watermark in ms."""

        @abstractmethod
        def window_state(self) -> KeyedStateStore:
            """Return state of this key and window; clean it up in :meth:`ProcessWindowFunction.clear`."""

        @abstractmethod
        def global_state(self) -> KeyedStateStore:
            """Return state of this key, shared by all its windows."""

    @abstractmethod
    def process(self, key: KEY, context: Context[Any], elements: Iterable[IN]) -> Iterable[OUT]:
        """Return the results, or generate them; called each time the window fires."""

    def clear(self, context: Context[Any]) -> None:
        """Clean up per-window state; called when the window is dropped."""


class ProcessAllWindowFunction(Function, Generic[IN, OUT, W]):
    """Results for the records of a window of a stream that is not keyed, with access to the window and to state."""

    class Context(ABC, Generic[W2]):
        """What the function may ask."""

        @abstractmethod
        def window(self) -> W2:
            """Return the window."""

        @abstractmethod
        def window_state(self) -> KeyedStateStore:
            """Return state of this window; clean it up in :meth:`ProcessAllWindowFunction.clear`."""

        @abstractmethod
        def global_state(self) -> KeyedStateStore:
            """Return state shared by all windows."""

    @abstractmethod
    def process(self, context: Context[Any], elements: Iterable[IN]) -> Iterable[OUT]:
        """Return the results, or generate them; called each time the window fires."""

    def clear(self, context: Context[Any]) -> None:
        """Clean up per-window state; called when the window is dropped."""


class PassThroughWindowFunction(WindowFunction[Any, Any, Any, Any]):
    """Returns the records as they are."""

    def apply(self, key: Any, window: Any, inputs: Iterable[Any]) -> Iterable[Any]:  # noqa: ARG002 - the contract
        """Return ``inputs``."""
        return inputs


class PassThroughAllWindowFunction(AllWindowFunction[Any, Any, Any]):
    """Returns the records as they are."""

    def apply(self, window: Any, inputs: Iterable[Any]) -> Iterable[Any]:  # noqa: ARG002 - the contract
        """Return ``inputs``."""
        return inputs
