"""Helpers for tests of whole programs. :mod:`flintstream.testing.harness` has those for single functions."""

from __future__ import annotations

import pickle
import uuid
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, overload

from flintstream.common._user_code import by_value
from flintstream.connectors.sink import Committer, Sink, SinkWriter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flintstream.common.typeinfo import TypeInformation
    from flintstream.connectors.sink import WriterContext

__all__ = ["CollectSink"]


class _Collected(NamedTuple):
    values: list[Any]
    type_info: TypeInformation | None

    def texts(self) -> list[str]:
        return list(map(str if self.type_info is None else self.type_info.stringify, self.values))


_collected: dict[str, list[_Collected]] = {}
"""Results by sink id: tasks have only pickled copies of the sink."""

_committed: dict[str, set[str]] = {}
"""Ids of the committed blocks by sink id: a job that starts from a savepoint commits its committables again."""


class CollectSink(Sink):
    """A sink that passes all records of a stream to the test, like the sink of PyFlink's own tests.

    >>> sink = CollectSink()
    >>> sink.get_results()
    []

    Use it as ``stream.add_sink(sink)``, and call :meth:`get_results` after ``env.execute()``.

    >>> from flintstream.datastream import StreamExecutionEnvironment
    >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
    >>> _ = env.from_collection([1, 2]).sink_to(sink)
    >>> _ = env.execute()
    >>> sink.get_results()
    ['1', '2']
    >>> sink.clear()
    """

    def __init__(self) -> None:
        self._id = uuid.uuid4().hex

    @overload
    def get_results(self, is_python_object: bool = False, stringify: Literal[True] = True) -> list[str]: ...

    @overload
    def get_results(self, is_python_object: bool = False, *, stringify: bool) -> list[Any]: ...

    @overload
    def get_results(self, is_python_object: bool, stringify: bool) -> list[Any]: ...

    def get_results(self, is_python_object: bool = False, stringify: bool = True) -> list[Any]:
        """Return the records collected since the last call, by epoch and subtask.

        Args:
            is_python_object: False: the text according to the value's type, ``+I[be, 2]``. True: the value itself ...
            stringify: ... or, if this is True, its ``str``.
        """
        blocks = _collected.pop(self._id, [])
        if not is_python_object and stringify:
            return [text for block in blocks for text in block.texts()]
        values = [value for block in blocks for value in block.values]
        return [str(value) for value in values] if stringify else values

    def clear(self) -> None:
        """Drop the collected records."""
        _collected.pop(self._id, None)

    def create_writer(self, context: WriterContext) -> SinkWriter:
        """Return the writer, which collects records in a task."""
        return _CollectWriter(context)

    def create_committer(self) -> Committer:
        """Return the committer, which receives the records in the driver."""
        return _CollectCommitter(self._id)


class _CollectWriter(SinkWriter):
    def __init__(self, context: WriterContext) -> None:
        self._context = context
        self._values: list[Any] = []

    def write(self, values: list[Any], timestamps: list[int] | None) -> None:
        self._values.extend(values)

    def prepare_commit(self, *, end_of_input: bool, checkpoint: bool = True) -> Sequence[object]:
        if not self._values:
            return ()
        # Pickled here, because the test may define the classes of the values, which only cloudpickle can restore.
        block = by_value.dumps(_Collected(self._values, self._context.input_type), names=False)
        self._values = []
        return ((self._context.subtask, uuid.uuid4().hex, block),)


class _CollectCommitter(Committer):
    def __init__(self, sink_id: str) -> None:
        self._sink_id = sink_id

    def commit(self, committables: Sequence[Any]) -> None:
        committed = _committed.setdefault(self._sink_id, set())
        for _, block_id, block in sorted(committables, key=lambda committable: committable[0]):
            if block_id not in committed:
                committed.add(block_id)
                _collected.setdefault(self._sink_id, []).append(pickle.loads(block))
