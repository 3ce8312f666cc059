"""From the steps of an environment to jobs."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from flintstream.checkpoint.settings import state_directory
from flintstream.datastream._environment.job import client_of, result_of
from flintstream.datastream._environment.listening import begin, told_of_failure
from flintstream.datastream._environment.settings import EnvironmentSettings
from flintstream.datastream._streams.caches import check_batch, prepare_caches
from flintstream.engine import create_engine
from flintstream.graph.plan_json import execution_plan
from flintstream.graph.stream_graph import GraphSettings
from flintstream.graph.transformation import SinkTransformation
from flintstream.options.command_line import get_defaults, note_built, note_executed
from flintstream.options.execution import (
    CONTROL,
    ENGINE,
    HISTORY_AGE,
    HISTORY_JOBS,
    JOB_NAME,
    PYTHON_CHAINING,
    RUNTIME_MODE,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from flintstream.common.job_client import JobClient
    from flintstream.common.job_execution_result import JobExecutionResult
    from flintstream.common.job_listener import JobListener
    from flintstream.coordinator.client import RunningJob
    from flintstream.datastream._environment.listening import Listener
    from flintstream.datastream._environment.program import Program
    from flintstream.datastream._streams.caches import StreamCache
    from flintstream.graph.stream_graph import StreamGraph
    from flintstream.graph.transformation import Transformation


class Execution(EnvironmentSettings):
    """The methods of an environment that run its steps."""

    _transformations: list[Transformation]
    _caches: list[StreamCache]
    _job_listeners: list[JobListener]

    def __repr__(self) -> str:
        """Return the engine, the mode and the number of steps that the next execution runs."""
        engine, mode = self._configuration.get(ENGINE), self._configuration.get(RUNTIME_MODE)
        return f"{type(self).__name__}({engine}, {mode}, {len(self._transformations)} steps)"

    # -- execution ---------------------------------------------------------------------------------------------------

    def execute(self, job_name: str | None = None) -> JobExecutionResult:
        """Run what was built since the last execution, and wait for the end of the job. Streams stay usable.

        Raises:
            PlanError: The program cannot be run.
            JobCancelledError: The job was cancelled.
            Exception: The exception of user code, caused by a ``UserCodeError`` that names the operator.
        """
        job = self._start(job_name, wait=True)
        return self._result(job)

    def execute_async(self, job_name: str = JOB_NAME.default) -> JobClient:
        """Start the program and return a client that watches and stops it.

        >>> from flintstream.testing import CollectSink
        >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
        >>> sink = CollectSink()
        >>> _ = env.from_collection([1, 2]).sink_to(sink)
        >>> client = env.execute_async("two numbers")
        >>> result = client.get_job_execution_result().result()  # waits for the end
        >>> client.get_job_status().result().name, sorted(sink.get_results())
        ('FINISHED', ['1', '2'])

        Raises:
            PlanError: The program cannot be run.
        """
        return client_of(self._start(job_name, wait=False))

    def register_job_listener(self, listener: JobListener) -> None:
        """Tell ``listener`` of the start, the progress and the end of the jobs that follow.

        >>> from flintstream.common.job_listener import JobListener
        >>> class Report(JobListener):
        ...     def on_job_executed(self, progress, result, error):
        ...         print("failed" if error else "done")
        >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
        >>> env.register_job_listener(Report())
        >>> list(env.from_collection([1, 2]).execute_and_collect(limit=9))
        done
        [1, 2]
        >>> env.clear_job_listeners()
        >>> list(env.from_collection([1, 2]).execute_and_collect(limit=9))
        [1, 2]
        """
        self._job_listeners.append(listener)

    def clear_job_listeners(self) -> None:
        """Forget all listeners.

        >>> from flintstream.common.job_listener import JobListener
        >>> class Report(JobListener):
        ...     def on_job_executed(self, progress, result, error):
        ...         print("done")
        >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
        >>> env.register_job_listener(Report())
        >>> env.clear_job_listeners()
        >>> list(env.from_collection([1, 2]).execute_and_collect(limit=9))
        [1, 2]
        """
        self._job_listeners.clear()

    def get_execution_plan(self) -> str:
        """Return the plan that :meth:`execute` would run, in Flink's JSON. Nodes also have their ``superstep``.

        >>> import json
        >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
        >>> words = env.set_parallelism(2).from_collection(["to", "be"])
        >>> _ = words.map(lambda word: (word, 1)).key_by(lambda pair: pair[0]).sum(1).print()
        >>> for node in json.loads(env.get_execution_plan())["nodes"]:
        ...     print(node["superstep"], node["parallelism"], node["type"])
        0 1 Source: Collection Source
        1 2 Map
        2 2 Reduce
        2 2 Sink: Print to Std. Out
        """
        return execution_plan(self._graph())

    def close(self) -> None:
        """Drop unexecuted transformations and cached records. The Spark session stays open for other programs.

        >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
        >>> _ = env.set_parallelism(1).from_collection([1, 2]).print()  # never executed
        >>> env.close()
        >>> _ = env.from_collection([3]).print()
        >>> _ = env.execute()
        3
        """
        self._transformations.clear()
        for cache in self._caches:
            cache.drop()

    def _register(self, transformation: Transformation) -> None:
        self._transformations.append(transformation)
        note_built(self, transformation.name)

    def _program(self, more: Iterable[Transformation] = (), *, runs: str | None = None) -> Program:
        from flintstream.datastream._environment.program import Program

        settings = GraphSettings(
            parallelism=self._parallelism(runs=runs),
            max_parallelism=self.get_max_parallelism(),
            mode=self._configuration.get(RUNTIME_MODE),
            chaining=self.is_chaining_enabled(),
            python_chaining=self._configuration.get(PYTHON_CHAINING),
            auto_uids=self._config.has_auto_generated_uids_enabled(),
        )
        return Program(
            (*self._transformations, *more),
            settings,
            self._configuration,
            self._config,
            self._checkpoint_settings,
            self._state_settings,
        )

    def _graph(self) -> StreamGraph:
        return self._program().graph

    def _start(self, job_name: str | None, *, wait: bool) -> RunningJob:
        from flintstream.coordinator.autoscaler import AutoscalerSettings, autoscaling
        from flintstream.coordinator.client import RunningJob
        from flintstream.coordinator.monitoring import history
        from flintstream.reporters import reporting

        progress = get_defaults().progress
        listeners: list[Listener] = [*self._job_listeners, *([] if progress is None else [progress])]
        get = self._configuration.get
        if progress is not None:
            progress.on_starting(job_name or get(JOB_NAME))
        with told_of_failure(listeners):
            self._check_configuration()
            name = job_name or get(JOB_NAME)
            engine = create_engine(get(ENGINE), {**self._configuration.to_dict(), JOB_NAME.key: name})
            filling = prepare_caches(
                self._transformations, self._caches, state_directory(self._configuration.to_dict())
            )
            program = self._program(filling.values(), runs=name)
            check_batch(filling, batch=program.graph.batch)
            planned = program.compile(name)
            engine.check(planned.plan)
            has_sink = bool(filling) or any(isinstance(node, SinkTransformation) for node in self._transformations)
            note_executed(self, planned.plan.job_name, has_sink=has_sink)
            self._transformations.clear()
            reporters = reporting(self._configuration.to_dict())
            scaling = AutoscalerSettings.of(self._configuration.to_dict())
            reporters += [] if scaling is None else [autoscaling(scaling)]
        if get(CONTROL) and get(HISTORY_JOBS):
            reporters.append(history.history_reporter(get(HISTORY_AGE), get(HISTORY_JOBS)))
        reporters += [partial(begin, listener) for listener in listeners]
        told = self._configuration.to_dict()
        job = RunningJob(planned, engine, control=get(CONTROL), configuration=told, reporters=reporters)
        for cache in filling:
            cache.job = job
        job.start()
        if wait:
            job.wait()
        return job

    @staticmethod
    def _result(job: RunningJob) -> JobExecutionResult:
        return result_of(job)


Execution.__module__ = "flintstream.datastream.stream_execution_environment"  # where its examples run
