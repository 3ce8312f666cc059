from __future__ import annotations

import enum
import pickle
import sys
from typing import ClassVar

import pytest

from flintstream.common.typeinfo import Types
from flintstream.common.types import Row
from flintstream.connectors.sink import WriterContext
from flintstream.runtime.operators.print_sink import PrintSink


class Color(str, enum.Enum):
    RED = "red"


def committables_of(sink, values, *, subtask=0, parallelism=1, input_type=None):
    writer = pickle.loads(pickle.dumps(sink)).create_writer(
        WriterContext(subtask, parallelism, "1", input_type=input_type)
    )
    for value in values:
        writer.write([value], None)
    return pickle.loads(pickle.dumps(list(writer.prepare_commit(end_of_input=True))))


@pytest.mark.parametrize(
    ("identifier", "parallelism", "line"),
    [(None, 1, "x"), (None, 3, "2> x"), ("id", 1, "id> x"), ("id", 3, "id:2> x"), ("", 3, "2> x")],
)
def test_lines_begin_as_in_flink(capsys, identifier, parallelism, line):
    sink = PrintSink(identifier)
    sink.create_committer().commit(committables_of(sink, ["x"], subtask=1, parallelism=parallelism))
    assert capsys.readouterr().out == line + "\n"


@pytest.mark.parametrize(
    ("type_info", "value", "line"),
    [
        (None, Row("a", 1), str(Row("a", 1))),
        (None, None, "None"),
        (None, ("a", 1.5), "('a', 1.5)"),
        (None, Color.RED, "red"),
        (Types.PICKLED_BYTE_ARRAY(), Color.RED, "red"),
        (Types.PICKLED_BYTE_ARRAY(), ("a", 1.5), "('a', 1.5)"),
        (Types.TUPLE([Types.STRING(), Types.INT()]), ("hi", 4), "(hi,4)"),
        (Types.ROW([Types.STRING(), Types.STRING(), Types.DOUBLE()]), Row("a", None, 1.5), "+I[a,None,1.5]"),
        (Types.DOUBLE(), 1e10, "1.0E10"),
        (Types.STRING(), "text", "text"),
    ],
)
def test_typed_values_print_as_their_type_writes_them(capsys, type_info, value, line):
    sink = PrintSink()
    sink.create_committer().commit(committables_of(sink, [value], input_type=type_info))
    assert capsys.readouterr().out == line + "\n"


def test_lines_are_printed_as_they_are_committed_and_nothing_before(capsys):
    sink = PrintSink()
    committables = [c for n in (0, 1) for c in committables_of(sink, [n, n], subtask=n, parallelism=2)]
    assert capsys.readouterr().out == ""
    sink.create_committer().commit(committables)
    assert capsys.readouterr().out == "1> 0\n1> 0\n2> 1\n2> 1\n"


def test_an_epoch_without_records_prepares_nothing_and_each_line_is_prepared_once():
    writer = PrintSink().create_writer(WriterContext(0, 1, "1"))
    assert list(writer.prepare_commit(end_of_input=False)) == []
    writer.write([1], None)
    assert len(writer.prepare_commit(end_of_input=False)) == 1
    assert list(writer.prepare_commit(end_of_input=True)) == []


def test_standard_error_is_used_on_demand(capsys):
    sink = PrintSink(to_stderr=True)
    sink.create_committer().commit(committables_of(sink, ["x"]))
    assert capsys.readouterr() == ("", "x\n")


def test_only_whole_lines_are_written_at_once(monkeypatch):
    class Stream:
        written: ClassVar[list[str]] = []

        def write(self, text):
            self.written.append(text)

        def flush(self):
            self.written.append("")

    monkeypatch.setattr(sys, "stdout", Stream())
    lines = [f"{'ä' * (n % 70)} {n}\n" for n in range(500)] + ["x" * 10_000 + "\n", "two\nlines\n"]
    PrintSink().create_committer().commit(lines)
    assert "".join(Stream.written) == "".join(lines)
    assert set(Stream.written[1::2]) == {""}, "each is flushed"
    assert all(part.endswith("\n") and len(part.encode()) <= 4096 for part in Stream.written[:-1:2] if len(part) < 9999)
