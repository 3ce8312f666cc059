"""A real Apache Pulsar: one broker with its bookie, only on this machine.

Maven downloads the distribution from Maven Central, once. It is kept in the directory that the variable
``FLINTSTREAM_PULSAR`` names, ``~/.cache/flintstream/pulsar-<version>`` by default.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import shutil
import signal
import subprocess
import tarfile
import tempfile
import time
import urllib.request
import uuid
from pathlib import Path

from tests import maven

VERSION = "4.0.8"
DIRECTORY = "FLINTSTREAM_PULSAR"
START_SECONDS = 240
OPENS = (
    "java.base/java.io",
    "java.base/java.nio",
    "java.base/java.util.zip",
    "java.base/jdk.internal.misc",
    "java.base/jdk.internal.platform",
    "java.management/sun.management",
    "jdk.management/com.sun.management.internal",
)


class NoServerError(Exception):
    """No Pulsar can be started on this machine."""


def distribution() -> Path:
    """Return the directory of the server; download it if necessary.

    Raises:
        NoServerError: It cannot be downloaded; the message has the reason.
    """
    own = os.environ.get(DIRECTORY)
    directory = Path(own) if own else Path.home() / ".cache" / "flintstream" / f"pulsar-{VERSION}"
    if directory.is_dir():
        return directory
    if shutil.which("java") is None or shutil.which("mvn") is None:
        raise NoServerError("it needs java, and mvn to download it")
    directory.parent.mkdir(parents=True, exist_ok=True)
    with Path(f"{directory}.lock").open("w") as lock, tempfile.TemporaryDirectory(dir=directory.parent) as work:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if directory.is_dir():  # another process has just downloaded it
            return directory
        artifact = f"org.apache.pulsar:pulsar-server-distribution:{VERSION}:tar.gz:bin"
        command = ["mvn", "-q", "-B", f"-Dmaven.repo.local={work}/repository", "dependency:copy"]
        command += [f"-Dartifact={artifact}", f"-DoutputDirectory={work}/found"]
        try:
            done = subprocess.run(  # noqa: S603
                command, capture_output=True, text=True, timeout=maven.DOWNLOAD_SECONDS, check=False, cwd=work
            )
        except subprocess.TimeoutExpired:
            raise NoServerError(f"Maven Central has not sent it within {maven.DOWNLOAD_SECONDS} s") from None
        found = next(iter(Path(work).glob("found/*.tar.gz")), None)
        if done.returncode or found is None:
            raise NoServerError(f"it cannot be downloaded: {(done.stdout.splitlines() or ['?'])[0]}")
        with tarfile.open(found) as archive:
            archive.extractall(work, filter="data")
        Path(work, f"apache-pulsar-{VERSION}").rename(directory)
    return directory


class Server:
    """A broker in a separate process, which can be killed and restarted with its data."""

    def __init__(self, directory: str | os.PathLike[str]) -> None:
        self.directory = Path(directory)
        self.directory.mkdir(parents=True, exist_ok=True)
        self.home = distribution()
        self.port, self.web = maven.free_port(), maven.free_port()
        self.url, self.admin = f"pulsar://127.0.0.1:{self.port}", f"http://127.0.0.1:{self.web}"
        text = (self.home / "conf" / "standalone.conf").read_text("utf-8")
        settings = {
            "brokerServicePort": self.port,
            "webServicePort": self.web,
            "bindAddress": "127.0.0.1",
            "advertisedAddress": "127.0.0.1",
            "listeningInterface": "lo",
            "managedLedgerCacheSizeMB": 32,
            "allowAutoTopicCreationType": "non-partitioned",
        }
        for key, value in settings.items():
            text = re.sub(rf"(?m)^#?\s*{key}=.*$", "", text) + f"\n{key}={value}\n"
        (self.directory / "standalone.conf").write_text(text, "utf-8")
        self.process: subprocess.Popen[bytes] | None = None
        self.start()

    def start(self) -> None:
        """Start the broker, and wait until it answers."""
        command = ["java", "-Xmx640m", "-XX:MaxDirectMemorySize=512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
        command += [word for name in OPENS for word in ("--add-opens", f"{name}=ALL-UNNAMED")]
        command += ["-cp", f"{self.home}/conf:{self.home}/lib/*", "-Dio.netty.tryReflectionSetAccessible=true"]
        command += ["-Djava.net.preferIPv4Stack=true", "-Dlog4j.configurationFile=log4j2.yaml"]
        command += ["-Dpulsar.log.root.level=warn", "-Dpulsar.log.level=warn", "-Dpulsar.log.appender=Console"]
        command += [f"-Dpulsar.log.dir={self.directory}", "-Dpulsar.routing.appender.default=Console"]
        command += ["org.apache.pulsar.PulsarStandaloneStarter", "--config", f"{self.directory}/standalone.conf"]
        command += ["-nfw", "-nss", "--num-bookies", "1", "-a", "127.0.0.1"]
        command += ["--bookkeeper-dir", f"{self.directory}/bookies", "--metadata-dir", f"{self.directory}/metadata"]
        with (self.directory / "log").open("ab") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log, cwd=self.directory)  # noqa: S603
        until = time.monotonic() + START_SECONDS
        while not self._answers():
            if self.process.poll() is not None or time.monotonic() > until:
                self.kill()
                raise NoServerError(f"the server does not start:\n{(self.directory / 'log').read_text()[-2000:]}")
            time.sleep(0.2)

    def _answers(self) -> bool:
        try:
            return b"public/default" in self.rest("GET", "namespaces/public")
        except OSError:
            return False

    def rest(self, method: str, path: str, data: object = None) -> bytes:
        """Ask the interface of administration."""
        body = None if data is None else json.dumps(data).encode()
        request = urllib.request.Request(  # noqa: S310
            f"{self.admin}/admin/v2/{path}", body, {"Content-Type": "application/json"}, method=method
        )
        with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310
            found: bytes = answer.read()
        return found

    def topic(self, partitions: int = 0, prefix: str = "t") -> str:
        """Create a topic, and return its name."""
        name = f"{prefix}{uuid.uuid4().hex[:12]}"
        self.create(name, partitions)
        return name

    def create(self, name: str, partitions: int = 0) -> None:
        """Create a topic."""
        path = f"persistent/public/default/{name}"
        if partitions:
            self.rest("PUT", f"{path}/partitions", partitions)
        else:
            self.rest("PUT", path)

    @contextlib.contextmanager
    def client(self):
        """Return a client."""
        import pulsar

        client = pulsar.Client(self.url, logger=pulsar.ConsoleLogger(pulsar.LoggerLevel.Error))
        try:
            yield client
        finally:
            client.close()

    def send(self, topic, texts, **more):
        """Send texts in batches, and return the ids of their messages."""
        with self.client() as client:
            producer = client.create_producer(topic, batching_enabled=True, block_if_queue_full=True)
            for text in texts:
                producer.send_async(text.encode(), lambda *_: None, **more)
            producer.flush()

    def send_singly(self, topic, messages):
        """Send texts with more arguments of the producer, one after the other, and return their ids."""
        with self.client() as client:
            producer = client.create_producer(topic)
            return [producer.send(text.encode(), **more) for text, more in messages]

    def messages(self, topic):
        """Return all messages, partition by partition."""
        import pulsar

        found = []
        with self.client() as client:
            for part in client.get_topic_partitions(topic):
                reader = client.create_reader(part, pulsar.MessageId.earliest)
                while reader.has_message_available():
                    found.append(reader.read_next(timeout_millis=5000))
                reader.close()
        return found

    def texts(self, topic):
        return [message.data().decode() for message in self.messages(topic)]

    def noted(self, topic, subscription):
        """Return up to which ledger and entry a subscription has read."""
        stats = json.loads(self.rest("GET", f"persistent/public/default/{topic}/internalStats"))
        return tuple(map(int, stats["cursors"][subscription]["markDeletePosition"].split(":")))

    def kill(self) -> None:
        """Kill the broker with signal 9."""
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def close(self) -> None:
        """Stop the broker and delete its data."""
        self.kill()
        shutil.rmtree(self.directory, ignore_errors=True)
