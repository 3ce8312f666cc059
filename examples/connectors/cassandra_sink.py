"""A sink for Cassandra, on the package cassandra-driver: rows of (word, count) into a table.

    pip install cassandra-driver
    CREATE TABLE words (word text PRIMARY KEY, count bigint)

At least once: rows are in the table when the epoch counts. An INSERT replaces the row of the same key, so writing a
row again after a failure does not change the table.
"""

from flintstream.connectors.sink import Sink, SinkWriter


class CassandraSink(Sink):
    waits_for_checkpoint = False  # the sink prepares nothing that a checkpoint must commit

    def __init__(self, hosts, keyspace, statement, concurrency=100):
        self.hosts = hosts
        self.keyspace = keyspace
        self.statement = statement
        self.concurrency = concurrency

    def create_writer(self, context):
        return CassandraWriter(self)


class CassandraWriter(SinkWriter):
    def __init__(self, sink):
        from cassandra.cluster import Cluster

        self.concurrency = sink.concurrency
        self.cluster = Cluster(sink.hosts)
        self.session = self.cluster.connect(sink.keyspace)
        self.insert = self.session.prepare(sink.statement)
        self.on_their_way = []

    def write(self, values, timestamps):
        for value in values:
            if len(self.on_their_way) == self.concurrency:
                self.flush()
            self.on_their_way.append(self.session.execute_async(self.insert, value))

    def flush(self):
        waiting, self.on_their_way = self.on_their_way, []
        for future in waiting:
            future.result()  # raises if the write failed, which fails the job

    def prepare_commit(self, *, end_of_input, checkpoint=True):
        self.flush()
        return ()

    def close(self):
        self.cluster.shutdown()


def main():
    from flintstream.common import Types
    from flintstream.datastream import StreamExecutionEnvironment

    env = StreamExecutionEnvironment.get_execution_environment()
    words = env.from_collection(["to", "be", "or", "not", "to", "be"]).map(lambda word: (word, 1))
    counts = words.key_by(lambda pair: pair[0], Types.STRING()).reduce(lambda a, b: (a[0], a[1] + b[1]))
    counts.sink_to(CassandraSink(["127.0.0.1"], "examples", "INSERT INTO words (word, count) VALUES (?, ?)"))
    env.execute("words into Cassandra")


if __name__ == "__main__":
    main()
