"""Nothing listens unless the program asks for it, and then on this machine only."""

from __future__ import annotations

import subprocess
import sys

import pytest

from flintstream.engine.spark.session import resolve_settings
from flintstream.options.metrics import PROMETHEUS_HOST, PROMETHEUS_PORT


@pytest.mark.promise("S13")
def test_spark_s_web_interface_is_off_and_a_local_master_listens_on_this_machine_only():
    conf = resolve_settings({"spark.master": "local[2]"}, {})
    assert conf["spark.ui.enabled"] == "false"
    assert conf["spark.driver.host"] == conf["spark.driver.bindAddress"] == "127.0.0.1"
    assert resolve_settings({"spark.master": "local[2]", "spark.ui.enabled": "true"}, {})["spark.ui.enabled"] == "true"


@pytest.mark.promise("S14")
def test_the_port_for_prometheus_is_off_and_on_this_machine_only():
    assert PROMETHEUS_PORT.read({}) is None
    assert PROMETHEUS_HOST.read({}) == "127.0.0.1"


@pytest.mark.promise("S13")
def test_the_ports_of_a_spark_of_one_process_ask_for_a_secret_unless_you_switch_it_off():
    for master in ("local", "local[2]", "local[*]", "local[4,2]"):
        assert resolve_settings({"spark.master": master}, {})["spark.authenticate"] == "true"
    assert (
        resolve_settings({"spark.master": "local[2]", "spark.authenticate": "false"}, {})["spark.authenticate"]
        == "false"
    )
    for master in ("spark://host:7077", "yarn", "local-cluster[1,1,1024]"):  # the secret would be missing
        assert "spark.authenticate" not in resolve_settings({"spark.master": master}, {})


SEND_TO_SPARK = """
import socket
import struct
from pyspark import SparkContext
from flintstream.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(2)
env.from_collection(["a", "b", "a"]).key_by(lambda word: word).map(str).print()
env.execute()
port = int(SparkContext._active_spark_context.getConf().get("spark.driver.port"))
body = b"\\xac\\xed\\x00\\x05an object of Java"
request = struct.pack("!BqI", 3, 1, len(body)) + body
with socket.create_connection(("127.0.0.1", port), 30) as stranger:
    stranger.sendall(struct.pack("!q", 8 + len(request)) + request)
    print("reply:", stranger.recv(10_000))
"""


@pytest.mark.spark
@pytest.mark.promise("S13")
def test_spark_reads_no_message_of_a_stranger_while_a_job_runs(tmp_path):
    script = tmp_path / "job.py"
    script.write_text(SEND_TO_SPARK)
    command = [sys.executable, "-m", "flintstream.cli", "run", str(script)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)  # noqa: S603 - ours
    assert "reply: b" in done.stdout, done.stderr
    assert "Expected SaslMessage" in done.stdout
    assert "RequestMessage" not in done.stdout, "Spark has read the body"
