"""Jobs that are to resume from their newest checkpoint."""

from __future__ import annotations

import pytest

from flintstream.datastream import RuntimeExecutionMode, StreamExecutionEnvironment
from flintstream.errors import CheckpointError


def environment(mode):
    env = StreamExecutionEnvironment.get_execution_environment(
        {"flintstream.engine": "inline", "flintstream.resume": "true"}
    )
    env.set_runtime_mode(mode)
    env.from_collection([1, 2]).print()
    return env


def test_in_batch_mode_a_job_starts_from_the_beginning(capsys):
    environment(RuntimeExecutionMode.BATCH).execute("batch")
    assert capsys.readouterr().out.split("\n")[:-1]


def test_in_streaming_mode_a_directory_of_checkpoints_is_needed():
    with pytest.raises(CheckpointError, match=r"set 'execution\.checkpointing\.dir'"):
        environment(RuntimeExecutionMode.STREAMING).execute("stream")
