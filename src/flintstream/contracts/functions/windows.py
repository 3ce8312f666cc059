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
    """A function of the records of a key's window.

    >>> from flintstream.datastream import StreamExecutionEnvironment
    >>> class Joined(WindowFunction):
    ...     def apply(self, key, window, inputs):
    ...         yield key, " ".join(inputs)
    >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
    >>> pairs = env.from_collection(["to", "be", "not", "now"]).key_by(len).count_window(2)
    >>> sorted(pairs.apply(Joined()).execute_and_collect(limit=9))
    [(2, 'to be'), (3, 'not now')]
    """

    @abstractmethod
    def apply(self, key: KEY, window: W_contra, inputs: list[IN]) -> Iterable[OUT]:
        """Return the results, or generate them; called each time the window fires."""


class AllWindowFunction(Function, Generic[IN, OUT, W_contra]):
    """A function of the records of a window of a non-keyed stream.

    >>> from flintstream.datastream import StreamExecutionEnvironment
    >>> from flintstream.datastream.window import CountTumblingWindowAssigner
    >>> class Sorted(AllWindowFunction):
    ...     def apply(self, window, inputs):
    ...         yield window.id, sorted(inputs)
    >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
    >>> pairs = env.from_collection([4, 2, 3, 1]).window_all(CountTumblingWindowAssigner.of(2))
    >>> list(pairs.apply(Sorted()).execute_and_collect(limit=9))
    [(0, [2, 4]), (1, [1, 3])]
    """

    @abstractmethod
    def apply(self, window: W_contra, inputs: list[IN]) -> Iterable[OUT]:
        """Return the results, or generate them; called each time the window fires."""


class ProcessWindowFunction(Function, Generic[IN, OUT, KEY, W_contra]):
    """A function of the records of a key's window, with access to the window, time and state.

    >>> from flintstream.common import Types
    >>> from flintstream.datastream.state import ValueStateDescriptor
    >>> from flintstream.datastream.window import TumblingEventTimeWindows
    >>> from flintstream.testing.harness import KeyedHarness
    >>> class Count(ProcessWindowFunction):
    ...     fired = ValueStateDescriptor("fired", Types.LONG())
    ...
    ...     def process(self, key, context, elements):
    ...         fired = context.window_state().get_state(self.fired)
    ...         fired.update((fired.value() or 0) + 1)
    ...         yield key, context.window().start, len(elements), fired.value()
    ...
    ...     def clear(self, context):
    ...         context.window_state().get_state(self.fired).clear()
    >>> def counts(words):
    ...     windows = words.key_by(lambda word: word).window(TumblingEventTimeWindows.of(10))
    ...     return windows.allowed_lateness(20).process(Count())
    >>> with KeyedHarness(counts) as harness:
    ...     harness.process_element("to", 3)
    ...     harness.process_watermark(9)
    ...     harness.process_element("to", 4)  # late: the window fires again
    ...     harness.process_watermark(29)  # the window is cleared
    ...     harness.extract_output_values()
    [('to', 0, 1, 1), ('to', 0, 2, 2)]
    """

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
    """A function of the records of a window of a non-keyed stream, with access to the window and state.

    >>> from flintstream.datastream.window import TumblingEventTimeWindows
    >>> from flintstream.testing.harness import KeyedHarness
    >>> class Span(ProcessAllWindowFunction):
    ...     def process(self, context, elements):
    ...         yield context.window().start, context.window().end, sorted(elements)
    ...
    ...     def clear(self, context):
    ...         print("cleared")
    >>> with KeyedHarness(lambda words: words.window_all(TumblingEventTimeWindows.of(10)).process(Span())) as harness:
    ...     harness.process_element("to", 3)
    ...     harness.process_element("be", 9)
    ...     harness.process_watermark(9)
    ...     harness.extract_output_values()
    cleared
    [(0, 10, ['be', 'to'])]
    """

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
    """A window function that returns the records unchanged.

    >>> from flintstream.datastream import StreamExecutionEnvironment
    >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
    >>> pairs = env.from_collection([1, 2, 3, 4]).key_by(lambda n: 0).count_window(2)
    >>> list(pairs.apply(PassThroughWindowFunction()).execute_and_collect(limit=9))
    [1, 2, 3, 4]
    """

    def apply(self, key: KEY, window: W_contra, inputs: list[T]) -> list[T]:
        """Return ``inputs``."""
        return inputs


class PassThroughAllWindowFunction(AllWindowFunction[T, T, W_contra]):
    """A window function that returns the records unchanged.

    >>> from flintstream.datastream import StreamExecutionEnvironment
    >>> from flintstream.datastream.window import CountTumblingWindowAssigner
    >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
    >>> pairs = env.from_collection([1, 2, 3]).window_all(CountTumblingWindowAssigner.of(2))
    >>> list(pairs.apply(PassThroughAllWindowFunction()).execute_and_collect(limit=9))  # 3 is alone in its window
    [1, 2]
    """

    def apply(self, window: W_contra, inputs: list[T]) -> list[T]:
        """Return ``inputs``."""
        return inputs
