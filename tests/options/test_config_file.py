"""Flink's configuration file is read as Flink reads it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flintstream.options.config_file import config_file, has_counterpart, read_config

RECORDED = json.loads(Path(__file__).with_name("config_files.json").read_text(encoding="utf-8"))
"""Files, and what ``GlobalConfiguration.loadConfiguration`` of Flink 2.3.0 makes of them; None for an error."""

# Flink fails with a NullPointerException or a ClassCastException; here a null is a key that is not set.
LENIENT = {"empty": {}, "null": {}, "intkey": {"1": "one"}, "intkey2": {"x.1": "y"}, "tag": {"a": "5", "b": "x"}}


def number(text):
    try:
        return float(text)
    except ValueError:
        return text


@pytest.mark.parametrize("name", RECORDED)
def test_a_file_has_the_settings_that_flink_finds_in_it(name, tmp_path):
    file = tmp_path / "config.yaml"
    file.write_text(RECORDED[name]["text"], encoding="utf-8")
    expected = LENIENT.get(name, RECORDED[name]["settings"])
    if expected is None:
        with pytest.raises(ValueError, match=re.escape(str(file))):
            read_config(file)
    else:
        found = {key: setting.value for key, setting in read_config(file).items()}
        # Java writes a fraction in another way than the file may have it: 1.5 for 1.50.
        assert {key: number(value) for key, value in found.items()} == {
            key: number(value) for key, value in expected.items()
        }


def test_a_setting_knows_its_line(tmp_path):
    file = tmp_path / "config.yaml"
    file.write_text("# first\nparallelism:\n  # second\n  default: 3\nstate.backend.type: rocksdb\n")
    places = {key: setting.place for key, setting in read_config(file).items()}
    assert places == {"parallelism.default": f"{file}:4", "state.backend.type": f"{file}:5"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\nb: [1\nc: 2\n", r"config.yaml:3: this is not YAML"),
        ("a: 1\nb: 2\na: 3\n", r"config.yaml:3: the key 'a' appears twice"),
        ("- a\n- b\n", r"config.yaml:1: the file must have keys with values"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_with_its_line(text, message, tmp_path):
    (tmp_path / "config.yaml").write_text(text)
    with pytest.raises(ValueError, match=message):
        read_config(tmp_path / "config.yaml")


def test_an_older_file_has_a_key_and_a_value_in_each_line(tmp_path, caplog):
    file = tmp_path / "flink-conf.yaml"
    file.write_text("# a comment\nparallelism.default: 4 # four\nno value:\nurl: s3://a: b\n\nwhat\n")
    assert {key: setting.value for key, setting in read_config(file).items()} == {
        "parallelism.default": "4",
        "url": "s3://a: b",
    }
    assert [record.getMessage().removeprefix(f"{file}:") for record in caplog.records] == [
        "3: skipping a line that is not 'key: value'",
        "6: skipping a line that is not 'key: value'",
    ]


def test_the_file_is_the_given_one_or_that_of_flinks_directory(tmp_path):
    there = tmp_path / "there"
    there.mkdir()
    assert config_file(None, {}) is None
    assert config_file(None, {"FLINK_CONF_DIR": str(there)}) is None
    older, newer = there / "flink-conf.yaml", there / "config.yaml"
    older.touch()
    assert config_file(None, {"FLINK_CONF_DIR": str(there)}) == older
    newer.touch()
    assert config_file(str(there), {}) == newer
    assert config_file(str(older), {"FLINK_CONF_DIR": "/nowhere"}) == older
    with pytest.raises(ValueError, match="the configuration /nowhere does not exist"):
        config_file("/nowhere", {})
    with pytest.raises(ValueError, match="has neither config"):
        config_file(str(tmp_path), {})


@pytest.mark.parametrize(
    ("key", "taken"),
    [
        ("parallelism.default", True),
        ("state.backend", True),  # an older spelling
        ("execution.checkpointing.intervall", True),  # so that it is reported
        ("pipeline.global-job-parameters.mine", True),
        ("spark.ui.enabled", True),
        ("table.local-time-zone", True),
        ("execution.target", False),
        ("jobmanager.rpc.address", False),
        ("env.java.opts.all", False),
    ],
)
def test_keys_with_a_counterpart_are_taken(key, taken):
    assert has_counterpart(key) is taken


words = st.text("abc.-_ '\"#:[]{},0123456789\u00e9", max_size=12)


@given(st.dictionaries(st.from_regex(r"[a-z]{1,8}", fullmatch=True), words, max_size=6))
def test_a_flat_file_of_quoted_values_is_read_back(tmp_path_factory, settings):
    file = tmp_path_factory.mktemp("conf") / "config.yaml"
    quoted = {key: value.replace("'", "''") for key, value in settings.items()}
    file.write_text("".join(f"{key}: '{value}'\n" for key, value in quoted.items()), encoding="utf-8")
    assert {key: setting.value for key, setting in read_config(file).items()} == settings
