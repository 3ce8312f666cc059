"""The bound: two Python processes with the clients that flintstream uses."""

from __future__ import annotations

import json
import sys
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.runners.run_bare import run_both
from benchmarks.systems.records import text_of
from benchmarks.workload import Run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def halves(number: int, run: Run, size: int) -> Iterator[list[str]]:
    """Return the texts of one process in lists of a size."""
    texts = map(text_of, range(number * run.half, (number + 1) * run.half))
    while block := list(islice(texts, size)):
        yield block


def aws_client(service: str, run: Run) -> Any:
    """Return a client of the local server."""
    import boto3

    keys = {"aws_access_key_id": "somebody", "aws_secret_access_key": "something", "region_name": "us-east-1"}
    return boto3.client(service, endpoint_url=run.settings["endpoint"], **keys)


def rabbit_channel(run: Run) -> Any:
    """Return a channel, and the connection that it belongs to."""
    import pika

    connection = pika.BlockingConnection(pika.ConnectionParameters("127.0.0.1", run.settings["port"]))
    return closing(connection), connection.channel()


def rabbitmq_write(number: int, run: Run) -> None:
    """Publish persistent messages; a transaction of 1,000 confirms them."""
    import pika

    connection, channel = rabbit_channel(run)
    with connection:
        channel.queue_declare(run.settings["out"], durable=True)
        channel.tx_select()
        properties = pika.BasicProperties(delivery_mode=2)
        for block in halves(number, run, 1000):
            for text in block:
                channel.basic_publish("", run.settings["out"], text.encode(), properties)
            channel.tx_commit()


def rabbitmq_read(number: int, run: Run) -> None:
    """Consume half of the messages, and acknowledge 1,000 at once."""
    connection, channel = rabbit_channel(run)
    with connection, Path(run.output, f"part-{number}").open("w") as file:
        channel.basic_qos(prefetch_count=2000)
        for taken, (method, _, body) in enumerate(channel.consume(run.settings["in"]), 1):
            file.write(f"{body.decode()}\n")
            if taken % 1000 == 0 or taken == run.half:
                channel.basic_ack(method.delivery_tag, multiple=True)
            if taken == run.half:
                break


def kinesis_write(number: int, run: Run) -> None:
    """Put 500 records in a request."""
    client = aws_client("kinesis", run)
    for block in halves(number, run, 500):
        records = [{"Data": text.encode(), "PartitionKey": text} for text in block]
        if client.put_records(StreamName=run.settings["out"], Records=records)["FailedRecordCount"]:
            raise SystemExit("the server rejected records")


def kinesis_read(number: int, run: Run) -> None:
    """Read one of two shards to its end."""
    client, stream = aws_client("kinesis", run), run.settings["in"]
    shard = client.list_shards(StreamName=stream)["Shards"][number]["ShardId"]
    start = client.get_shard_iterator(StreamName=stream, ShardId=shard, ShardIteratorType="TRIM_HORIZON")
    iterator = start["ShardIterator"]
    with Path(run.output, f"part-{number}").open("w") as file:
        while records := (answer := client.get_records(ShardIterator=iterator))["Records"]:
            file.writelines(f"{record['Data'].decode()}\n" for record in records)
            iterator = answer["NextShardIterator"]


def firehose_write(number: int, run: Run) -> None:
    """Put 500 records in a request."""
    client = aws_client("firehose", run)
    for block in halves(number, run, 500):
        records = [{"Data": f"{text}\n".encode()} for text in block]
        if client.put_record_batch(DeliveryStreamName=run.settings["out"], Records=records)["FailedPutCount"]:
            raise SystemExit("the server rejected records")


def dynamodb_write(number: int, run: Run) -> None:
    """Put 25 items in a request, the most that the service takes."""
    from tests.connectors.guarantees.programs import to_request

    client, table = aws_client("dynamodb", run), run.settings["table"]
    for block in halves(number, run, 25):
        if client.batch_write_item(RequestItems={table: list(map(to_request, block))})["UnprocessedItems"]:
            raise SystemExit("the server left items out")


def elasticsearch_write(number: int, run: Run) -> None:
    """Index 1,000 documents in a request, by the HTTP client that flintstream uses."""
    import urllib3
    from tests.connectors.guarantees.programs import to_document

    pool = urllib3.HTTPConnectionPool(run.settings["host"].partition(":")[0], int(run.settings["host"].split(":")[1]))
    headers = {"content-type": "application/x-ndjson"}
    for block in halves(number, run, 1000):
        lines: list[str] = []
        for document in map(to_document, block):
            lines += (json.dumps({"index": {"_index": "numbers", "_id": str(document["id"])}}), json.dumps(document))
        answer = pool.request("POST", "/_bulk", body="\n".join([*lines, ""]).encode(), headers=headers)
        if answer.status != 200 or answer.json().get("errors"):
            raise SystemExit("the server rejected documents")


def pulsar_client(run: Run) -> Any:
    """Return a client, which closes itself."""
    import pulsar

    return closing(pulsar.Client(run.settings["url"], logger=pulsar.ConsoleLogger(pulsar.LoggerLevel.Error)))


def pulsar_write(number: int, run: Run) -> None:
    """Send in batches, and wait for all confirmations at the end."""
    with pulsar_client(run) as client:
        producer = client.create_producer(run.settings["out"], batching_enabled=True, block_if_queue_full=True)
        for block in halves(number, run, 1000):
            for text in block:
                producer.send_async(text.encode(), lambda *_: None)
        producer.flush()


def pulsar_read(number: int, run: Run) -> None:
    """Read one of two partitions to its end."""
    import pulsar

    with pulsar_client(run) as client, Path(run.output, f"part-{number}").open("w") as file:
        part = client.get_topic_partitions(run.settings["in"])[number]
        reader = client.create_reader(part, pulsar.MessageId.earliest)
        while reader.has_message_available():
            file.write(f"{reader.read_next().data().decode()}\n")


def cassandra_write(number: int, run: Run) -> None:
    """Insert rows with a prepared statement, 100 at a time."""
    from cassandra.concurrent import execute_concurrent_with_args

    from flintstream.connectors.cassandra.client import usual_cluster

    cluster = usual_cluster("127.0.0.1", run.settings["port"])
    session = cluster.connect()
    insert = session.prepare(f"INSERT INTO {run.settings['keyspace']}.t (id, value) VALUES (?, ?)")  # noqa: S608
    for block in halves(number, run, 10_000):
        rows = [(int(first), second) for first, second in map(str.split, block)]
        execute_concurrent_with_args(session, insert, rows, concurrency=100, raise_on_first_error=True)
    cluster.shutdown()


def mongodb_collection(run: Run, name: str) -> Any:
    """Return a collection."""
    from pymongo import MongoClient

    return MongoClient(run.settings["uri"])[run.settings[name]]["c"]


def mongodb_write(number: int, run: Run) -> None:
    """Upsert 1,000 documents in a request."""
    from tests.connectors.guarantees.programs import to_change

    collection = mongodb_collection(run, "out")
    for block in halves(number, run, 1000):
        collection.bulk_write([to_change(text, None) for text in block], ordered=False)


def mongodb_read(number: int, run: Run) -> None:
    """Read the documents of one half of the numbers."""
    collection = mongodb_collection(run, "in")
    bounds = {"$gte": number * run.half, "$lt": (number + 1) * run.half}
    with Path(run.output, f"part-{number}").open("w") as file:
        file.writelines(f"{document['text']}\n" for document in collection.find({"_id": bounds}))


PROGRAMS: dict[str, Callable[[int, Run], None]] = {
    program.__name__.replace("_", "-"): program
    for program in (
        rabbitmq_write,
        rabbitmq_read,
        kinesis_write,
        kinesis_read,
        firehose_write,
        dynamodb_write,
        pulsar_write,
        pulsar_read,
        cassandra_write,
        mongodb_write,
        mongodb_read,
        elasticsearch_write,
    )
}


if __name__ == "__main__":
    given = Run.from_json(sys.argv[1])
    run_both(PROGRAMS[given.package], given)
