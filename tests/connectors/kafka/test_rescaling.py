"""A job from Kafka to Kafka that runs goes on with another parallelism, and every record arrives once."""

from __future__ import annotations

from tests.connectors.kafka.broker import send
from tests.connectors.kafka.jobs import checkpointed, sink
from tests.waiting import wait_for, wait_for_numbers

from flintstream.common import SimpleStringSchema, Types, WatermarkStrategy
from flintstream.coordinator import asking, registry
from flintstream.datastream.connectors.base import DeliveryGuarantee
from flintstream.datastream.connectors.kafka import KafkaOffsetsInitializer, KafkaSource

EACH = 200


def test_records_are_committed_once_over_several_changes(broker, tmp_path, monkeypatch):
    monkeypatch.setenv(registry.DIRECTORY, str(tmp_path / "jobs"))
    topic, out = broker.topic(partitions=3), broker.topic()
    env = checkpointed(tmp_path, 2)
    numbers = (
        KafkaSource.builder()
        .set_bootstrap_servers(broker.servers)
        .set_topics(topic)
        .set_starting_offsets(KafkaOffsetsInitializer.earliest())
        .set_value_only_deserializer(SimpleStringSchema())
        .build()
    )
    stream = env.from_source(numbers, WatermarkStrategy.no_watermarks(), "numbers")
    stream = stream.key_by(lambda text: text).map(lambda text: text, Types.STRING())
    stream.sink_to(sink(broker, out, DeliveryGuarantee.EXACTLY_ONCE).build())
    client = env.execute_async("from Kafka to Kafka")
    wait_for_numbers(client, numEpochs=1)
    entry = registry.find(str(client.get_job_id()))
    sent: list[str] = []
    for parallelism in (3, 1, 5):
        for partition in range(3):
            texts = [f"{parallelism}-{partition}-{number}" for number in range(EACH)]
            send(broker, topic, texts, partition)
            sent += texts
        changed = asking.ask(entry, "rescale", parallelism=parallelism)
        assert {item["to"] for item in changed} == {parallelism}
    wait_for_numbers(client, numRecordsOut=len(sent))
    found = wait_for(
        lambda: [value.decode() for _, _, value in broker.records(out)], client, lambda texts: len(texts) >= len(sent)
    )
    client.cancel().result()
    assert sorted(found) == sorted(sent)
