"""Every setting of checkpoints has its effect."""

from __future__ import annotations

import pytest
from tests.engine.slow_storage import SlowStore
from tests.engine.tally import expected, ordered, tally
from tests.engine.test_recovery import settings
from tests.waiting import wait_for

from flintstream.datastream import CustomCheckpointStorage
from flintstream.errors import CheckpointError

pytestmark = pytest.mark.slow


def numbers_of(client):
    return client.get_accumulators().result()


def test_between_two_checkpoints_there_is_the_least_pause(make_inline_env, tmp_path):
    env = make_inline_env(1, {**settings(tmp_path), "execution.checkpointing.min-pause": "500 ms"})
    sink = tally(env, 60, 0.02)
    result = env.execute("tally")
    assert 1 <= result.get_accumulator_result("numCheckpoints") <= result.get_net_runtime() / 500 + 1
    assert ordered(sink.get_results(True, False)) == expected(range(60))


@pytest.mark.on_spark
@pytest.mark.filterwarnings("ignore:.*set_checkpoint_storage:DeprecationWarning")
def test_a_checkpoint_that_takes_too_long_has_failed(make_env, tmp_path):
    for tolerated in (0, 1000):
        more = {
            "execution.checkpointing.timeout": "20 ms",
            "state.changelog.enabled": "true",  # state goes through the storage, however little
            "restart-strategy.type": "none",
        }
        env = make_env(1, {**settings(tmp_path), **more})
        config = env.get_checkpoint_config().set_tolerable_checkpoint_failure_number(tolerated)
        config.set_checkpoint_storage(CustomCheckpointStorage(SlowStore(str(tmp_path / "slow"))))
        sink = tally(env, 30, 0.02)
        if tolerated:
            numbers = env.execute("tally").get_all_accumulator_results()
            assert numbers["numFailedCheckpoints"] > 0
            assert ordered(sink.get_results(True, False)) == expected(range(30))
        else:
            with pytest.raises(
                CheckpointError, match=r"checkpoint \d+ failed: .*(not complete in time|the timeout is 20 ms)"
            ):
                env.execute("tally")


@pytest.mark.parametrize("mode", ["AT_LEAST_ONCE", "EXACTLY_ONCE"])
def test_only_exact_output_waits_for_a_checkpoint(make_env, tmp_path, mode):
    more = {"execution.checkpointing.interval": "1 h", "execution.checkpointing.mode": mode}
    env = make_env(1, {**settings(tmp_path), **more})
    sink = tally(env, None, 0.01)
    client = env.execute_async("tally")
    wait_for(lambda: numbers_of(client).get("numRecordsOut", 0) > 5)
    wait_for(lambda: numbers_of(client)["numEpochs"] > 5)
    rows = sink.get_results(True, False)
    assert numbers_of(client)["numCheckpoints"] == 0
    client.cancel().result()
    assert bool(rows) is (mode == "AT_LEAST_ONCE")


def test_settings_that_epochs_make_pointless_are_accepted(make_env, tmp_path):
    env = make_env(1, settings(tmp_path))
    config = env.get_checkpoint_config()
    config.enable_unaligned_checkpoints().set_force_unaligned_checkpoints().set_max_concurrent_checkpoints(3)
    sink = tally(env, 20)
    env.execute("tally")
    assert ordered(sink.get_results(True, False)) == expected(range(20))
