"""The operator that runs a sink's writer inside a task."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from flintstream.common._user_code.forks import leave_if_forked
from flintstream.connectors.sink import WriterContext
from flintstream.errors import is_interrupt, shorten
from flintstream.runtime.failure import OperatorFailure
from flintstream.runtime.operators.base import Operator
from flintstream.runtime.times import MIN_TIMESTAMP

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flintstream.common.typeinfo import TypeInformation
    from flintstream.connectors.sink import Sink, SinkWriter
    from flintstream.runtime.epoch import Epoch
    from flintstream.runtime.protocol import NodeReport


class SinkOperator(Operator):
    """Passes blocks to a writer and collects committables for the committer."""

    keeps_state = True

    def __init__(self, sink: Sink, input_type: TypeInformation | None) -> None:
        """Take the sink and the type of its records."""
        self.sink = sink
        self.input_type = input_type
        self.writer: SinkWriter | None = None
        self.restored: object | None = None
        self.recovered: Sequence[Any] = ()
        self.watermark = MIN_TIMESTAMP
        self.due: int | None = None

    def begin_epoch(self, epoch: Epoch, given: Sequence[Any]) -> None:
        """Remember the epoch, because a writer opened in it needs its version."""
        self.epoch = epoch
        self.owner = os.getpid()

    def open(self) -> None:
        """Open the writer even if it gets no records: its leftovers are found through its state."""
        try:
            self._open_writer()
        except BaseException as error:
            raise self._failure(error) from error

    def _open_writer(self) -> SinkWriter:
        own = self.context
        self.writer = self.sink.create_writer(
            WriterContext(
                own.subtask,
                own.parallelism,
                self.epoch.version,
                own.identity,
                self.input_type,
                own.runtime_context,
                own.commit_with_checkpoint and self.sink.waits_for_checkpoint,
                self.epoch.run,
                own.staging,
            )
        )
        if self.recovered:
            self.writer.recover(self.recovered)
        elif self.restored is not None:
            self.writer.restore(self.restored)
        self.recovered, self.restored = (), None
        if self.watermark > MIN_TIMESTAMP:
            self.writer.on_watermark(self.watermark)
        return self.writer

    def process(self, values: list[Any], timestamps: list[int] | None) -> None:
        """Write a block."""
        leave_if_forked(self.owner)  # a function before the sink may have forked while it processed the block
        try:
            (self.writer or self._open_writer()).write(values, timestamps)
        except BaseException as error:
            record = shorten(values[0]) if len(values) == 1 else None
            raise self._failure(error, record) from error

    def process_watermark(self, timestamp: int) -> None:
        """Pass the watermark to the writer, now or when it opens."""
        self.watermark = timestamp
        if self.writer is not None:
            try:
                self.writer.on_watermark(timestamp)
            except BaseException as error:
                raise self._failure(error) from error

    def restore_watermark(self, timestamp: int) -> None:
        """Pass the restored watermark to the writer."""
        self.process_watermark(timestamp)

    def process_idle(self, idle: bool) -> None:
        """Do nothing: a sink has no downstream operator."""

    def end_epoch(self, epoch: Epoch) -> NodeReport:
        """Report the committables that the writer finished in this epoch."""
        try:
            writer = self.writer or self._open_writer()
            prepare = writer.prepare_savepoint if epoch.savepoint else writer.prepare_commit
            prepared = prepare(end_of_input=epoch.end_of_input, checkpoint=epoch.commit)
            self.due = writer.next_prepare_commit()
            if epoch.checkpoint:
                writer.sync()
        except BaseException as error:
            raise self._failure(error) from error
        return super().end_epoch(epoch)._replace(committables=list(prepared))

    def next_processing_time(self) -> int | None:
        """Return when the writer wants an epoch to end (ms). There is no other work before that."""
        return self.due

    def snapshot(self) -> object | None:
        """Return the writer's state."""
        if self.writer is None:
            return self.restored
        try:
            return self.writer.snapshot()
        except BaseException as error:
            raise self._failure(error) from error

    def restore(self, state: object) -> None:
        """Close any writer of an older epoch, and keep the state until the next writer opens."""
        self.close()
        self.restored = state

    def recover(self, states: Sequence[Any], subtask: int, parallelism: int, *, same: bool) -> None:
        """Keep the writer states of a checkpoint. Each state goes to exactly one of the new writers."""
        self.close()
        self.recovered = states if same else states[subtask::parallelism]

    def close(self) -> None:
        """Close the writer."""
        writer, self.writer = self.writer, None
        if writer is not None:
            try:
                writer.close()
            except BaseException as error:
                raise self._failure(error) from error

    def release(self) -> None:
        """Close the writer, even after a failure."""
        try:
            self.close()
        except OperatorFailure as failure:  # the error that made the epoch fail is already reported
            if is_interrupt(failure.error):
                raise failure.error from None

    def _failure(self, error: BaseException, record: str | None = None) -> OperatorFailure:
        return OperatorFailure(self.context.name, self.context.subtask, error, record)
