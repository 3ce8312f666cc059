"""Tables of files whose lines are changes, or hold several rows: where a restart reads on."""

from __future__ import annotations

import json
import pickle

import pytest

pytest.importorskip("sqlglot", reason="the extra 'table' is not installed: make setup")

from flintstream.common._types.data_types import DataTypes
from flintstream.connectors.source import Fetch
from flintstream.table._connectors.contract import ConnectorTable, Records
from flintstream.table._connectors.filesystem import FileSystem
from flintstream.table._connectors.options import Options
from flintstream.table._expressions.expr import Column
from flintstream.table._types.row_kinds import DELETE, INSERT, UPDATE_AFTER, UPDATE_BEFORE

COLUMNS = [Column("id", DataTypes.INT()), Column("name", DataTypes.STRING())]
A, B = {"id": 1, "name": "a"}, {"id": 1, "name": "b"}


def source_of(path, form):
    options = Options("t", {"connector": "filesystem", "path": str(path), "format": form})
    return FileSystem().source(ConnectorTable("t", COLUMNS, options))


def read_in_steps(source):
    """Read a record or line at a time, each with a new reader that only has the position of the one before it."""
    (split,) = source.create_enumerator(1).discover()
    steps: list[list[object]] = []
    while True:
        reader = source.create_reader()
        reader.open(None)
        batches = reader.read(split, Fetch(size=1))
        found = next(batches, None)
        batches.close()
        reader.close()
        if found is None:
            return steps
        steps.append(list(found))
        split = pickle.loads(pickle.dumps(split))


def test_a_restart_reads_on_behind_the_line_of_a_change(tmp_path):
    messages = [{"after": A, "op": "c"}, {"before": A, "after": B, "op": "u"}, {"before": B, "op": "d"}]
    (tmp_path / "f").write_text("\n\n".join(map(json.dumps, messages)) + "\n", "utf-8")
    found = source_of(tmp_path, "debezium-json")
    assert found.records is Records.LISTS
    assert [step for step in read_in_steps(found.source) if step] == [
        [((1, "a", INSERT),)],
        [((1, "a", UPDATE_BEFORE), (1, "b", UPDATE_AFTER))],
        [((1, "b", DELETE),)],
    ]


def test_a_restart_reads_on_behind_a_line_with_several_rows(tmp_path):
    (tmp_path / "f").write_text('[{"id":1},{"id":2}]\n[]\n{"id":3}\n[{"id":4}]\n', "utf-8")
    steps = [step for step in read_in_steps(source_of(tmp_path, "json").source) if step]
    assert steps == [[(1, None), (2, None)], [(3, None)], [(4, None)]]


def test_formats_of_changes_say_what_they_cannot_read(tmp_path):
    (tmp_path / "f").write_text('{"op_type": "T"}\n', "utf-8")
    with pytest.raises(Exception, match=r"line 1: .*unknown 'op_type' 'T'"):
        read_in_steps(source_of(tmp_path, "ogg-json").source)
