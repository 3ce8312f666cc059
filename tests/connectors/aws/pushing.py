"""A server in front of moto, or of another one, that has SubscribeToShard: it pushes what it reads there."""

from __future__ import annotations

import base64
import json
import struct
import threading
import time
import urllib.error
import urllib.request
import zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

TARGET = "Kinesis_20131202.SubscribeToShard"


def frame(kind: str, content: object) -> bytes:
    """Return an event in the encoding of AWS's event streams."""
    headers = b""
    for name, value in ((":message-type", "event"), (":event-type", kind), (":content-type", "application/json")):
        headers += struct.pack(f">B{len(name)}sBH", len(name), name.encode(), 7, len(value)) + value.encode()
    payload = json.dumps(content).encode()
    prelude = struct.pack(">II", 16 + len(headers) + len(payload), len(headers))
    text = prelude + struct.pack(">I", zlib.crc32(prelude)) + headers + payload
    return text + struct.pack(">I", zlib.crc32(text))


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        own: Pushing = self.server.own  # type: ignore[attr-defined]
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers.get("X-Amz-Target") == TARGET:
            self.push(own, json.loads(body))
            return
        request = urllib.request.Request(own.behind, body, dict(self.headers))  # noqa: S310 - of this machine
        try:
            with urllib.request.urlopen(request) as answer:  # noqa: S310
                self.answer(answer.status, answer.headers, answer.read())
        except urllib.error.HTTPError as error:
            self.answer(error.code, error.headers, error.read())

    def answer(self, status, headers, content):
        self.send_response(status)
        for name in ("Content-Type", "x-amzn-RequestId", "x-amzn-errortype"):
            if name in headers:
                self.send_header(name, headers[name])
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def push(self, own, asked):
        key = asked["ConsumerARN"], asked["ShardId"]
        with own.lock:
            refused = key in own.subscribed
            own.subscribed.add(key)
            own.positions.append(asked["StartingPosition"])
        if refused:
            error = {"__type": "ResourceInUseException", "message": "there is another subscription"}
            self.answer(400, {"Content-Type": "application/x-amz-json-1.1"}, json.dumps(error).encode())
            return
        try:
            self.send_response(200)
            self.send_header("Content-Type", "application/vnd.amazon.eventstream")
            self.end_headers()
            self.wfile.write(frame("initial-response", {}))
            for sent, event in enumerate(own.events(asked), 1):
                text = frame("SubscribeToShardEvent", event)
                if sent == own.cut:
                    self.wfile.write(text[: len(text) // 2])
                    return
                self.wfile.write(text)
        except OSError:
            pass  # the client has gone
        finally:
            own.subscribed.discard(key)

    def log_message(self, *_):
        pass


class Pushing:
    """The server. Subscriptions end after a part of a second, rather than after five minutes."""

    def __init__(self, behind: str, client: Any) -> None:
        self.behind, self.client = behind, client
        self.seconds = 0.4
        self.cut = 0
        """Which event of each subscription breaks off; 0 for none."""
        self.lock = threading.Lock()
        self.subscribed: set[tuple[str, str]] = set()
        self.positions: list[dict[str, Any]] = []
        """What subscriptions have asked for."""
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self._http.own = self  # type: ignore[attr-defined]
        self.endpoint = f"http://127.0.0.1:{self._http.server_address[1]}"
        threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01}).start()

    def events(self, asked):
        """Yield the events of a subscription."""
        stream = asked["ConsumerARN"].split(":stream/")[1].split("/consumer/")[0]
        start = {**asked["StartingPosition"]}
        more = {
            f"Starting{name}" if name == "SequenceNumber" else name: start[name] for name in start.keys() - {"Type"}
        }
        iterator = self.client.get_shard_iterator(
            StreamName=stream, ShardId=asked["ShardId"], ShardIteratorType=start["Type"], **more
        )["ShardIterator"]
        last, until = start.get("SequenceNumber", "0"), time.monotonic() + self.seconds
        while time.monotonic() < until:
            answer = self.client.get_records(ShardIterator=iterator, Limit=25)
            records = [
                {
                    **record,
                    "Data": base64.b64encode(record["Data"]).decode(),
                    "ApproximateArrivalTimestamp": record["ApproximateArrivalTimestamp"].timestamp(),
                }
                for record in answer["Records"]
            ]
            last = records[-1]["SequenceNumber"] if records else last
            event = {"Records": records, "MillisBehindLatest": 0, "ContinuationSequenceNumber": last}
            iterator = answer.get("NextShardIterator")
            if iterator is None:
                del event["ContinuationSequenceNumber"]
                yield event
                return
            if last != "0":  # the service also says how far it is while there is nothing new
                yield event
            time.sleep(0.05)

    def close(self):
        self._http.shutdown()
        self._http.server_close()
