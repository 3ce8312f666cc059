"""Sinks of Kinesis and Firehose write everything, whatever the service rejects."""

from __future__ import annotations

import json
import logging
import random

import pytest
from tests.datastream.inline import make_env

from flintstream.common import SimpleStringSchema
from flintstream.connectors import patience
from flintstream.connectors.aws import client
from flintstream.connectors.sink import WriterContext
from flintstream.datastream.connectors.kinesis import KinesisFirehoseSink, KinesisStreamsSink, PartitionKeyGenerator
from flintstream.datastream.connectors.sqs import SqsSink
from flintstream.errors import PlanError

CONTEXT = WriterContext(subtask=0, parallelism=1, attempt="a")


def builder(server, stream="out"):
    built = KinesisStreamsSink.builder().set_kinesis_client_properties(server.properties).set_stream_name(stream)
    built.set_serialization_schema(SimpleStringSchema())
    return built.set_partition_key_generator(PartitionKeyGenerator(lambda text: str(text)[:1]))


class Unreliable:
    """A client that at first rejects some records, and some requests."""

    def __init__(self, real, seed=0):
        self.real, self.random, self.calls = real, random.Random(seed), 0

    def put_records(self, StreamName, Records):  # noqa: N803 - the names of boto3
        self.calls += 1
        chance = self.random.random()
        if chance < 0.2:
            raise client.core("exceptions").EndpointConnectionError(endpoint_url="here")
        if chance < 0.4:
            answer = {"Error": {"Code": "ProvisionedThroughputExceededException", "Message": "slowly"}}
            raise client.core("exceptions").ClientError(answer, "PutRecords")
        if chance < 0.7:
            refused = [self.random.random() < 0.3 for _ in Records]
            taken = [record for record, no in zip(Records, refused, strict=True) if not no]
            if taken:
                self.real.put_records(StreamName=StreamName, Records=taken)
            failure = {"ErrorCode": "InternalFailure", "ErrorMessage": "not now"}
            return {"Records": [failure if no else {"SequenceNumber": "1"} for no in refused]}
        return self.real.put_records(StreamName=StreamName, Records=Records)


def test_all_records_are_written_in_batches(server):
    server.create("out", 2)
    env = make_env(parallelism=2)
    env.from_collection([f"{n % 10} {n}" for n in range(3000)]).sink_to(builder(server).build())
    env.execute()
    found = server.records("out")
    assert sorted(record["Data"].decode() for record in found) == sorted(f"{n % 10} {n}" for n in range(3000))
    assert all(record["PartitionKey"] == record["Data"].decode()[:1] for record in found)


@pytest.mark.parametrize("seed", range(3))
def test_what_the_service_rejects_is_written_again_once_with_one_warning(moto, caplog, seed):
    stream = f"rejecting-{seed}"
    moto.create(stream)
    made = builder(moto, stream).set_max_batch_size(50).build().create_writer(CONTEXT)
    made._patience = patience.Patience("could not write", first=0.001, most=0.01)
    made._client = unreliable = Unreliable(moto.client, seed)
    with caplog.at_level(logging.WARNING):
        for start in range(0, 1000, 100):
            made.write([f"{n}" for n in range(start, start + 100)], None)
        made.prepare_commit(end_of_input=True)
    found = [int(record["Data"]) for record in moto.records(stream)]
    assert sorted(found) == list(range(1000))
    assert unreliable.calls > 30
    assert len(caplog.records) == 1


def test_a_request_is_never_larger_than_the_limits(moto):
    moto.create("limits")
    made = builder(moto, "limits").set_max_batch_size(10).set_max_batch_size_in_bytes(100).build()
    sizes = []

    class Counting:
        def put_records(self, StreamName, Records):  # noqa: N803
            sizes.append((len(Records), sum(len(r["Data"]) + len(r["PartitionKey"]) for r in Records)))
            return {"Records": [{} for _ in Records]}

    made = made.create_writer(CONTEXT)
    made._client = Counting()
    made.write(["x" * n for n in range(1, 60)], None)
    made.prepare_commit(end_of_input=True)
    assert sum(count for count, _ in sizes) == 59
    assert all(count <= 10 and size <= 100 for count, size in sizes)


def test_with_fail_on_error_a_rejected_record_fails(moto):
    made = builder(moto, "any").set_fail_on_error(True).build().create_writer(CONTEXT)

    class Refusing:
        def put_records(self, StreamName, Records):  # noqa: N803
            return {"Records": [{"ErrorCode": "InternalFailure", "ErrorMessage": "no"} for _ in Records]}

    made._client = Refusing()
    made.write(["a"], None)
    with pytest.raises(client.AwsError, match="1 of 1 records were rejected, the first one with InternalFailure: no"):
        made.prepare_commit(end_of_input=True)


def test_a_record_that_is_too_large_is_refused(moto):
    made = builder(moto).set_max_record_size_in_bytes(10).build().create_writer(CONTEXT)
    with pytest.raises(ValueError, match="a record of 12 bytes is too large for out: the limit is 10"):
        made.write(["x" * 11], None)


def test_a_stream_that_is_missing_fails_the_job(moto):
    env = make_env()
    env.from_collection(["a"]).sink_to(builder(moto, "nowhere").build())
    with pytest.raises(client.AwsError, match=r"1 records were not written to nowhere: .*ResourceNotFound"):
        env.execute()


def test_firehose_has_all_records(moto):
    s3 = moto.session.client("s3", endpoint_url=moto.endpoint)
    s3.create_bucket(Bucket="delivered")
    firehose = moto.session.client("firehose", endpoint_url=moto.endpoint)
    target = {"RoleARN": "arn:aws:iam::123456789012:role/any", "BucketARN": "arn:aws:s3:::delivered"}
    firehose.create_delivery_stream(DeliveryStreamName="d", ExtendedS3DestinationConfiguration=target)
    built = KinesisFirehoseSink.builder().set_firehose_client_properties(moto.properties)
    built.set_delivery_stream_name("d").set_serialization_schema(SimpleStringSchema()).set_max_batch_size(40)
    env = make_env()
    env.from_collection([json.dumps({"n": n}) + "\n" for n in range(100)]).sink_to(built.build())
    env.execute()
    keys = [item["Key"] for item in s3.list_objects_v2(Bucket="delivered")["Contents"]]
    lines = b"".join(s3.get_object(Bucket="delivered", Key=key)["Body"].read() for key in keys).splitlines()
    assert sorted(json.loads(line)["n"] for line in lines) == list(range(100))


def queue(server, name):
    client = server.session.client("sqs", endpoint_url=server.endpoint)
    return client, client.create_queue(QueueName=name)["QueueUrl"]


def firehose(most_bytes):
    built = KinesisFirehoseSink.builder().set_firehose_client_properties({"aws.region": "eu-west-1"})
    built.set_delivery_stream_name("d").set_serialization_schema(SimpleStringSchema())
    return built.set_max_batch_size_in_bytes(most_bytes).build().create_writer(CONTEXT)


def test_a_request_of_firehose_is_no_larger_than_the_service_takes_if_a_program_asks_for_more():
    counts = []

    class Counting:
        def put_record_batch(self, DeliveryStreamName, Records):  # noqa: N803
            counts.append(len(Records))
            return {"RequestResponses": [{} for _ in Records]}

    made = firehose(5 * 1024 * 1024)
    made._client = Counting()
    made.write(["x" * 900_000] * 5, None)
    made.prepare_commit(end_of_input=True)
    assert counts == [4, 1]


def messages(client, url):
    found = []
    while answer := client.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages"):
        found += [message["Body"] for message in answer]
        entries = [{"Id": str(n), "ReceiptHandle": m["ReceiptHandle"]} for n, m in enumerate(answer)]
        client.delete_message_batch(QueueUrl=url, Entries=entries)
    return found


def sqs(server, url):
    built = SqsSink.builder().set_sqs_client_properties(server.properties).set_sqs_url(url)
    return built.set_serialization_schema(SimpleStringSchema())


def test_a_queue_gets_all_messages(moto):
    client_, url = queue(moto, "all")
    env = make_env(parallelism=2)
    env.from_collection([f"é{n}" for n in range(95)]).sink_to(sqs(moto, url).build())
    env.execute()
    assert sorted(messages(client_, url)) == sorted(f"é{n}" for n in range(95))


def test_messages_that_a_queue_rejects_are_written_again_unless_they_are_wrong(moto, caplog):
    client_, url = queue(moto, "rejecting")
    made = sqs(moto, url).set_max_batch_size(7).build().create_writer(CONTEXT)
    made._patience = patience.Patience("could not write", first=0.001, most=0.01)

    class Rejecting:
        def __init__(self):
            self.random, self.wrong = random.Random(1), False

        def send_message_batch(self, QueueUrl, Entries):  # noqa: N803 - the names of boto3
            failed = [e for e in Entries if self.random.random() < 0.5]
            taken = [e for e in Entries if e not in failed]
            if taken:
                client_.send_message_batch(QueueUrl=QueueUrl, Entries=taken)
            refused = {"Code": "InternalError", "Message": "not now", "SenderFault": self.wrong}
            return {"Failed": [{"Id": e["Id"], **refused} for e in failed]}

    made._client = rejecting = Rejecting()
    with caplog.at_level(logging.WARNING):
        made.write([str(n) for n in range(50)], None)
        made.prepare_commit(end_of_input=True)
    assert sorted(map(int, messages(client_, url))) == list(range(50))
    assert len(caplog.records) == 1
    rejecting.wrong = True
    with pytest.raises(client.AwsError, match=r"a message was not written to .*: InternalError: not now"):
        made.write([str(n) for n in range(50)], None)


def test_a_queue_has_limits_of_its_own(moto):
    with pytest.raises(ValueError, match="the number of records"):
        sqs(moto, "x").set_max_batch_size(11)
    with pytest.raises(PlanError, match=r"set_sqs_url\('orders'\)"):
        SqsSink.builder().set_serialization_schema(SimpleStringSchema()).build()
