"""Window functions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from flintstream.common._generic import IN, KEY, OUT, Generic, T, W_co, W_contra
from flintstream.contracts.functions.basic import Function

if TYPE_CHECKING:
    from collections.abc import Iterable

    from flintstream.contracts.functions.basic import KeyedStateStore
    from flintstream.contracts.output_tag import OutputTag


class WindowFunction(Function, Generic[IN, OUT, KEY, W_contra]):
    """A function of the records of a key's window."""

    @abstractmethod
    def apply(self, key: KEY, window: W_contra, inputs: list[IN]) -> Iterable[OUT]:
        """Return the results, or generate them; called each time the window fires."""


class AllWindowFunction(Function, Generic[IN, OUT, W_contra]):
    """A function of the records of a window of a non-keyed stream."""

    @abstractmethod
    def apply(self, window: W_contra, inputs: list[IN]) -> Iterable[OUT]:
        """Return the results, or generate them; called each time the window fires."""


class ProcessWindowFunction(Function, Generic[IN, OUT, KEY, W_contra]):
    """A function of the records of a key's window, with access to the window, time and state."""

    class Context(ABC, Generic[W_co]):
        """The context of the function."""

        @abstractmethod
        def window(self) -> W_co:
            """Return the window."""

        @abstractmethod
        def current_processing_time(self) -> int:
            """Return the worker's clock time in ms since the epoch."""

        @abstractmethod
        def current_watermark(self) -> int:
            """Return the current watermark in ms."""

        @abstractmethod
        def window_state(self) -> KeyedStateStore:
            """Return the state of this key and window; clean it up in :meth:`ProcessWindowFunction.clear`."""

        @abstractmethod
        def global_state(self) -> KeyedStateStore:
            """Return the state of this key, shared by all its windows."""

    @abstractmethod
    def process(
        self, key: KEY, context: Context[W_contra], elements: list[IN]
    ) -> Iterable[OUT | tuple[OutputTag, Any]]:
        """Return the results, or generate them; called each time the window fires."""

    def clear(self, context: Context[W_contra]) -> None:
        """Clean up per-window state; called when the window is dropped."""


class ProcessAllWindowFunction(Function, Generic[IN, OUT, W_contra]):
    """A function of the records of a window of a non-keyed stream, with access to the window and state."""

    class Context(ABC, Generic[W_co]):
        """The context of the function."""

        @abstractmethod
        def window(self) -> W_co:
            """Return the window."""

        @abstractmethod
        def window_state(self) -> KeyedStateStore:
            """Return the state of this window; clean it up in :meth:`ProcessAllWindowFunction.clear`."""

        @abstractmethod
        def global_state(self) -> KeyedStateStore:
            """Return the state shared by all windows."""

    @abstractmethod
    def process(self, context: Context[W_contra], elements: list[IN]) -> Iterable[OUT | tuple[OutputTag, Any]]:
        """Return the results, or generate them; called each time the window fires."""

    def clear(self, context: Context[W_contra]) -> None:
        """Clean up per-window state; called when the window is dropped."""


class PassThroughWindowFunction(WindowFunction[T, T, KEY, W_contra]):
    """A window function that returns the records unchanged."""

    def apply(self, key: KEY, window: W_contra, inputs: list[T]) -> list[T]:  # noqa: ARG002 - the contract
        """Return ``inputs``."""
        return inputs


class PassThroughAllWindowFunction(AllWindowFunction[T, T, W_contra]):
    """A window function that returns the records unchanged."""

    def apply(self, window: W_contra, inputs: list[T]) -> list[T]:  # noqa: ARG002 - the contract
        """Return ``inputs``."""
        return inputs
