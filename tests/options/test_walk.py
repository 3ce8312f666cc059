"""A walk over every option: it changes the plan of a program, a test elsewhere shows what it does, or it is listed.

``flink_options.json`` has the options of Flink 2.3 with their older spellings, read from its classes.
"""

from __future__ import annotations

import itertools
import json
import re
from pathlib import Path

import pytest
from tests.options.fingerprints import text_of

from flintstream.coordinator.autoscaler import AutoscalerSettings
from flintstream.datastream import StreamExecutionEnvironment
from flintstream.errors import PlanError
from flintstream.graph import transformation
from flintstream.options import execution, ignored, metrics, tables
from flintstream.options.flink_keys import GROUPS, is_of_flink, misleading
from flintstream.options.option import Option
from flintstream.options.table import OPTIONS, option_of, unknown_keys

TESTS = Path(__file__).parents[1]
FLINK = json.loads((TESTS / "options" / "flink_options.json").read_text())

ELSEWHERE = {
    "cli/test_configuration.py": "python.executable",
    "cli/test_history.py": "flintstream.control flintstream.history.max-age flintstream.history.max-jobs",
    "cli/test_run.py": "python.archives python.requirements",
    "coordinator/test_catching_up.py": "flintstream.until-caught-up",
    "coordinator/test_restart.py": "restart-strategy.failure-rate.max-failures-per-interval",
    "coordinator/test_resume.py": "flintstream.resume flintstream.engine",
    "dataframe/test_arrow_batches.py": "flintstream.table.arrow-batches",
    "datastream/test_connected_streams.py": "flintstream.keyed-stream.rows-with-keys",
    "datastream/test_job_settings.py": "pipeline.name flintstream.checkpointing.jobmanager.max-state-size",
    "datastream/test_own_backends_and_storages.py": "state.backend.rocksdb.options-factory",
    "engine/test_python_dependencies.py": "python.files",
    "engine/test_session.py": "flintstream.master",
    "engine/test_resident_tasks_on_spark.py": "flintstream.resident-tasks flintstream.resident-tasks.encrypt",
    "engine/test_sticky_subtasks.py": "flintstream.sticky-subtasks",
    "engine/test_closed_by_default.py": "flintstream.metrics.prometheus.host",
    "reporters/test_limited_server.py": "flintstream.metrics.prometheus.token-file",
    "reporters/test_prometheus_server.py": "flintstream.metrics.prometheus.port",
    "reporters/test_reporters.py": "flintstream.metrics.otlp.endpoint flintstream.metrics.otlp.interval",
    "rest/test_targets.py": "flintstream.rest.savepoint-dirs",
    "cli/test_sql.py": "sql-client.execution.result-mode",
    "sql_gateway/test_sessions.py": "sql-gateway.session.idle-timeout sql-gateway.session.max-num",
    "table/test_compiled_plans.py": """
        table.plan.compile.catalog-objects table.plan.restore.catalog-objects table.plan.force-recompile
    """,
    "table/test_determinism.py": "table.optimizer.non-deterministic-update.strategy",
    "table/test_grouping.py": "table.local-time-zone table.exec.mini-batch.enabled",
    "table/test_on_conflict.py": "table.exec.sink.require-on-conflict",
    "table/test_pandas_batches.py": """
        python.fn-execution.arrow.batch.size python.fn-execution.bundle.size python.fn-execution.bundle.time
    """,
    "table/test_sharing.py": "table.optimizer.reuse-sub-plan-enabled table.optimizer.reuse-source-enabled",
    "table/test_partial_groups.py": "table.optimizer.agg-phase-strategy",
    "table/test_sink_keys.py": """
        table.exec.sink.upsert-materialize table.exec.sink.not-null-enforcer table.exec.sink.keyed-shuffle
    """,
    "table/test_state_ttl.py": "table.exec.state.ttl",
    "table/test_strict.py": "flintstream.table.strict",
    "table/test_table_options.py": """
        table.exec.emit.early-fire.enabled table.exec.emit.early-fire.delay table.exec.emit.late-fire.enabled
        table.exec.emit.late-fire.delay table.exec.emit.allow-lateness table.exec.resource.default-parallelism
        table.exec.sort.default-limit table.exec.sink.type-length-enforcer table.dml-sync
        table.display.max-column-width table.dynamic-table-options.enabled table.column-expansion-strategy
        table.exec.sink.nested-constraint-enforcer table.sql-dialect table.builtin-catalog-name
        table.builtin-database-name table.exec.source.cdc-events-duplicate
    """,
    "table/test_watermarks.py": "table.exec.source.idle-timeout",
}
"""Tests that show what options do that the plan of a job does not have."""

CONSTANTS = {
    value.key: name
    for module in (execution, metrics, tables)
    for name, value in vars(module).items()
    if isinstance(value, Option)
}
SHOWN = {key: file for file, keys in ELSEWHERE.items() for key in keys.split()}


def only_its_default(option):
    """Return whether other values are refused, as there is nothing else to choose."""
    return option.type.name == "name" and len(option.type.accepted.removeprefix("one of ").split(", ")) == 1


ACTING = [option for option in OPTIONS if option not in ignored.OPTIONS and not only_its_default(option)]


# -- options that act --------------------------------------------------------------------------------------------------


@pytest.fixture
def plan_of(tmp_path, monkeypatch):
    """Return the text of all parts of a job with some options, or the error that they lead to."""

    def plan(entries):
        monkeypatch.setattr(transformation, "_ids", itertools.count(1))
        own = {
            "flintstream.engine": "inline",
            "execution.checkpointing.interval": "10 s",
            "execution.checkpointing.dir": tmp_path.as_uri(),
            **entries,
        }
        try:
            env = StreamExecutionEnvironment.get_execution_environment(own)
            env.from_collection([1]).map(lambda x: x).key_by(lambda x: x).reduce(lambda a, b: a).print()
            made = env._program().compile("job"), AutoscalerSettings.of(env._configuration.to_dict())
        except (PlanError, ValueError) as error:
            return str(error)
        return re.sub("[0-9a-f]{32}", "", text_of(made))

    return plan


def others(option):
    """Yield texts of values that are not the default."""
    texts = (
        "7 s",
        "3",
        "true",
        "false",
        "2 mb",
        "0.5",
        "1.5",
        "0.65",
        "0.95",
        "file:///tmp/x",
        *re.split(r"\W", option.type.accepted),
    )
    for text in texts:
        try:
            if option.parse(text) != option.default:
                yield text
        except ValueError:
            continue


def context(key):
    """Return other options with which an option has a meaning."""
    if key.startswith("restart-strategy.") and key.count(".") > 1:
        return {"restart-strategy.type": key.split(".")[1]}
    if "rocksdb" in key:
        return {"state.backend.type": "rocksdb"}
    if "autoscaler" in key:
        return {"flintstream.autoscaler.enabled": "true"}
    return {"state.changelog.enabled": "true"} if "changelog." in key else {}


@pytest.mark.parametrize(
    "option", [option for option in ACTING if option.key not in SHOWN], ids=lambda option: option.key
)
def test_an_option_changes_the_plan(option, plan_of):
    own = {key: value for key, value in context(option.key).items() if key != option.key}
    before = plan_of(own)
    assert before == plan_of(own)
    assert any(plan_of({**own, option.key: text}) != before for text in others(option))


@pytest.mark.parametrize("key", sorted(SHOWN))
def test_another_test_shows_what_an_option_does(key):
    assert option_of(key) in ACTING
    text = (TESTS / SHOWN[key]).read_text(encoding="utf-8").replace("\\", "")
    assert any(name in text for name in (key, key.partition("flintstream.")[2], CONSTANTS.get(key)) if name)


# -- options that do not -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", sorted(FLINK))
def test_an_option_of_flink_acts_or_is_listed(key):
    for spelling in (key, *FLINK[key]["older"]):
        assert (option_of(spelling) is not None) != is_of_flink(spelling), spelling
    option = option_of(key)
    if option is not None:
        assert option.key == key
        assert set(FLINK[key]["older"]) <= set(option.keys)
        assert not unknown_keys([key])


def test_a_key_without_effect_is_listed_once():
    keys = [key for group in GROUPS for key in group.keys]
    assert len(keys) == len(set(keys))
    assert not any(option_of(key) for key in keys)


@pytest.mark.parametrize(
    "key", ["pipeline.jars", "python.logging.level.overrides.pyflink", "table.exec.async-table.timeout"]
)
def test_a_key_on_which_an_author_counts_causes_a_warning(key):
    env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline", key: "1"})
    env.from_collection([1]).print()
    with pytest.warns(UserWarning, match=f"the configuration key '{re.escape(key)}' has no effect here: "):
        env.execute()


def test_other_keys_without_effect_cause_none(recwarn):
    entries = {key: "1" for group in GROUPS for key in group.keys if not group.warns and not key.endswith(".*")}
    env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline", **entries})
    env.from_collection([1]).print()
    env.execute()
    assert not any(map(misleading, entries))
    assert not [warning for warning in recwarn if "configuration key" in str(warning.message)]
