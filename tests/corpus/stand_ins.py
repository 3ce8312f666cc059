"""Services that stand in for those of the authors: moto has those of AWS, and Elasticsearch takes documents."""

from __future__ import annotations

import fnmatch
import json
import threading
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import boto3
from tests.corpus.recipes import Filler, messages
from tests.s3 import S3Server

if TYPE_CHECKING:
    from tests.corpus.listing import Program

ELASTICSEARCH_PORT = 9200


class Aws:
    """A server with the APIs of Kinesis, Firehose, S3 and others."""

    def __init__(self) -> None:
        self.server = S3Server()
        self.environment = self.server.environment
        login = {"aws_access_key_id": "nobody", "aws_secret_access_key": "nothing"}
        self._login: dict[str, Any] = {**login, "endpoint_url": self.server.endpoint}
        self._known: set[str] = set()

    def client(self, region: str = "us-east-1", service: str = "kinesis") -> Any:
        """Return a client of a service in a region."""
        return boto3.client(service, region_name=region, **self._login)

    def prepare(self, program: Program) -> None:
        """Create the streams and buckets of a program, whose names have their region: ``name@region``."""
        written = [name.partition(":")[2] for name in program.written if name.startswith("stream:")]
        for name in {*program.streams, *written}:
            stream, _, region = name.partition("@")
            with suppress(self.client(region).exceptions.ResourceNotFoundException):
                self.client(region).delete_stream(StreamName=stream)
            self.client(region).create_stream(StreamName=stream, ShardCount=2)
        for name in program.written:
            kind, _, place = name.partition(":")
            if kind == "bucket":
                self._empty_bucket(place.partition("/")[0])
            if kind == "firehose":
                self._delivery_stream(*place.split("@"))

    def _empty_bucket(self, bucket: str) -> None:
        s3 = self.client(service="s3")
        with suppress(s3.exceptions.NoSuchBucket):
            for found in s3.list_objects_v2(Bucket=bucket).get("Contents", []):
                s3.delete_object(Bucket=bucket, Key=found["Key"])
            return
        s3.create_bucket(Bucket=bucket)

    def _delivery_stream(self, stream: str, region: str) -> None:
        """Create a delivery stream that writes to a bucket of its name."""
        firehose, bucket = self.client(region, "firehose"), _bucket_of(stream)
        self._empty_bucket(bucket)
        with suppress(firehose.exceptions.ResourceNotFoundException):
            firehose.delete_delivery_stream(DeliveryStreamName=stream)
        target = {"RoleARN": "arn:aws:iam::123456789012:role/any", "BucketARN": f"arn:aws:s3:::{bucket}"}
        firehose.create_delivery_stream(DeliveryStreamName=stream, ExtendedS3DestinationConfiguration=target)

    def send(self, program: Program, filler: Filler) -> None:
        """Send one round of records."""
        for name, recipe in program.streams.items():
            stream, _, region = name.partition("@")
            client = self.client(region)
            for key, value in messages(recipe, filler):
                client.put_record(StreamName=stream, Data=value, PartitionKey=(key or value).decode()[:200])

    def is_written(self, name: str) -> bool:
        """Return whether a stream has records, or a bucket objects, whose names may have to match a pattern."""
        kind, _, place = name.partition(":")
        if kind in {"bucket", "firehose"}:
            bucket, _, pattern = (_bucket_of(place) if kind == "firehose" else place).partition("/")
            found = self.client(service="s3").list_objects_v2(Bucket=bucket).get("Contents", [])
            return any(fnmatch.fnmatch(item["Key"], pattern or "*") for item in found)
        stream, _, region = place.partition("@")
        client = self.client(region)
        for shard in client.list_shards(StreamName=stream)["Shards"]:
            wanted = {"StreamName": stream, "ShardId": shard["ShardId"], "ShardIteratorType": "TRIM_HORIZON"}
            if client.get_records(ShardIterator=client.get_shard_iterator(**wanted)["ShardIterator"])["Records"]:
                return True
        return False

    def close(self) -> None:
        """End the server."""
        self.server.close()


def _bucket_of(delivery_stream: str) -> str:
    return f"of-{delivery_stream.partition('@')[0].lower()}"


class Elasticsearch:
    """A server at the usual port that takes documents and creates indexes."""

    def __init__(self) -> None:
        self.documents: dict[str, int] = {}
        """The number of documents that each index has got."""
        documents = self.documents

        class Handler(BaseHTTPRequestHandler):
            def answer(self, code: int, content: object) -> None:
                body = json.dumps(content).encode()
                self.send_response(code)
                self.send_header("X-Elastic-Product", "Elasticsearch")
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(body)

            def do_GET(self) -> None:
                self.answer(200, {"version": {"number": "7.17.0", "build_flavor": "default"}, "tagline": "stands in"})

            def do_HEAD(self) -> None:
                self.answer(404, {})

            def do_PUT(self) -> None:
                self.rfile.read(int(self.headers.get("Content-Length") or 0))
                self.answer(200, {"acknowledged": True})

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                items = []
                lines = iter(body.splitlines())
                for line in lines:
                    (action, about), *_ = json.loads(line).items()
                    if action != "delete":
                        next(lines)
                    index = about.get("_index") or self.path.split("/")[1]
                    documents[index] = documents.get(index, 0) + 1
                    items.append({action: {"_index": index, "_id": about.get("_id") or "1", "status": 200}})
                self.answer(200, {"took": 1, "errors": False, "items": items})

            def log_message(self, format: str, *args: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", ELASTICSEARCH_PORT), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self) -> None:
        """End the server."""
        self.server.shutdown()
        self.server.server_close()
