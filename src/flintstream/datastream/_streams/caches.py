"""The records that cached streams keep, and the jobs that fill them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from flintstream.common.job_status import JobStatus
from flintstream.connectors.cache import Cache
from flintstream.errors import PlanError
from flintstream.graph.transformation import SinkTransformation, SourceTransformation
from flintstream.runtime.operators.sink import SinkOperator
from flintstream.runtime.operators.source import SourceOperator

if TYPE_CHECKING:
    from collections.abc import Iterable

    from flintstream.graph.transformation import CacheTransformation, Transformation


class FillingJob(Protocol):
    """The interface of the job that fills a cache."""

    def status(self) -> JobStatus:
        """Return the status of the job."""


class StreamCache:
    """The kept records of one stream, and the job that fills the cache."""

    def __init__(self, transformation: CacheTransformation) -> None:
        self.transformation = transformation
        self.origin = transformation.inputs
        self.cache: Cache | None = None
        self.job: FillingJob | None = None

    @property
    def _name(self) -> str:
        return f"Cache: {self.transformation.name}"

    def drop(self) -> None:
        """Drop the kept records."""
        if self.cache is not None:
            self.cache.delete()
        self.cache = self.job = None
        self.transformation.inputs = self.origin

    def prepare(self, parent: str | None) -> SinkTransformation | None:
        """Make the stream read the kept records; if there are none, return the sink by which a job keeps them."""
        (origin,) = self.origin
        parallelism = (origin.inputs[0] if origin.virtual else origin).parallelism
        filled = self.job is not None and self.job.status() is JobStatus.FINISHED
        if filled and self.cache is not None and self.cache.intact():
            if self.transformation.inputs == self.origin:
                source = SourceOperator(self.cache.source())
                read = SourceTransformation(self._name, (), origin.output_type, parallelism, operator=source)
                self.transformation.inputs = (read,)
            return None
        self.cache, self.job = Cache(parent), None  # a running job keeps the cache that it is filling
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
    """Make cached streams read the kept records; return the caches that a job of these steps must fill, with sinks.

    A cached stream that only feeds another cached stream is skipped if the records of the latter are kept.
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
    """Raise an error for caches in a STREAMING job, as Flink does.

    Raises:
        PlanError: The job is a STREAMING job with caches.
    """
    cache = next(iter(caches), None)
    if cache is not None and not batch:
        raise PlanError(
            f"the stream '{cache.transformation.name}' is cached, which only BATCH jobs support: call "
            "env.set_runtime_mode(RuntimeExecutionMode.BATCH)"
        )
