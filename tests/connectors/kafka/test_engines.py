"""From Kafka through keyed state to Kafka, on both engines."""

from __future__ import annotations

import pytest
from tests.connectors.kafka.broker import send
from tests.connectors.kafka.jobs import NO_WATERMARKS, sink, source
from tests.engine.conftest import make_env as both_engines
from tests.faults.counting import Count

from flintstream.common import Types
from flintstream.datastream.connectors.base import DeliveryGuarantee

make_env = both_engines


@pytest.mark.parametrize("guarantee", list(DeliveryGuarantee))
def test_both_engines_write_the_same(broker, make_env, tmp_path, guarantee):
    into, out = broker.topic(partitions=3), broker.topic(partitions=2)
    for partition in range(3):
        send(broker, into, [str(number) for number in range(partition, 3000, 3)], partition)
    settings = {
        "execution.checkpointing.interval": "200 ms",
        "execution.checkpointing.dir": (tmp_path / "checkpoints").as_uri(),
    }
    env = make_env(2, settings)
    stream = env.from_source(source(broker, into).set_group_id(into).build(), NO_WATERMARKS, "numbers")
    counted = stream.key_by(lambda text: int(text) % 30, Types.INT()).process(Count(), Types.STRING())
    counted.sink_to(sink(broker, out, guarantee).build())
    env.execute()
    assert sorted(value.decode() for _, _, value in broker.records(out)) == sorted(
        f"{number} {number // 30 + 1}" for number in range(3000)
    )
