"""A server that has the API of Kinesis and Firehose: moto, and kinesalite where it is installed."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time

import pytest
from tests.s3 import S3Server

CREDENTIALS = {
    "aws.region": "us-east-1",
    "aws.credentials.provider": "BASIC",
    "aws.credentials.provider.basic.accesskeyid": "somebody",
    "aws.credentials.provider.basic.secretkey": "something",
}


class Kinesis:
    """A server, and a client of it."""

    def __init__(self, endpoint):
        import boto3

        self.endpoint = endpoint
        self.properties = {"aws.endpoint": endpoint, **CREDENTIALS}
        own = {"aws_access_key_id": "somebody", "aws_secret_access_key": "something", "region_name": "us-east-1"}
        self.client = boto3.client("kinesis", endpoint_url=endpoint, **own)
        self.session = boto3.Session(**own)

    def create(self, stream, shards=1):
        self.client.create_stream(StreamName=stream, ShardCount=shards)
        self.wait(stream)

    def wait(self, stream):
        while self.client.describe_stream_summary(StreamName=stream)["StreamDescriptionSummary"]["StreamStatus"] != (
            "ACTIVE"
        ):
            time.sleep(0.02)

    def shards(self, stream):
        return self.client.list_shards(StreamName=stream)["Shards"]

    def send(self, stream, texts, key=lambda text: text):
        texts = list(texts)
        for start in range(0, len(texts), 500):
            part = [{"Data": text.encode(), "PartitionKey": key(text)} for text in texts[start : start + 500]]
            assert not self.client.put_records(StreamName=stream, Records=part)["FailedRecordCount"]

    def split(self, stream, shard):
        low, high = (int(shard["HashKeyRange"][end]) for end in ("StartingHashKey", "EndingHashKey"))
        self.client.split_shard(
            StreamName=stream, ShardToSplit=shard["ShardId"], NewStartingHashKey=str((low + high) // 2)
        )
        self.wait(stream)

    def merge(self, stream, first, second):
        self.client.merge_shards(
            StreamName=stream, ShardToMerge=first["ShardId"], AdjacentShardToMerge=second["ShardId"]
        )
        self.wait(stream)

    def records(self, stream):
        """Return all records, shard by shard."""
        found = []
        for shard in self.shards(stream):
            iterator = self.client.get_shard_iterator(
                StreamName=stream, ShardId=shard["ShardId"], ShardIteratorType="TRIM_HORIZON"
            )["ShardIterator"]
            while iterator:
                answer = self.client.get_records(ShardIterator=iterator)
                found += answer["Records"]
                iterator = answer.get("NextShardIterator") if answer["Records"] else None
        return found


@pytest.fixture(scope="session")
def moto():
    pytest.importorskip("boto3", reason="boto3 is not installed")
    pytest.importorskip("moto.server", reason="moto is not installed")
    server = S3Server()
    yield Kinesis(server.endpoint)
    server.close()


@pytest.fixture(scope="session")
def kinesalite():
    program = shutil.which("kinesalite")
    if program is None:
        pytest.skip("kinesalite is not installed: npm install --global kinesalite")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    waits = [f"--{what}StreamMs=20" for what in ("create", "delete", "update")]
    process = subprocess.Popen(  # noqa: S603
        [program, f"--port={port}", "--shardLimit=200", *waits], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert "Listening" in process.stdout.readline()
    yield Kinesis(f"http://127.0.0.1:{port}")
    process.kill()
    process.communicate()


@pytest.fixture(params=["moto", "kinesalite"])
def server(request):
    return request.getfixturevalue(request.param)
