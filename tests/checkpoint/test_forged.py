"""Savepoints whose checksums are right, but which flintstream did not write: refused with a clear error."""

from __future__ import annotations

import json
import pickle
import tracemalloc

import msgpack
import pytest
from click.testing import CliRunner
from tests.fuzz.forging import META, changelog, signed

from flintstream.checkpoint import metadata
from flintstream.checkpoint.changes import Change, TableInfo
from flintstream.checkpoint.codec import Opaque, decode, decode_one, encode, encode_one
from flintstream.checkpoint.json_text import to_json
from flintstream.checkpoint.metadata import ChainState, Metadata, OperatorInfo, StatePiece
from flintstream.checkpoint.state_file import StateFile, StateFileWriter, to_bytes
from flintstream.cli import main
from flintstream.common.types import _make_row
from flintstream.errors import CorruptCheckpointError, CorruptDataError
from flintstream.savepoint import Savepoint


def content():
    return json.loads(changelog()[META])["content"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c: c.update(number="3"), "'number' must be int, but is '3'"),
        (lambda c: c.update(depth=-1), "'depth' must not be negative"),
        (lambda c: c.update(job_name=None), "'job_name' must be str"),
        (lambda c: c["chains"][0]["operators"][1].update(parallelism=True), "'parallelism' must be int"),
        (lambda c: c["chains"][0]["operators"][1].update(max_parallelism=0), "has parallelism 2 of 0"),
        (lambda c: c["chains"][0].update(subtasks=[]), "a chain has no subtasks"),
        (lambda c: c["chains"][0]["subtasks"][0][0].update(path=5), "cannot be read as metadata"),
        (lambda c: c["chains"][0]["subtasks"][0][0].update(operators=[5]), "operators of a piece are not uids"),
        (lambda c: c["chains"][0]["subtasks"][0][0].update(size=-1), "'size' must not be negative"),
        (lambda c: c.update(chains={"a": 1}), "cannot be read as metadata"),
        (lambda c: c.update(enumerators={"a": 5}), "cannot be read as metadata"),
    ],
)
def test_metadata_with_members_of_wrong_types_is_refused(change, message):
    forged = content()
    change(forged)
    with pytest.raises(CorruptCheckpointError, match=message):
        metadata.from_bytes(signed(forged), "the file")


@pytest.mark.parametrize("data", [b"[" * 100_000, b'{"format":' * 100_000, b'{"version": ' + b"9" * 1_000_000 + b"}"])
def test_metadata_that_is_nested_deeply_or_has_a_long_number_is_refused(data):
    with pytest.raises(CorruptCheckpointError, match="the file: it cannot be read as metadata"):
        metadata.from_bytes(data, "the file")


def with_index(change):
    """Return a state file with another index."""

    class Forged(StateFileWriter):
        def forge(self):
            change(self)

    import io

    buffer = io.BytesIO()
    writer = Forged(buffer)
    writer.write("a", Change(TableInfo("total", "value"), ["k"], [1], []))
    writer.write_value("a", "offset", 5)
    writer.forge()
    writer.finish()
    return buffer.getvalue()


@pytest.mark.parametrize(
    "change",
    [
        lambda w: w._values.append(("a", "x", "not a number")),
        lambda w: w._values.append(("a", "x", -5)),
        lambda w: w._values.append(("a", "x", 1 << 70)),
        lambda w: w._values.append((5, "x", 32)),
        lambda w: w._values.append(("a", ("x",), 32)),
        lambda w: w._chunks.append((-1, 32)),
        lambda w: w._chunks.append((0, 10**6)),
        lambda w: w._sections.update({("a", TableInfo(5, "value")): [1, 0, 0, 0]}),  # type: ignore[arg-type]
        lambda w: w._sections.update({(None, TableInfo("x", "value")): [1, 0, 0, 0]}),
        lambda w: w._sections.update({("a", TableInfo("x", "value")): [1, "many", 0, 0]}),
    ],
)
def test_an_index_that_leads_nowhere_is_refused(change):
    with pytest.raises(CorruptCheckpointError, match="the file: its index is invalid"):
        StateFile(with_index(change), "the file")


class Evil:
    def __reduce__(self):
        return print, ("it ran",)


@pytest.mark.promise("S1")
def test_a_pickle_in_an_index_is_not_read(capsys):
    with pytest.raises(CorruptCheckpointError, match="its index is invalid"):
        StateFile(with_index(lambda w: w._values.append(("a", "x", Evil()))), "the file")
    assert capsys.readouterr().out == ""


LIST, MAP, TTL = TableInfo("s", "list"), TableInfo("s", "map"), TableInfo("s", "value", ttl=True)
TTL_LIST, PANES = TableInfo("s", "list", ttl=True), TableInfo("s", "value", namespaced=True)
TIMERS = TableInfo("event", "timers")


@pytest.mark.parametrize(
    "change",
    [
        Change(TableInfo("s", "value"), ["a", "b"], [1], []),
        Change(LIST, ["a"], [5], []),
        Change(MAP, ["a"], [5], []),
        Change(MAP, [("a", "b", "c")], [5], []),
        Change(MAP, [("a", "b")], [5], ["c"]),
        Change(PANES, ["a"], [5], []),
        Change(TTL, ["a"], [5], []),
        Change(TTL, ["a"], [(5, "late")], []),
        Change(TTL_LIST, ["a"], [[5]], []),
        Change(TIMERS, [(1, "a")], [], []),
        Change(TIMERS, [("soon", "a", None)], [], []),
        Change(TableInfo("s", "value"), [["unhashable"]], [5], []),
    ],
)
def test_entries_of_another_form_are_refused_by_file_and_operator(tmp_path, change):
    base = to_bytes([("a", change)])
    delta = to_bytes([("a", Change(change.table, [], [], [], [(["unhashable"], [1])]))], log=True)
    pieces = tuple(StatePiece("", len(data), _sha(data), data, operators=("a",)) for data in (base, delta))
    operators = (OperatorInfo("a", "A", 1, 128, keyed=True),)
    found = Metadata("savepoint", 1, "id", "job", 0, "1", (ChainState(operators, (pieces,)),))
    (tmp_path / META).write_bytes(metadata.to_bytes(found))
    savepoint = Savepoint.load(str(tmp_path))
    with pytest.raises(CorruptCheckpointError):
        list(savepoint.entries("a")), list(savepoint.timers("a"))
    result = CliRunner().invoke(main, ["state", "list", str(tmp_path)])
    assert result.exit_code == 1
    assert result.output.startswith("Error: ")


def _sha(data):
    import hashlib

    return hashlib.sha256(data).hexdigest()


def column(*parts):
    return msgpack.packb(list(parts))


@pytest.mark.promise("S28")
@pytest.mark.parametrize(
    "data",
    [
        column(2, 1 << 20, [[1, 1 << 20, "x"]] * 100),
        column(2, 1 << 20, [[2, 1 << 20, []]] * 100),
        column(1, 1 << 40, "x"),
        column(2, 1 << 40, []),
        column(1, 1 << 20, b"x" * (1 << 20)),
        msgpack.packb([4, "deque", [2, 1 << 20, [[1, 1 << 20, None]] * 31]]),
    ],
)
def test_a_few_bytes_that_stand_for_very_many_values_are_refused(data):
    tracemalloc.start()
    with pytest.raises(CorruptDataError):
        decode(data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1 << 29


def test_many_equal_values_are_read():
    values = [("a", None, 5)] * 500_000
    assert decode(encode(values)) == values


@pytest.mark.parametrize("names", [5, [1], {"a": 1}, Opaque(9, b"x"), "a"])
def test_a_row_whose_names_are_something_else_is_refused(names):
    with pytest.raises(CorruptDataError):
        decode_one(encode_one(_make_row(names, [1])), allow_pickle=False)


def test_large_integers_are_shown(tmp_path):
    assert to_json(10**5000) == f'"{hex(10**5000)}"'
    assert to_json([True, 2**63, 10**20]) == f'[true, {2**63}, "{10**20}"]'


@pytest.mark.promise("S21")
def test_names_do_not_control_the_terminal(tmp_path):
    operators = (OperatorInfo("\x1b[31m \ud800", "A\nB", 1, 128, keyed=False),)
    found = Metadata("savepoint", 1, "id", "job \x1b]0;x\x07 \udcff", 0, "1", (ChainState(operators, ((),)),))
    (tmp_path / META).write_bytes(metadata.to_bytes(found))
    for arguments in (["list"], ["list", "--format", "json"], ["show", "--operator", "\x1b[31m"]):
        result = CliRunner().invoke(main, ["state", arguments[0], str(tmp_path), *arguments[1:]])
        assert isinstance(result.exception, (SystemExit, type(None)))
        assert "\x1b" not in result.output
        assert "\x07" not in result.output
    assert r"\x1b[31m \ud800" in result.output


@pytest.mark.promise("S1")
def test_a_state_file_does_not_unpickle_for_readers_that_do_not_ask(capsys):
    data = to_bytes([("a", Change(TableInfo("s", "value"), ["k"], [Evil()], []))])
    (change,) = StateFile(data, allow_pickle=False).changes("a")
    assert pickle.loads(change.values[0].data) is None
    assert capsys.readouterr().out == "it ran\n"


def test_times_of_messagepack_are_values_that_can_be_written():
    from datetime import datetime, timezone

    at = datetime(2026, 11, 22, 1, 2, 3, tzinfo=timezone.utc)
    data = msgpack.packb([0, [at]], datetime=True)
    assert decode(data, allow_pickle=False) == decode(encode(decode(data)), allow_pickle=False) == [at]


def test_a_job_refuses_entries_of_another_form_by_file():
    import io

    from flintstream.checkpoint.checked_file import checked_file
    from flintstream.runtime.state_log.subtask_state import _apply
    from flintstream.state.hash_map import HashMapStateBackend

    data = to_bytes([("a", Change(MAP, [5], [5], []))])
    with (
        pytest.raises(CorruptCheckpointError, match=r"the file: a key or value that is not a tuple of 2"),
        checked_file(io.BytesIO(data), "the file", len(data), _sha(data)) as file,
    ):
        _apply(file.changes("a"), HashMapStateBackend("a"), None)
