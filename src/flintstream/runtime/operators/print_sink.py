"""What ``DataStream.print`` writes to.

A task's standard output is seen by nobody, so lines travel to the driver like anything else a sink wants to commit, and
are printed there once: a retried task prints nothing twice.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, cast

from flintstream.common._javatext import untyped_text
from flintstream.connectors.sink import Committer, Sink, SinkWriter

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from flintstream.connectors.sink import WriterContext


ONE_PIECE = 4096
"""Bytes that a pipe takes in one piece."""


def line_prefix(sink_identifier: str | None, subtask: int, parallelism: int) -> str:
    """Return what Flink prints before each record.

    >>> line_prefix("id", 1, 4), line_prefix("id", 0, 1), line_prefix(None, 1, 4), line_prefix(None, 0, 1)
    ('id:2> ', 'id> ', '2> ', '')
    """
    number = str(subtask + 1) if parallelism > 1 else ""
    parts = [part for part in (sink_identifier, number) if part]
    return ":".join(parts) + "> " if parts else ""


class PrintWriter(SinkWriter):
    """Brings records to text inside a task."""

    def __init__(self, context: WriterContext, sink_identifier: str | None) -> None:
        """Take where it runs and the sink's identifier."""
        self._prefix = line_prefix(sink_identifier, context.subtask, context.parallelism)
        self._to_text = untyped_text if context.input_type is None else context.input_type.to_text
        self._texts: list[str] = []

    def write(self, values: list[Any], timestamps: list[int] | None) -> None:  # noqa: ARG002
        """Remember the lines."""
        prefix, to_text = self._prefix, self._to_text
        self._texts.extend([f"{prefix}{to_text(value)}\n" for value in values])

    def prepare_commit(self, *, end_of_input: bool, checkpoint: bool = True) -> Sequence[object]:  # noqa: ARG002
        """Return the lines of this epoch, each with its end."""
        texts, self._texts = self._texts, []
        return texts


def whole_lines(text: str) -> Iterator[str]:
    r"""Cut a text behind line ends, so that what others write in between comes between lines.

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
    """Prints in the driver."""

    def __init__(self, *, to_stderr: bool) -> None:
        """Take whether to print to standard error."""
        self._to_stderr = to_stderr

    def commit(self, committables: Sequence[object]) -> None:
        """Print the lines."""
        stream = sys.stderr if self._to_stderr else sys.stdout
        for part in whole_lines("".join(cast("Sequence[str]", committables))):
            stream.write(part)
            stream.flush()


class PrintSink(Sink):
    """Prints records in the driver.

    Args:
        sink_identifier: What each line begins with, as in Flink; None for nothing.
        to_stderr: Print to standard error.
    """

    waits_for_checkpoint = False
    commits_records = True

    def __init__(self, sink_identifier: str | None = None, *, to_stderr: bool = False) -> None:
        self._sink_identifier = sink_identifier
        self._to_stderr = to_stderr

    def create_writer(self, context: WriterContext) -> SinkWriter:
        """Return what brings records to text."""
        return PrintWriter(context, self._sink_identifier)

    def create_committer(self) -> Committer:
        """Return what prints."""
        return PrintCommitter(to_stderr=self._to_stderr)
