"""A source for Pulsar, on the package pulsar-client: the messages of a topic, each once.

    pip install pulsar-client

A Pulsar reader can start at any position, so a checkpoint needs only the id of the last message: no subscription and
no acknowledgements. Partitions of a partitioned topic are splits.
"""

from dataclasses import dataclass

from flintstream.connectors.source import Boundedness, Source, SourceReader, SourceSplit, StaticEnumerator

WAIT_MS = 20
"""Time to wait for the next message before the engine reads other splits."""


@dataclass
class Partition(SourceSplit):
    topic: str
    position: bytes | None = None  # id of the last message read, None for the beginning


class PulsarSource(Source):
    boundedness = Boundedness.CONTINUOUS_UNBOUNDED

    def __init__(self, service_url, topic, deserialize):
        self.service_url = service_url
        self.topic = topic
        self.deserialize = deserialize

    def create_enumerator(self, parallelism):
        import pulsar

        client = pulsar.Client(self.service_url)
        try:
            topics = client.get_topic_partitions(self.topic)
        finally:
            client.close()
        return StaticEnumerator([Partition(topic, topic) for topic in topics])

    def create_reader(self):
        return PulsarReader(self)


class PulsarReader(SourceReader):
    def __init__(self, source):
        self.source = source
        self.readers = {}  # topic -> its reader and the position of that reader

    def open(self, runtime_context):
        import pulsar

        self.pulsar = pulsar
        self.client = pulsar.Client(self.source.service_url)

    def reader_of(self, split):
        reader, position = self.readers.get(split.topic, (None, None))
        if reader is not None and position == split.position:
            return reader
        if reader is not None:  # the job went back to a checkpoint, or another process has read the split
            reader.close()
        start = self.pulsar.MessageId
        begin = start.earliest if split.position is None else start.deserialize(split.position)
        return self.client.create_reader(split.topic, begin)  # starts after that message

    def read(self, split, fetch):
        reader = self.reader_of(split)
        while True:
            batch = []
            try:
                while len(batch) < fetch.size:
                    batch.append(reader.read_next(timeout_millis=WAIT_MS))
            except self.pulsar.Timeout:
                pass
            if batch:
                split.position = batch[-1].message_id().serialize()
            self.readers[split.topic] = (reader, split.position)
            if not batch:
                return False
            yield [self.source.deserialize(message.data()) for message in batch]

    def close(self):
        self.client.close()


def main():
    from flintstream.datastream import StreamExecutionEnvironment

    env = StreamExecutionEnvironment.get_execution_environment()
    env.add_source(PulsarSource("pulsar://localhost:6650", "orders", bytes.decode)).print()
    env.execute("orders from Pulsar")


if __name__ == "__main__":
    main()
