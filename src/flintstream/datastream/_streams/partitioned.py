"""Operations of a stream that distribute its records."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from flintstream.common._generic import T_co
from flintstream.datastream._streams.functions import as_selector
from flintstream.datastream._streams.outputs import Outputs
from flintstream.datastream.functions import (
    Partitioner,
)
from flintstream.graph.frozen import freeze
from flintstream.graph.transformation import (
    PartitionTransformation,
)
from flintstream.runtime import partitioners

if TYPE_CHECKING:
    from collections.abc import Callable

    from flintstream.common._generic import K
    from flintstream.datastream._streams.base import DataStream
    from flintstream.datastream._streams.broadcast import BroadcastStream
    from flintstream.datastream._streams.environment import StreamExecutionEnvironment
    from flintstream.datastream.functions import (
        KeySelector,
    )
    from flintstream.datastream.state import MapStateDescriptor


class Partitioned(Outputs[T_co]):
    """The operations of a stream that distribute its records."""

    _env: StreamExecutionEnvironment

    def _repartition(self, partitioner: partitioners.Partitioner) -> DataStream[T_co]:
        """Return the stream of the same records, distributed by a partitioner."""
        raise NotImplementedError

    def shuffle(self) -> DataStream[T_co]:
        """Send each record to a random subtask."""
        return self._repartition(partitioners.ShufflePartitioner())

    def rescale(self) -> DataStream[T_co]:
        """Distribute records round robin to the subtasks that belong to the sender."""
        return self._repartition(partitioners.RescalePartitioner())

    def rebalance(self) -> DataStream[T_co]:
        """Distribute records round robin to all subtasks."""
        return self._repartition(partitioners.RebalancePartitioner())

    def forward(self) -> DataStream[T_co]:
        """Send records to the subtask with the same index. Both ends need the same parallelism."""
        return self._repartition(partitioners.ForwardPartitioner())

    @overload
    def broadcast(self, broadcast_state_descriptor: None = None) -> DataStream[T_co]: ...

    @overload
    def broadcast(
        self,
        broadcast_state_descriptor: MapStateDescriptor,
        *other_broadcast_state_descriptors: MapStateDescriptor,
    ) -> BroadcastStream[T_co]: ...

    def broadcast(
        self,
        broadcast_state_descriptor: MapStateDescriptor | None = None,
        *other_broadcast_state_descriptors: MapStateDescriptor,
    ) -> DataStream[T_co] | BroadcastStream[T_co]:
        """Send every record to every subtask; with descriptors, return a ``BroadcastStream`` for :meth:`connect`.

        Raises:
            TypeError: A descriptor is not a ``MapStateDescriptor``.
        """
        everywhere = self._repartition(partitioners.BroadcastPartitioner())
        if broadcast_state_descriptor is None:
            return everywhere
        return self._env._kinds.broadcast(everywhere, [broadcast_state_descriptor, *other_broadcast_state_descriptors])

    def partition_custom(
        self,
        partitioner: Callable[[K, int], int] | Partitioner[K],
        key_selector: Callable[[T_co], K] | KeySelector[T_co, K],
    ) -> DataStream[T_co]:
        """Send each record to the subtask with the index ``partitioner(key, number of subtasks)``."""
        if isinstance(partitioner, Partitioner):
            partition: Callable[[Any, int], int] = partitioner.partition
        elif callable(partitioner):
            partition = partitioner
        else:
            raise TypeError(f"Parameter partitioner should be a callable or a Partitioner, but got {partitioner!r}")
        name = "partition_custom"
        selector = freeze(name, as_selector(key_selector, name))
        return self._repartition(partitioners.CustomPartitioner(freeze(name, partition), selector))

    def _partition(self, partitioner: partitioners.Partitioner, name: str) -> PartitionTransformation:
        origin = self._values_transformation()
        return PartitionTransformation(name, (origin,), origin.output_type, partitioner=partitioner)
