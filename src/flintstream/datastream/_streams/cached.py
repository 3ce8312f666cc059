"""``CachedDataStream``: a stream that is computed once and read by later jobs (Flink's FLIP-205)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.common._generic import T_co
from flintstream.datastream._streams.base import DataStream
from flintstream.datastream._streams.caches import StreamCache
from flintstream.datastream._streams.no_settings import NoSettings
from flintstream.errors import PlanError

if TYPE_CHECKING:
    from flintstream.common._generic import V
    from flintstream.datastream._streams.environment import StreamExecutionEnvironment
    from flintstream.datastream.output_tag import OutputTag
    from flintstream.graph.transformation import CacheTransformation


class CachedDataStream(NoSettings, DataStream[T_co]):
    """A stream whose records are kept by the first job that computes them, for later jobs (``DataStream.cache``).

    As in Flink, it needs BATCH mode, and records that are lost are computed again. They are kept until
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
        """Wrap the transformation; programs get it from :meth:`DataStream.cache`."""
        super().__init__(env, transformation)
        self._cached = StreamCache(transformation)
        env._caches.append(self._cached)

    def invalidate(self) -> None:
        """Delete the kept records. The next job that needs the stream computes it again."""
        self._cached.drop()

    def get_side_output(self, output_tag: OutputTag[V]) -> DataStream[V]:
        """Raise an error: only the main output is kept.

        Raises:
            PlanError: Always.
        """
        raise PlanError(
            f"the cached stream '{self._transformation.name}' has no side output {output_tag}: call "
            "get_side_output() on the stream before cache()"
        )
