"""``flintstream config`` shows the settings that ``flintstream run`` starts a program with."""

from __future__ import annotations

import logging

import pytest
from click.testing import CliRunner

from flintstream.cli import main
from flintstream.cli.configuration import settings_with_file
from flintstream.options.config_file import read_config
from flintstream.options.table import OPTIONS

FILE = """\
jobmanager.rpc.address: localhost
taskmanager:
  numberOfTaskSlots: 2
parallelism.default: 3
state.backend: rocksdb
execution.checkpointing.interval: 10 s
s3.secret-key: none of ours
spark.hadoop.fs.s3a.secret.key: 'a: secret'
"""


@pytest.fixture(autouse=True)
def _environment(monkeypatch):
    for name in ("FLINK_CONF_DIR", "PYSPARK_SUBMIT_ARGS", "PYSPARK_PYTHON", "SPARK_CONF_DIR", "SPARK_HOME"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def file(tmp_path):
    (tmp_path / "config.yaml").write_text(FILE)
    return tmp_path / "config.yaml"


def shown(*arguments):
    result = CliRunner().invoke(main, ["config", *arguments])
    assert result.exit_code == 0, result.output
    return {line.removeprefix("# ").partition(":")[0]: " ".join(line.split()) for line in result.output.splitlines()}


def test_a_value_is_shown_with_its_source_and_default(file):
    lines = shown("--config", str(file), "-D", "execution.checkpointing.interval=1 min")
    assert lines["parallelism.default"] == f"parallelism.default: 3 # {file}:4, default -1"
    assert lines["state.backend.type"] == f"state.backend.type: rocksdb # {file}:5, as state.backend, default hashmap"
    assert lines["execution.checkpointing.interval"] == "execution.checkpointing.interval: 1 min # -D, no default"
    assert lines["execution.checkpointing.mode"] == "execution.checkpointing.mode: EXACTLY_ONCE # default"
    assert lines["flintstream.state.dir"] == "# flintstream.state.dir: not set"
    assert lines.keys() >= {option.key for option in OPTIONS}
    assert "taskmanager.numberOfTaskSlots" not in lines


def test_only_keys_that_are_set_are_shown_on_request(file):
    assert shown("--set", "--config", str(file)).keys() == {
        "parallelism.default",
        "state.backend.type",
        "execution.checkpointing.interval",
        "spark.hadoop.fs.s3a.secret.key",
    }


def test_secrets_are_hidden(file):
    line = shown("--config", str(file))["spark.hadoop.fs.s3a.secret.key"]
    assert line == f"spark.hadoop.fs.s3a.secret.key: '***' # {file}:8"


def test_a_misspelt_key_is_pointed_out():
    line = shown("-D", "execution.checkpointing.intervall=1")["execution.checkpointing.intervall"]
    assert line.endswith("# -D, unknown: did you mean 'execution.checkpointing.interval'?")


def test_the_output_is_a_configuration_file(file, tmp_path):
    output = CliRunner().invoke(main, ["config", "--config", str(file)]).output
    again = tmp_path / "again.yaml"
    again.write_text(output)
    settings = {key: setting.value for key, setting in read_config(again).items()}
    assert settings["parallelism.default"] == "3"
    assert settings["flintstream.master"] == "local[*]"
    assert settings["restart-strategy.exponential-delay.backoff-multiplier"] == "1.5"


def test_what_sparks_environment_says_is_shown(monkeypatch, tmp_path):
    (tmp_path / "spark-defaults.conf").write_text("spark.master spark://file:7077\nspark.default.parallelism 7\n")
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    monkeypatch.setenv("PYSPARK_PYTHON", "/opt/python")
    lines = shown()
    assert (
        lines["flintstream.master"] == "flintstream.master: spark://file:7077 # spark-defaults.conf, default local[*]"
    )
    assert lines["parallelism.default"] == "parallelism.default: 7 # spark.default.parallelism, default -1"
    assert lines["python.executable"] == "python.executable: '/opt/python' # PYSPARK_PYTHON, no default"
    assert "-D" in shown("-D", "flintstream.master=local[2]")["flintstream.master"]
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", "--master local[3] pyspark-shell")
    assert "local[3] # PYSPARK_SUBMIT_ARGS" in shown("-D", "flintstream.master=local[2]")["flintstream.master"]


def test_the_command_line_overrides_the_file_in_any_spelling(file, monkeypatch):
    monkeypatch.setenv("FLINK_CONF_DIR", str(file.parent))
    assert settings_with_file({"state.backend.type": "hashmap", "mine": "1"}, None) == {
        "parallelism.default": "3",
        "state.backend.type": "hashmap",
        "execution.checkpointing.interval": "10 s",
        "spark.hadoop.fs.s3a.secret.key": "a: secret",
        "mine": "1",
    }


def test_keys_without_effect_are_one_line_of_debug(file, caplog):
    with caplog.at_level(logging.DEBUG, "flintstream.cli"):
        settings_with_file({}, str(file))
    (message,) = [record.getMessage() for record in caplog.records]
    assert message == (
        f"keys in {file} that have no effect: jobmanager.rpc.address, s3.secret-key, taskmanager.numberOfTaskSlots"
    )


@pytest.mark.parametrize("command", [["config"], ["run", "{}/job.py"]])
def test_an_invalid_value_is_reported_with_its_line(command, tmp_path):
    (tmp_path / "job.py").touch()
    file = tmp_path / "config.yaml"
    file.write_text("parallelism:\n  default: many\n")
    name, *rest = [part.format(tmp_path) for part in command]
    result = CliRunner().invoke(main, [name, "--config", str(file), *rest])
    assert result.exit_code == 1
    assert result.output == (
        f"Error: {file}:2: 'parallelism.default' must be a whole number of at least 1, or -1, got 'many'\n"
    )


def test_a_file_that_does_not_exist_is_an_error():
    result = CliRunner().invoke(main, ["config", "--config", "/nowhere/config.yaml"])
    assert (result.exit_code, result.output) == (1, "Error: the configuration /nowhere/config.yaml does not exist\n")
