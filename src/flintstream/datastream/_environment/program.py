"""A program and its settings, from which a job is planned."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

from flintstream.coordinator.checkpointing.recovery import resolve_restore_path
from flintstream.coordinator.job import Job
from flintstream.coordinator.restart import restart_strategy
from flintstream.graph.planner import optimize, plan_job
from flintstream.graph.stream_graph import build_stream_graph
from flintstream.options.execution import BUFFER_TIMEOUT, IDLE_EPOCH, MAX_EPOCH
from flintstream.options.tables import ASYNC_SCALAR
from flintstream.runtime.plan import JobSettings
from flintstream.runtime.process_setup import ProcessSetup

if TYPE_CHECKING:
    from flintstream.checkpoint.settings import CheckpointSettings
    from flintstream.common.configuration import Configuration
    from flintstream.common.execution_config import ExecutionConfig
    from flintstream.graph.stream_graph import GraphSettings, StreamGraph
    from flintstream.graph.transformation import Transformation
    from flintstream.state.settings import StateSettings


class _CheckpointSettings(Protocol):
    def __call__(self, *, batch: bool) -> CheckpointSettings: ...


class _StateSettings(Protocol):
    def __call__(self, *, batch: bool) -> StateSettings: ...


@dataclass(frozen=True)
class Program:
    """The transformations of a program and the settings of its environment."""

    transformations: tuple[Transformation, ...]
    graph_settings: GraphSettings
    configuration: Configuration
    execution: ExecutionConfig
    checkpoint_settings: _CheckpointSettings
    """Returns the checkpoint settings, which depend on the mode."""
    state_settings: _StateSettings
    """Returns the state settings, which depend on the mode."""

    @cached_property
    def graph(self) -> StreamGraph:
        """Return the optimized graph.

        Raises:
            PlanError: The program is invalid.
        """
        return optimize(self._raw)

    @cached_property
    def _raw(self) -> StreamGraph:
        return build_stream_graph(self.transformations, self.graph_settings)

    def compile(self, name: str) -> Job:
        """Return a job of this name that runs the program.

        Raises:
            PlanError: The program is invalid.
            UnpicklableError: A function cannot be pickled; the message names the operator.
            CheckpointError: The job cannot resume from its checkpoint.
        """
        graph = self.graph
        settings = self.checkpoint_settings(batch=graph.batch)
        checkpoints = resolve_restore_path(settings, self.configuration, name, batch=graph.batch)
        job_id = checkpoints.resumed_job or uuid.uuid4().hex
        state = self.state_settings(batch=graph.batch)
        plan = plan_job(graph, name, job_id, self._job_settings(job_id, checkpoints, state))
        restart = restart_strategy(self.configuration, checkpointing=checkpoints.interval_ms is not None)
        return Job.of(plan, graph, checkpoints, restart, self._raw)

    def _job_settings(self, job_id: str, checkpoints: CheckpointSettings, state: StateSettings) -> JobSettings:
        get, nodes = self.configuration.get, self.graph.nodes
        storage = checkpoints.storage if state.changelog and checkpoints.max_state_size is None else None
        longest = get(MAX_EPOCH)
        timeouts = [node.buffer_timeout_ms for node in nodes if node.buffer_timeout_ms is not None]
        if self.configuration.find(BUFFER_TIMEOUT):
            timeouts.append(get(BUFFER_TIMEOUT))
        parameters = {key: str(value) for key, value in self.execution.get_global_job_parameters().items()}
        shortest = min((max(timeout, 1) for timeout in timeouts if timeout != -1), default=longest)
        return JobSettings(
            state=state,
            changelog=None if storage is None else storage.child(job_id),
            state_log=None if checkpoints.storage is None else checkpoints.storage.child("log"),
            staging=None if checkpoints.storage is None else checkpoints.storage.child(f"staged/{job_id}"),
            commit_with_checkpoint=checkpoints.interval_ms is not None and checkpoints.exactly_once,
            auto_watermark_interval_ms=self.execution.get_auto_watermark_interval(),
            bounded=all(node.bounded for node in nodes),
            job_parameters={**self._of_async_functions(), **parameters},
            process_setup=ProcessSetup.here(),
            max_epoch_ms=min(longest, checkpoints.interval_ms or longest, shortest),
            idle_epoch_ms=min(get(IDLE_EPOCH), shortest),
        )

    def _of_async_functions(self) -> dict[str, str]:
        """Return the options of async functions of tables that are set; these read them in their tasks."""
        configuration = self.configuration
        return {one.key: str(configuration.get(one)) for one in ASYNC_SCALAR if configuration.find(one) is not None}
