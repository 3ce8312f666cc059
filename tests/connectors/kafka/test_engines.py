"""From Kafka through keyed state to Kafka, on both engines."""

from __future__ import annotations

import pytest
from tests.connectors.kafka.broker import send
from tests.connectors.kafka.jobs import NO_WATERMARKS, in_tasks, sink, source
from tests.connectors.kafka.test_formats import SCHEMAS, USER, USERS
from tests.engine.conftest import make_env as both_engines
from tests.faults.counting import Count

from flintstream.common import Row, Types
from flintstream.datastream.connectors.base import DeliveryGuarantee
from flintstream.datastream.connectors.kafka import KafkaRecordSerializationSchema, KafkaSink

make_env = both_engines


@pytest.mark.parametrize(
    ("guarantee", "tasks"), [*((item, False) for item in DeliveryGuarantee), (DeliveryGuarantee.EXACTLY_ONCE, True)]
)
def test_both_engines_write_the_same(broker, make_env, tmp_path, guarantee, tasks):
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
    built = sink(broker, out, guarantee).build()
    counted.sink_to(in_tasks(built) if tasks else built)
    env.execute()
    assert sorted(value.decode() for _, _, value in broker.records(out)) == sorted(
        f"{number} {number // 30 + 1}" for number in range(3000)
    )


@pytest.mark.parametrize("name", SCHEMAS)
def test_rows_of_a_format_go_through_a_broker(broker, make_env, name):
    reader, writer = SCHEMAS[name]
    topic = broker.topic(partitions=2)
    record = KafkaRecordSerializationSchema.builder().set_topic(topic)
    record.set_key_serialization_schema(writer).set_value_serialization_schema(writer)
    rows = KafkaSink.builder().set_bootstrap_servers(broker.servers).set_record_serializer(record.build()).build()
    env = make_env(2)
    env.from_collection(USERS, USER).sink_to(rows)
    env.execute()
    stream = make_env(2).from_source(source(broker, topic, schema=reader).build(), NO_WATERMARKS, "users")
    totals = stream.key_by(lambda user: user.id % 2, Types.INT()).reduce(lambda a, b: Row(id=a.id + b.id, name=b.name))
    with totals.execute_and_collect() as results:
        found = sorted(row.id for row in results)
    assert found[-1] == sum(range(1, 50, 2))
    assert sum(range(0, 50, 2)) in found
    assert len(found) == len(USERS)
