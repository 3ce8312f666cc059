"""Add up orders per customer, from one Kafka topic to another, with each result exactly once.

    pip install 'flintstream[kafka]'
    flintstream run -D execution.checkpointing.interval=1s -D execution.checkpointing.dir=file:///var/checkpoints \
        examples/kafka_totals.py --servers localhost:9092 --orders orders --totals totals

An order is a text such as "ann,12.50". The topics must exist. With --until-now the program ends when it has read all
current orders; otherwise it runs until it is stopped. "flintstream run --resume" continues a job that was killed.
"""

from __future__ import annotations

import argparse

from flintstream.common import SimpleStringSchema, Types, WatermarkStrategy
from flintstream.datastream import StreamExecutionEnvironment
from flintstream.datastream.connectors.base import DeliveryGuarantee
from flintstream.datastream.connectors.kafka import (
    KafkaOffsetsInitializer,
    KafkaRecordSerializationSchema,
    KafkaSink,
    KafkaSource,
)


def parse(order):
    customer, _, amount = order.partition(",")
    return customer, float(amount)


def main(servers, orders, totals, until_now):
    env = StreamExecutionEnvironment.get_execution_environment()

    builder = (
        KafkaSource.builder()
        .set_bootstrap_servers(servers)
        .set_topics(orders)
        .set_group_id("totals")  # lets other programs monitor the progress of the job
        .set_starting_offsets(KafkaOffsetsInitializer.earliest())
        .set_value_only_deserializer(SimpleStringSchema())
    )
    if until_now:
        builder.set_bounded(KafkaOffsetsInitializer.latest())

    schema = (
        KafkaRecordSerializationSchema.builder()
        .set_topic(totals)
        .set_value_serialization_schema(SimpleStringSchema())
        .build()
    )
    sink = (
        KafkaSink.builder()
        .set_bootstrap_servers(servers)
        .set_record_serializer(schema)
        .set_delivery_guarantee(DeliveryGuarantee.EXACTLY_ONCE)
        .set_transactional_id_prefix("totals")  # must be unique for this sink
        .build()
    )

    (
        env.from_source(builder.build(), WatermarkStrategy.no_watermarks(), "orders")
        .map(parse, output_type=Types.TUPLE([Types.STRING(), Types.DOUBLE()]))
        .key_by(lambda order: order[0], key_type=Types.STRING())
        .reduce(lambda one, other: (one[0], one[1] + other[1]))
        .map(lambda total: f"{total[0]},{total[1]:.2f}", output_type=Types.STRING())
        .sink_to(sink)
    )
    env.execute("totals")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Add up orders per customer.")
    parser.add_argument("--servers", default="localhost:9092", help="Kafka brokers")
    parser.add_argument("--orders", default="orders", help="the topic to read")
    parser.add_argument("--totals", default="totals", help="the topic to write")
    parser.add_argument("--until-now", action="store_true", help="end after the current orders")
    options = parser.parse_args()
    main(options.servers, options.orders, options.totals, options.until_now)
