"""A YARN cluster of one machine: Hadoop's MiniYARNCluster in a JVM of its own, only for this machine.

PySpark's Ivy downloads the jars that PySpark lacks, once. They are kept in the directory that the variable
``FLINTSTREAM_YARN_JARS`` names, ``~/.cache/flintstream/yarn-<version of Hadoop>`` by default.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pyspark
from py4j.java_gateway import GatewayParameters, JavaGateway, launch_gateway

JARS = "FLINTSTREAM_YARN_JARS"
DOWNLOAD_SECONDS = 600
START_MS = 300_000

OF_SPARK = Path(pyspark.__file__).parent / "jars"
"""Spark's jars, among them Hadoop's client."""

OTHERS = (
    ("org.junit.jupiter", "junit-jupiter-api", "5.10.2"),
    ("org.junit.platform", "junit-platform-commons", "1.10.2"),
    ("org.opentest4j", "opentest4j", "1.3.0"),
    ("org.mockito", "mockito-core", "4.11.0"),
    ("org.bouncycastle", "bcprov-jdk18on", "1.78.1"),
    ("org.bouncycastle", "bcpkix-jdk18on", "1.78.1"),
    ("org.bouncycastle", "bcutil-jdk18on", "1.78.1"),
)
"""What the cluster needs and its own jar does not contain."""

OPENED = ("java.lang", "java.util", "java.io", "java.net", "java.nio", "sun.nio.ch")

SETTINGS = {
    "fs.defaultFS": "file:///",
    "yarn.scheduler.minimum-allocation-mb": "256",
    "yarn.minicluster.yarn.nodemanager.resource.memory-mb": "8192",
    "yarn.nodemanager.resource.memory-mb": "8192",
    "yarn.nodemanager.vmem-check-enabled": "false",
    "yarn.nodemanager.pmem-check-enabled": "false",
    "yarn.nodemanager.disk-health-checker.max-disk-utilization-per-disk-percentage": "99.9",
    "yarn.scheduler.capacity.root.queues": "default",
    "yarn.scheduler.capacity.root.default.capacity": "100",
    "yarn.scheduler.capacity.maximum-am-resource-percent": "1.0",
}


class NoClusterError(Exception):
    """No cluster can be started on this machine."""


def jars() -> Path:
    """Return the directory with the cluster's jars; download them if necessary.

    Raises:
        NoClusterError: They cannot be downloaded; the message has the reason.
    """
    ivy = next(iter(OF_SPARK.glob("ivy-*.jar")), None)
    client = next(iter(OF_SPARK.glob("hadoop-client-api-*.jar")), None)
    if shutil.which("java") is None or ivy is None or client is None:
        raise NoClusterError("the cluster needs java, and PySpark's Ivy and Hadoop")
    found = re.fullmatch(r"hadoop-client-api-(.+)\.jar", client.name)
    assert found is not None
    own = os.environ.get(JARS)
    directory = Path(own) if own else Path.home() / ".cache" / "flintstream" / f"yarn-{found[1]}"
    directory.parent.mkdir(parents=True, exist_ok=True)
    with directory.with_suffix(".lock").open("w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not directory.is_dir():
            with tempfile.TemporaryDirectory(dir=directory.parent) as work:
                for name in [("org.apache.hadoop", "hadoop-client-minicluster", found[1]), *OTHERS]:
                    _download(ivy, work, name)
                Path(work, "jars").rename(directory)
    return directory


def _download(ivy: Path, work: str, name: tuple[str, str, str]) -> None:
    command = ["java", "-jar", str(ivy), "-cache", f"{work}/cache", "-confs", "default", "-types", "jar", "bundle"]
    command += ["-notransitive", "-dependency", *name, "-retrieve", f"{work}/jars/[artifact]-[revision].[ext]"]
    try:
        done = subprocess.run(  # noqa: S603
            command, capture_output=True, text=True, timeout=DOWNLOAD_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        raise NoClusterError(f"{name[1]} was not sent within {DOWNLOAD_SECONDS} s") from None
    if done.returncode or not Path(work, "jars", f"{name[1]}-{name[2]}.jar").exists():
        raise NoClusterError(f"{name[1]} cannot be downloaded: {(done.stdout + done.stderr).strip()[-300:]}")


class Cluster:
    """A resource manager and a node manager; :attr:`environment` leads Spark to them."""

    def __init__(self, directory: Path) -> None:
        """Start the cluster, which keeps its data in ``directory``.

        Raises:
            NoClusterError: It does not start.
        """
        own = jars()
        self.directory = directory
        self._log = (directory / "cluster.log").open("w", encoding="utf-8")
        (directory / "log4j2.properties").write_text(
            "appender.a.type=Console\nappender.a.name=A\nrootLogger.level=WARN\nrootLogger.appenderRef.a.ref=A\n"
        )
        port = launch_gateway(
            jarpath=str(next(OF_SPARK.glob("py4j*.jar"))),
            classpath=os.pathsep.join([f"{own}/*", f"{OF_SPARK}/*"]),
            javaopts=[
                "-Xmx768m",
                f"-Dlog4j2.configurationFile={directory / 'log4j2.properties'}",
                f"-Dtest.build.data={directory}/data",
                f"-Dhadoop.tmp.dir={directory}/hadoop",
                *(f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in OPENED),
            ],
            die_on_exit=True,
            redirect_stdout=self._log,
            redirect_stderr=self._log,
            cwd=str(directory),
        )
        self._gateway = JavaGateway(gateway_parameters=GatewayParameters(port=port))
        jvm: Any = self._gateway.jvm
        configuration = jvm.org.apache.hadoop.yarn.conf.YarnConfiguration()
        for key, value in {**SETTINGS, "hadoop.tmp.dir": f"{directory}/hadoop"}.items():
            configuration.set(key, value)
        self._cluster = jvm.org.apache.hadoop.yarn.server.MiniYARNCluster("flintstream", 1, 1, 1)
        try:
            self._cluster.init(configuration)
            self._cluster.start()
            registered = self._cluster.waitForNodeManagersToConnect(START_MS)
        except Exception as error:
            self.close()
            raise NoClusterError(str(error)[:2000]) from error
        if not registered:
            self.close()
            raise NoClusterError("the node manager has not registered")
        (directory / "conf").mkdir()
        written = jvm.java.io.FileOutputStream(str(directory / "conf" / "yarn-site.xml"))
        self._cluster.getConfig().writeXml(written)
        written.close()
        self.environment = {"HADOOP_CONF_DIR": str(directory / "conf"), "YARN_CONF_DIR": str(directory / "conf")}

    def output(self) -> str:
        """Return the end of what each container has written."""
        logs = sorted(self.directory.rglob("container_*/std*"))
        return "\n".join(f"{path}:\n{path.read_text(errors='replace')[-3000:]}" for path in logs)

    def close(self) -> None:
        """Stop the cluster with its containers."""
        try:
            self._cluster.stop()
        finally:
            self._gateway.shutdown()
            self._log.close()
