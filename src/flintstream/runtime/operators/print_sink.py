"""The sink behind ``DataStream.print``.

Users do not see a task's standard output. Lines therefore travel to the driver like other committables, and the driver
prints them once, even if a task is retried.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, cast

from flintstream.common._text.java import untyped_text
from flintstream.common._text.leaving import write_text
from flintstream.connectors.sink import Committer, Sink, SinkWriter

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from flintstream.connectors.sink import WriterContext


ONE_PIECE = 4096
"""Number of bytes that a pipe writes atomically."""


def line_prefix(sink_identifier: str | None, subtask: int, parallelism: int) -> str:
    """Return the prefix that Flink prints before each record.

    >>> line_prefix("id", 1, 4), line_prefix("id", 0, 1), line_prefix(None, 1, 4), line_prefix(None, 0, 1)
    ('id:2> ', 'id> ', '2> ', '')
    """
    number = str(subtask + 1) if parallelism > 1 else ""
    parts = [part for part in (sink_identifier, number) if part]
    return ":".join(parts) + "> " if parts else ""


class PrintWriter(SinkWriter):
    """Converts records to text inside a task."""

    def __init__(self, context: WriterContext, sink_identifier: str | None) -> None:
        """Take the writer's context and the sink's identifier."""
        self._prefix = line_prefix(sink_identifier, context.subtask, context.parallelism)
        self._to_text = untyped_text if context.input_type is None else context.input_type.to_text
        self._texts: list[str] = []

    def write(self, values: list[Any], timestamps: list[int] | None) -> None:
        """Buffer the lines."""
        prefix, to_text = self._prefix, self._to_text
        self._texts.extend([f"{prefix}{to_text(value)}\n" for value in values])

    def prepare_commit(self, *, end_of_input: bool, checkpoint: bool = True) -> Sequence[object]:
        """Return the lines of this epoch, each with its line end."""
        texts, self._texts = self._texts, []
        return texts


def whole_lines(text: str) -> Iterator[str]:
    r"""Split a text after line ends, so that output of other writers falls between lines.

    >>> [len(part) for part in whole_lines("0123456789\n" * 800)]
    [4092, 4092, 616]
    """
    most = ONE_PIECE if text.isascii() else ONE_PIECE // 4  # a character has up to four bytes
    start = 0
    while start < len(text):
        end = text.rfind("\n", start, start + most) + 1 or text.find("\n", start) + 1 or len(text)
        yield text[start:end]
        start = end


class PrintCommitter(Committer):
    """Prints lines in the driver."""

    def __init__(self, *, to_stderr: bool) -> None:
        """Choose between standard output and standard error."""
        self._to_stderr = to_stderr

    def commit(self, committables: Sequence[object]) -> None:
        """Print the lines."""
        stream = sys.stderr if self._to_stderr else sys.stdout
        for part in whole_lines("".join(cast("Sequence[str]", committables))):
            write_text(stream, part)
            stream.flush()


class PrintSink(Sink):
    """Prints records in the driver.

    Args:
        sink_identifier: Prefix of each line, as in Flink; None for no prefix.
        to_stderr: Whether to print to standard error.
    """

    waits_for_checkpoint = False
    commits_records = True

    def __init__(self, sink_identifier: str | None = None, *, to_stderr: bool = False) -> None:
        self._sink_identifier = sink_identifier
        self._to_stderr = to_stderr

    def create_writer(self, context: WriterContext) -> SinkWriter:
        """Return a writer that converts records to text."""
        return PrintWriter(context, self._sink_identifier)

    def create_committer(self) -> Committer:
        """Return the committer that prints."""
        return PrintCommitter(to_stderr=self._to_stderr)
