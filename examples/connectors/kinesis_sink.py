"""A sink for Kinesis, on the package boto3: records into a stream. For Firehose put_record_batch does the same.

    pip install boto3

At least once: an epoch counts when Kinesis has all its records. If an epoch is repeated, its records appear twice.
"""

import time

from flintstream.connectors.sink import Sink, SinkWriter

MOST = 500
"""The number of records that Kinesis accepts in one request."""


class KinesisSink(Sink):
    waits_for_checkpoint = False

    def __init__(self, stream, key, serialize, retries=10, **client):
        self.stream = stream
        self.key = key
        self.serialize = serialize
        self.retries = retries
        self.client = client  # region_name, endpoint_url, ...

    def create_writer(self, context):
        return KinesisWriter(self)


class KinesisWriter(SinkWriter):
    def __init__(self, sink):
        import boto3

        self.sink = sink
        self.client = boto3.client("kinesis", **sink.client)
        self.waiting = []

    def write(self, values, timestamps):
        self.waiting += [{"Data": self.sink.serialize(v), "PartitionKey": self.sink.key(v)} for v in values]
        while len(self.waiting) >= MOST:
            self.put(self.waiting[:MOST])
            del self.waiting[:MOST]

    def put(self, records):
        for attempt in range(self.sink.retries + 1):
            answer = self.client.put_records(StreamName=self.sink.stream, Records=records)
            # An overloaded shard accepts only some of the records.
            pairs = zip(records, answer["Records"], strict=True)
            records = [record for record, result in pairs if "ErrorCode" in result]
            if not records:
                return
            time.sleep(min(0.1 * 2**attempt, 5))
        raise RuntimeError(f"Kinesis did not accept {len(records)} records: {answer['Records']}")

    def prepare_commit(self, *, end_of_input, checkpoint=True):
        if self.waiting:
            self.put(self.waiting)
            self.waiting = []
        return ()


def main():
    from flintstream.datastream import StreamExecutionEnvironment

    env = StreamExecutionEnvironment.get_execution_environment()
    words = env.from_collection(["to", "be", "or", "not", "to", "be"])
    words.sink_to(KinesisSink("words", key=str, serialize=str.encode, region_name="eu-central-1"))
    env.execute("words into Kinesis")


if __name__ == "__main__":
    main()
