"""``CachedDataStream``: a stream that is computed once and read by later jobs (Flink's FLIP-205)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from flintstream.common._generic import T_co
from flintstream.common.job_status import JobStatus
from flintstream.connectors.cache import Cache
from flintstream.datastream._streams.base import DataStream
from flintstream.datastream._streams.no_settings import NoSettings
from flintstream.errors import PlanError
from flintstream.graph.transformation import SinkTransformation, SourceTransformation
from flintstream.runtime.operators.sink import SinkOperator
from flintstream.runtime.operators.source import SourceOperator

if TYPE_CHECKING:
    from collections.abc import Iterable

    from flintstream.common._generic import V
    from flintstream.datastream.output_tag import OutputTag
    from flintstream.datastream.stream_execution_environment import StreamExecutionEnvironment
    from flintstream.graph.transformation import CacheTransformation, Transformation


class CachedDataStream(NoSettings, DataStream[T_co]):
    """A stream whose records the first job that computes them keeps for the jobs after it (``DataStream.cache``).

    As in Flink it needs BATCH mode, and what is kept may be lost: it is computed again then. It is kept until
    :meth:`invalidate` is called, the environment is closed, or the program ends.

    >>> from flintstream.datastream import RuntimeExecutionMode, StreamExecutionEnvironment
    >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
    >>> _ = env.set_runtime_mode(RuntimeExecutionMode.BATCH).set_parallelism(1)
    >>> cached = env.from_collection([1, 2]).map(lambda x: print("computed", x) or x * 10).cache()
    >>> with cached.execute_and_collect() as results:
    ...     list(results)
    computed 1
    computed 2
    [10, 20]
    >>> with cached.map(lambda x: x + 1).execute_and_collect() as results:
    ...     list(results)
    [11, 21]
    >>> cached.invalidate()
    """

    def __init__(self, env: StreamExecutionEnvironment, transformation: CacheTransformation) -> None:
        """Wrap the transformation; :meth:`DataStream.cache` makes such streams."""
        super().__init__(env, transformation)
        self._cached = StreamCache(transformation)
        env._caches.append(self._cached)  # noqa: SLF001

    def invalidate(self) -> None:
        """Delete what was kept; the next job that needs the stream computes it again."""
        self._cached.drop()

    def get_side_output(self, output_tag: OutputTag[V]) -> DataStream[V]:
        """Not possible: what is kept is the main output.

        Raises:
            PlanError: Always.
        """
        raise PlanError(
            f"the cached stream '{self._transformation.name}' has no side output {output_tag}: ask the stream that is "
            "cached"
        )


class FillingJob(Protocol):
    """What is asked of the job that fills a cache."""

    def status(self) -> JobStatus:
        """Return what the job is doing."""


class StreamCache:
    """What is kept of one stream, and the job that is about to fill it."""

    def __init__(self, transformation: CacheTransformation) -> None:
        self.transformation = transformation
        self.origin = transformation.inputs
        self.cache: Cache | None = None
        self.job: FillingJob | None = None

    @property
    def _name(self) -> str:
        return f"Cache: {self.transformation.name}"

    def drop(self) -> None:
        """Forget what is kept."""
        if self.cache is not None:
            self.cache.delete()
        self.cache = self.job = None
        self.transformation.inputs = self.origin

    def prepare(self, parent: str | None) -> SinkTransformation | None:
        """Have the stream read from what is kept; else return what the next job shall fill it by."""
        (origin,) = self.origin
        parallelism = (origin.inputs[0] if origin.virtual else origin).parallelism
        filled = self.job is not None and self.job.status() is JobStatus.FINISHED
        if filled and self.cache is not None and self.cache.intact():
            if self.transformation.inputs == self.origin:
                source = SourceOperator(self.cache.source())
                read = SourceTransformation(self._name, (), origin.output_type, parallelism, operator=source)
                self.transformation.inputs = (read,)
            return None
        self.cache, self.job = Cache(parent), None  # one that a running job fills stays that job's
        self.transformation.inputs = self.origin
        return SinkTransformation(
            self._name,
            (self.transformation,),
            None,
            parallelism,
            operator=SinkOperator(self.cache.sink(), origin.output_type),
            kind="ENGINE",
        )


def prepare_caches(
    transformations: Iterable[Transformation], caches: Iterable[StreamCache], parent: str | None
) -> dict[StreamCache, SinkTransformation]:
    """Have cached streams read from what is kept; return those that a job of these steps has to fill, and how.

    A cached stream that only another one is made of is left alone when that one is kept.
    """
    known = {cache.transformation.id: cache for cache in caches}
    filling: dict[StreamCache, SinkTransformation] = {}
    seen, waiting = set(), list(transformations)
    while waiting:
        transformation = waiting.pop()
        if transformation.id in seen:
            continue
        seen.add(transformation.id)
        cache = known.get(transformation.id)
        if cache is not None and (sink := cache.prepare(parent)) is not None:
            filling[cache] = sink
        waiting += transformation.inputs
    return filling


def check_batch(caches: Iterable[StreamCache], *, batch: bool) -> None:
    """Refuse caches in a STREAMING job, as Flink does.

    Raises:
        PlanError: There is one.
    """
    cache = next(iter(caches), None)
    if cache is not None and not batch:
        raise PlanError(
            f"the stream '{cache.transformation.name}' is cached, which only BATCH jobs can do: call "
            "env.set_runtime_mode(RuntimeExecutionMode.BATCH)"
        )
