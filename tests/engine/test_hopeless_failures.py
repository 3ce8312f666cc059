"""Failures that no restart heals end a job after a few tries, though jobs with checkpoints restart without limit."""

from __future__ import annotations

import pytest

from flintstream.errors import ExecutorError, MissingDependencyError

SETTINGS = {
    "execution.checkpointing.interval": "1 h",
    "restart-strategy.type": "exponential-delay",
    "restart-strategy.exponential-delay.initial-backoff": "1 ms",
    "restart-strategy.exponential-delay.max-backoff": "2 ms",
}


def run(make_env, tmp_path, error, healed_after=None):
    """Run a job whose function fails; return the number of its tries."""
    tries = tmp_path / "tries"

    def fail(value):
        with tries.open("a") as file:
            file.write(".")
        if healed_after is None or len(tries.read_text()) <= healed_after:
            raise error
        return value

    env = make_env(1, SETTINGS)
    env.from_collection([1]).map(fail).print()
    try:
        env.execute()
    finally:
        count = len(tries.read_text())
        (tmp_path / "count").write_text(str(count))
    return count


def test_a_package_that_is_missing_ends_the_job_after_three_tries(make_inline_env, tmp_path):
    with pytest.raises(MissingDependencyError, match="pip install absent"):
        run(make_inline_env, tmp_path, MissingDependencyError("absent", purpose="this test"))
    assert (tmp_path / "count").read_text() == "3"


def test_a_module_that_only_the_driver_has_is_missing_on_the_executors(make_inline_env, tmp_path):
    error = ModuleNotFoundError("No module named 'json'", name="json")  # as on an executor
    with pytest.raises(
        ExecutorError, match=r"the executors do not have the module 'json', which operator 'Map'.* needs"
    ):
        run(make_inline_env, tmp_path, error)
    assert (tmp_path / "count").read_text() == "3"


def test_what_another_executor_has_heals_the_job(make_inline_env, tmp_path):
    assert run(make_inline_env, tmp_path, ImportError("broken here"), healed_after=2) == 3


def test_other_failures_restart_without_limit(make_inline_env, tmp_path):
    assert run(make_inline_env, tmp_path, ValueError("now and then"), healed_after=7) == 8
