"""``python -m tests.rest.watched --minutes 30 --pictures DIRECTORY``: a job from Kafka, in a browser, over a kill.

A program writes orders to a topic of a real broker. A job on Spark sums them up in windows, and writes the sums to
another topic. A browser watches it at the address that ``flintstream ui`` prints. Then a function of the job fails, and
the driver is killed with signal 9 and started again with ``--resume``. What the page says must follow, and is
written to pictures: at 1280 and 400 pixels, in light and dark colours. If Prometheus is installed, it reads the job all
the time, and each query of the dashboard must have an answer in the end.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from confluent_kafka import Producer
from tests.connectors.kafka.broker import Broker
from tests.reporters.prometheus_server import PROGRAM as PROMETHEUS
from tests.reporters.prometheus_server import prometheus, queries
from tests.rest.browser import browser
from tests.standalone import free_port
from tests.waiting import wait_for

from flintstream.coordinator import registry
from flintstream.coordinator.monitoring import history

if TYPE_CHECKING:
    from tests.rest.browser import Browser

LOOKS = ((1280, False), (1280, True), (400, False), (400, True))

PROGRAM = """
import json, os, sys
from pyflink.common import Duration, SimpleStringSchema, Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.connectors.kafka import (
    KafkaOffsetsInitializer, KafkaRecordSerializationSchema, KafkaSink, KafkaSource,
)
from pyflink.datastream.window import TumblingEventTimeWindows

servers, orders, sums, flag = sys.argv[1:]

class OrderTime(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return json.loads(value)["at"]

def priced(text):
    order = json.loads(text)
    if os.path.exists(flag):
        os.remove(flag)
        raise KeyError(f"no price for {order['item']}")
    return order["item"], 3 * order["pieces"]

env = StreamExecutionEnvironment.get_execution_environment()
source = (
    KafkaSource.builder().set_bootstrap_servers(servers).set_topics(orders).set_group_id("shop")
    .set_starting_offsets(KafkaOffsetsInitializer.earliest()).set_value_only_deserializer(SimpleStringSchema()).build()
)
marks = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(1)).with_timestamp_assigner(OrderTime())
schema = KafkaRecordSerializationSchema.builder().set_topic(sums).set_value_serialization_schema(SimpleStringSchema())
sink = KafkaSink.builder().set_bootstrap_servers(servers).set_record_serializer(schema.build()).build()
(
    env.from_source(source, marks, "orders")
    .map(priced, Types.TUPLE([Types.STRING(), Types.LONG()])).name("price")
    .key_by(lambda order: order[0])
    .window(TumblingEventTimeWindows.of(Time.seconds(5)))
    .reduce(lambda a, b: (a[0], a[1] + b[1])).name("sum per item and 5 s")
    .map(json.dumps, Types.STRING()).name("as JSON")
    .sink_to(sink).name("sums")
)
env.execute("revenue of the shop")
"""


def feed(broker: Broker, topic: str, rate: float, ended: threading.Event) -> None:
    """Write orders until the end: ten a second come a minute late."""
    client, chance = Producer({"bootstrap.servers": broker.servers, "log_level": 0}), random.Random(7)
    while not ended.wait(0.1):
        for number in range(int(rate / 10)):
            item = f"item-{min(int(chance.paretovariate(0.7)), 99)}"
            late_ms = 0 if number else 60_000
            order = {"item": item, "pieces": chance.randint(1, 5), "at": int(time.time() * 1000) - late_ms}
            client.produce(topic, json.dumps(order))
        client.poll(0)
    client.flush(10)


class Watched:
    """The job, and the browser that watches it."""

    def __init__(self, page: Browser, place: str, command: list[str], pictures: Path) -> None:
        self.page, self.place, self.command, self.pictures = page, place, command, pictures
        self.job = ""
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the program, and wait until the page says that its job runs and has a checkpoint."""
        with (self.pictures / "log").open("ab") as log:
            self.process = subprocess.Popen(self.command, stdout=log, stderr=log)  # noqa: S603
        entry = wait_for(registry.entries, processes=[self.process], log=self.pictures / "log")[0]
        self.job = self.job or entry.job_id
        assert entry.job_id == self.job
        self.show("checkpoints")
        self.page.wait_for("COMPLETED", "#view")

    def kill(self) -> None:
        """Kill the driver."""
        assert self.process is not None
        self.process.kill()
        self.process.wait()

    def show(self, tab: str) -> None:
        self.page.open("about:blank")
        self.page.open(f"{self.place}#/jobs/{self.job}/{tab}")
        self.page.wait_for("started", "h1 + p")

    def picture(self, name: str, tab: str) -> None:
        """Take pictures of a view in all sizes and colours."""
        for width, dark in LOOKS:
            self.page.look(width, dark=dark)
            self.show(tab)
            if tab == "graph":
                self.page.click(".step:nth-of-type(2) .vertex")
                self.page.wait_for("Held back", "#view")
            time.sleep(3)
            self.page.picture(self.pictures / f"{name}-{width}-{'dark' if dark else 'light'}.png")

    def picture_all(self) -> None:
        """Take pictures of a running job."""
        tabs = {"graph": "graph", "metrics": "curves", "checkpoints": "checkpoints", "state": "state"}
        for name, tab in tabs.items():
            self.picture(name, tab)


def serve_page(stack: ExitStack, log: Path) -> tuple[str, str]:
    """Start ``flintstream ui``; return its address and its token."""
    log.touch(0o600)  # a file that others can read gets no token
    with log.open("wb") as errors:
        command = [sys.executable, "-m", "flintstream.cli", "ui", "--port", "0"]
        server = stack.enter_context(subprocess.Popen(command, stderr=errors))  # noqa: S603
    stack.callback(server.terminate)
    told = wait_for(lambda: re.search(r"(http://\S+/)\?token=([^\s,]+)", log.read_text()))
    return told[1], told[2]


def watch(minutes: float, rate: float, engine: list[str], pictures: Path) -> dict[str, Any]:
    """Run it all. Return what the job had done in the end."""
    pictures.mkdir(parents=True, exist_ok=True)
    ended = threading.Event()
    with ExitStack() as stack:
        directory = stack.enter_context(tempfile.TemporaryDirectory(prefix="watched-", ignore_cleanup_errors=True))
        places = {registry.DIRECTORY: f"{directory}/jobs", history.DIRECTORY: f"{directory}/history"}
        os.environ.update(places)
        broker = Broker(f"{directory}/broker")
        stack.callback(broker.close)
        orders, sums, flag = broker.topic(partitions=2), broker.topic(partitions=2), Path(directory, "fail")
        feeder = threading.Thread(target=feed, args=(broker, orders, rate, ended), daemon=True)
        feeder.start()
        stack.callback(ended.set)
        address, token = serve_page(stack, Path(directory, "ui"))
        program = Path(directory, "revenue.py")
        program.write_text(PROGRAM)
        command = [sys.executable, "-m", "flintstream.cli", "run", "--resume", *engine, "-p", "2"]
        for setting in ("interval=5s", f"dir=file://{directory}/checkpoints"):
            command += ["-D", f"execution.checkpointing.{setting}"]
        command += ["-D", "restart-strategy.type=fixed-delay", "-D", "restart-strategy.fixed-delay.attempts=9"]
        metrics = free_port()
        command += ["-D", f"flintstream.metrics.prometheus.port={metrics}"]
        page = stack.enter_context(browser())
        page.look(1280)
        page.open(f"{address}?token={token}")
        page.wait_for("Jobs")
        job = Watched(page, address, [*command, str(program), broker.servers, orders, sums, str(flag)], pictures)
        job.start()
        stack.callback(job.kill)
        scraper = stack.enter_context(prometheus(metrics)) if PROMETHEUS else None
        time.sleep(minutes * 30)
        flag.touch()
        job.show("exceptions")
        page.wait_for("no price for", ".exception")
        page.wait_for("from checkpoint", ".exception")
        job.picture("exception", "exceptions")
        job.kill()
        job.show("graph")
        page.wait_for("LOST", "h1")
        job.picture("lost", "graph")
        job.start()  # with --resume, under the same id
        job.show("graph")
        page.wait_for("RUNNING", "h1")
        time.sleep(minutes * 30)
        job.picture_all()
        assert page.complaints() == []
        done = {"sums": len(broker.records(sums)), "tiles": " ".join(page.text(".tiles").split())}
        if scraper is not None:
            done["values"] = {query: len(scraper.values(query, int(minutes * 60))) for query in queries()}
        return done


def main() -> None:
    """Run it, and print what the job had done in the end."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=30, help="how long the job runs, before and after the kill")
    parser.add_argument("--rate", type=float, default=1000, help="orders per second")
    parser.add_argument("--master", default="local[2]", help="Spark's master; 'inline' for no Spark")
    parser.add_argument("--pictures", type=Path, default=Path("pictures"), help="a directory for pictures and the log")
    options = parser.parse_args()
    inline = ["-D", "flintstream.engine=inline"]
    engine = inline if options.master == "inline" else ["--master", options.master]
    done = watch(options.minutes, options.rate, engine, options.pictures)
    print(json.dumps(done, indent=2))
    assert all(done.get("values", {}).values()), "a query of the dashboard has no answer"


if __name__ == "__main__":
    main()
