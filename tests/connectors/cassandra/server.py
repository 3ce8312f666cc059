"""A real Apache Cassandra: one node, only on this machine, whose jars come from Maven Central."""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
import signal
import subprocess
import time
import uuid
from pathlib import Path

from tests import maven

VERSION = "5.0.5"
JARS = "FLINTSTREAM_CASSANDRA_JARS"
START_SECONDS = 180

SETTINGS = """
cluster_name: test
num_tokens: 1
partitioner: org.apache.cassandra.dht.Murmur3Partitioner
endpoint_snitch: SimpleSnitch
seed_provider:
  - class_name: org.apache.cassandra.locator.SimpleSeedProvider
    parameters: [{{seeds: "127.0.0.1:{storage}"}}]
listen_address: 127.0.0.1
rpc_address: 127.0.0.1
native_transport_port: {port}
storage_port: {storage}
commitlog_sync: batch
data_file_directories: [{directory}/data]
commitlog_directory: {directory}/commitlog
saved_caches_directory: {directory}/saved
hints_directory: {directory}/hints
cdc_raw_directory: {directory}/cdc
memtable_heap_space: 32MiB
memtable_offheap_space: 32MiB
auto_snapshot: false
"""

EXPORTS = """
java.base: java.lang.ref java.lang.reflect jdk.internal.misc jdk.internal.ref sun.nio.ch
java.management.rmi: com.sun.jmx.remote.internal.rmi
java.rmi: sun.rmi.registry sun.rmi.server
java.sql: java.sql
jdk.unsupported: sun.misc
"""
OPENS = """
java.base: java.io java.lang java.lang.module java.lang.reflect java.math java.net java.nio java.util
java.base: java.util.concurrent java.util.concurrent.atomic jdk.internal.loader jdk.internal.math jdk.internal.module
java.base: jdk.internal.ref jdk.internal.reflect jdk.internal.util.jar sun.nio.ch
java.rmi: sun.rmi.transport.tcp
jdk.management: com.sun.management.internal
"""
"""What Cassandra uses of the JVM's own modules."""


def openings(option, text):
    """Return options of the JVM."""
    found = []
    for line in text.split("\n")[1:-1]:
        module, packages = line.split(": ")
        found += [word for name in packages.split() for word in (option, f"{module}/{name}=ALL-UNNAMED")]
    return found


class NoServerError(Exception):
    """No Cassandra can be started on this machine."""


class Server:
    """A node in a separate process, which can be killed and restarted with its data."""

    def __init__(self, directory: str | os.PathLike[str]) -> None:
        self.directory = Path(directory)
        self.directory.mkdir(parents=True, exist_ok=True)
        try:
            self.jars = maven.jars(
                "org.apache.cassandra", "cassandra-all", VERSION, "cassandra", "FLINTSTREAM_CASSANDRA"
            )
        except maven.NoJarsError as error:
            raise NoServerError(str(error)) from None
        self.port = maven.free_port()
        text = SETTINGS.format(port=self.port, storage=maven.free_port(), directory=self.directory)
        (self.directory / "cassandra.yaml").write_text(text, "utf-8")
        (self.directory / "logback.xml").write_text("<configuration><root level='OFF'/></configuration>", "utf-8")
        self.process: subprocess.Popen[bytes] | None = None
        self.start()

    def start(self) -> None:
        """Start the node, and wait until it answers."""
        command = ["java", "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", f"{self.jars}/*"]
        command += [*openings("--add-exports", EXPORTS), *openings("--add-opens", OPENS)]
        settings = {
            "cassandra.config": (self.directory / "cassandra.yaml").as_uri(),
            "cassandra.storagedir": self.directory,
            "cassandra-foreground": "yes",
            "cassandra.ring_delay_ms": 0,
            "cassandra.skip_wait_for_gossip_to_settle": 0,
            "cassandra.superuser_setup_delay_ms": 0,
            "logback.configurationFile": self.directory / "logback.xml",
        }
        command += [f"-D{key}={value}" for key, value in settings.items()]
        with (self.directory / "log").open("ab") as log:
            self.process = subprocess.Popen(  # noqa: S603
                [*command, "org.apache.cassandra.service.CassandraDaemon"], stdout=log, stderr=log, cwd=self.directory
            )
        until = time.monotonic() + START_SECONDS
        while not self._answers():
            if self.process.poll() is not None or time.monotonic() > until:
                self.kill()
                raise NoServerError(f"the server does not start:\n{(self.directory / 'log').read_text()[-2000:]}")
            time.sleep(0.2)

    def _answers(self) -> bool:
        from cassandra.cluster import NoHostAvailable

        try:
            with self.session() as session:
                session.execute("SELECT * FROM system.local")
        except NoHostAvailable:
            return False
        return True

    @contextlib.contextmanager
    def session(self):
        """Return a session of the driver."""
        from flintstream.connectors.cassandra.client import usual_cluster

        logging.getLogger("cassandra").setLevel(logging.CRITICAL)
        cluster = usual_cluster("127.0.0.1", self.port)
        try:
            yield cluster.connect()
        finally:
            cluster.shutdown()

    def keyspace(self, *tables: str) -> str:
        """Create a keyspace with tables, given by name and columns, and return its name."""
        name = f"k{uuid.uuid4().hex[:12]}"
        with self.session() as session:
            replication = "{'class': 'SimpleStrategy', 'replication_factor': 1}"
            session.execute(f"CREATE KEYSPACE {name} WITH replication = {replication} AND durable_writes = true")
            for table in tables:
                session.execute(f"CREATE TABLE {name}.{table}")
        return name

    def rows(self, query: str) -> list[tuple[object, ...]]:
        """Return the rows of a query, sorted."""
        with self.session() as session:
            return sorted(tuple(row) for row in session.execute(query))

    def kill(self) -> None:
        """Kill the node with signal 9."""
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def close(self) -> None:
        """Stop the node and delete its data."""
        self.kill()
        shutil.rmtree(self.directory, ignore_errors=True)
