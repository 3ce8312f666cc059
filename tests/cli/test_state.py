from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from flintstream.cli import main
from flintstream.common import Time, Types
from flintstream.datastream.state import ListStateDescriptor, MapStateDescriptor, StateTtlConfig, ValueStateDescriptor
from flintstream.savepoint import SavepointWriter


@pytest.fixture
def path(tmp_path):
    seen = ListStateDescriptor("seen", Types.STRING())
    seen.enable_time_to_live(StateTtlConfig.new_builder(Time.hours(1)).build())
    price = MapStateDescriptor("price", Types.STRING(), Types.LONG())
    writer = SavepointWriter.new(8).with_state("basket", price, [("ann", {"apple": 3, "pear": 4})], name="baskets")
    writer.with_state("basket", seen, [("ann", ["x", "y"]), (7, ["z"])], last_access_ms=1000)
    writer.with_state("total", ValueStateDescriptor("sum", None), [(("ann", 1), (5, frozenset({"é"})))])
    return writer.write(str(tmp_path / "made"))


def run(*arguments):
    return CliRunner().invoke(main, ["state", *arguments])


def squeezed(text):
    """Return the words of each non-empty line; the widths of columns do not matter."""
    return [" ".join(line.split()) for line in text.splitlines() if line.strip(" ─")]


def test_a_listing_names_operators_and_states(path):
    result = run("list", path)
    assert result.exit_code == 0
    first, title, *rows = squeezed(result.stdout)
    assert first.startswith("savepoint 0 of")
    assert title == "uid operator state kind type entries bytes"
    assert [row.rpartition(" ")[0] for row in rows] == [
        "basket baskets (1 of 8) price map MapTypeInfo<String, Long> 2",
        "seen list, ttl ListTypeInfo<String> 2",
        "total total (1 of 8) sum value 1",
    ]
    assert all(int(row.rpartition(" ")[2]) > 0 for row in rows)


def test_a_listing_for_scripts_has_an_operator_per_line(path):
    operators = [json.loads(line) for line in run("list", path, "--format", "json").stdout.splitlines()]
    assert [
        (operator["uid"], operator["name"], [state["name"] for state in operator["states"]]) for operator in operators
    ] == [
        ("basket", "baskets", ["price", "seen"]),
        ("total", "total", ["sum"]),
    ]


def test_entries_are_shown_with_key_and_value(path):
    title, *entries = squeezed(run("show", path).stdout)
    assert title == "operator state key namespace map key value last access"
    assert sorted(entries) == [
        'basket price "ann" "apple" 3',
        'basket price "ann" "pear" 4',
        'basket seen "ann" ["x", "y"] 1000',
        'basket seen 7 ["z"] 1000',
        'total sum ["ann", 1] [5, ["é"]]',
    ]


@pytest.mark.parametrize(
    ("options", "shown"),
    [
        (["--operator", "baskets", "--state", "seen"], ["ann", 7]),
        (["--operator", "total"], [["ann", 1]]),
        (["--key", "7"], [7]),
        (["--key", "ann", "--state", "price"], ["ann", "ann"]),
        (["--key", '["ann",1]'], [["ann", 1]]),
        (["--limit", "1"], ["ann"]),
        (["--timers"], []),
    ],
)
def test_entries_are_chosen_by_operator_state_and_key(options, shown, path):
    result = run("show", path, *options, "--format", "json")
    assert result.exit_code == 0
    assert [json.loads(line)["key"] for line in result.stdout.splitlines()] == shown
    assert ("There are more than 1" in result.stderr) == ("--limit" in options)


def test_json_has_all_there_is_of_an_entry(path):
    line = run("show", path, "--operator", "total", "--format", "json").stdout
    assert line == (
        '{"operator": "total", "state": "sum", "key": ["ann", 1], "namespace": null, "map_key": null, '
        '"value": [5, ["é"]], "last_access_ms": null}\n'
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--operator", "x"], "has no operator with the uid 'x'; it has 'basket' (baskets), 'total' (total)"),
        (["--state", "x"], "has no state 'x'; its states are: price, seen, sum"),
    ],
)
def test_what_does_not_exist_is_answered_with_what_does(options, message, path):
    result = run("show", path, *options)
    assert result.exit_code == 1
    assert message in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.promise("S21")
def test_control_characters_of_a_savepoint_do_not_reach_the_terminal(tmp_path):
    odd = "\x1b[2J\x9b1m\u202e\ud800"
    state = ValueStateDescriptor(odd, Types.STRING())
    path = SavepointWriter.new(max_parallelism=8).with_state("visits", state, [("ann", odd)]).write(str(tmp_path / "s"))
    for command in (["list"], ["show"], ["show", "--state", "none"]):
        for form in ("table", "json"):
            output = run(*command, path, "--format", form).output
            assert r"\x1b[2J" in output or r"\u001b[2J" in output
            assert output.replace("\n", "").isprintable()
    (line,) = run("show", path, "--format", "json").output.splitlines()
    assert json.loads(line)["value"] == odd.replace("\ud800", "\ufffd")


def test_no_savepoint_is_an_error(tmp_path):
    result = run("list", str(tmp_path))
    assert (result.exit_code, "no checkpoint or savepoint at" in result.stderr) == (1, True)
