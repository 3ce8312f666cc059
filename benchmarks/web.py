"""What the web page costs: throughput and latency of a job that a page watches, beside one that nobody watches.

    python -m benchmarks.web [--records 3000000] [--rounds 5] [--rate 1000] [--seconds 30]

Each round runs the same keyed count twice, in turn with and without ``flintstream run --ui`` and a process that asks
for everything that an open page asks for, every 2 s. Everything runs in one process without Spark, so that all of the
cost meets the job. Throughput counts records per second of the processor's time, which other programs on the machine do
not change much. Latency is that of epochs, from the source to the sink.

    python -m benchmarks.web --direct [--polls 200]

measures the cost itself, on any machine: the processor's time that the process of a job with 32 subtasks spends on what
an open page asks for, beyond what it spends when nobody asks.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from contextlib import ExitStack
from typing import Any

from benchmarks.latency import Count, Metronome
from flintstream.common import WatermarkStrategy
from flintstream.datastream import StreamExecutionEnvironment
from flintstream.datastream.connectors.number_seq import NumberSequenceSource
from flintstream.rest.serving import Place, beside
from flintstream.testing import CollectSink

POLL_SECONDS = 2.0


TOKEN = "of-the-benchmark"  # noqa: S105 - it may be on a command line
HEADERS = {"Authorization": f"Bearer {TOKEN}"}


def watch(address: str) -> None:
    """Ask what an open page asks, until the server is gone."""
    since = 0
    while True:
        try:
            jobs = _get(f"{address}v1/flintstream/jobs")
            for job in jobs:
                _get(f"{address}v1/flintstream/jobs/{job['job_id']}")
                samples = _get(f"{address}v1/flintstream/jobs/{job['job_id']}/curves?since={since}")
                since = samples[-1]["at_ms"] if samples else since
        except OSError:
            return
        time.sleep(POLL_SECONDS)


def _get(address: str) -> Any:
    asked = urllib.request.Request(address, headers=HEADERS)  # noqa: S310 - our own server
    with urllib.request.urlopen(asked, timeout=30) as reply:  # noqa: S310
        return json.loads(reply.read())


def direct(polls: int) -> None:
    """Print what an open page costs, in time of the processor and as a share of a core."""
    with ExitStack() as stack:
        place = stack.enter_context(beside(Place(token=TOKEN)))
        directory = stack.enter_context(tempfile.TemporaryDirectory(prefix="web-"))
        settings = {
            "flintstream.engine": "inline",
            "execution.checkpointing.interval": "1 s",
            "execution.checkpointing.dir": f"file://{directory}",
        }
        env = StreamExecutionEnvironment.get_execution_environment(settings).set_parallelism(8)
        stream = env.from_source(Metronome(10, 10**6), WatermarkStrategy.for_monotonous_timestamps(), "metronome")
        for step in range(3):
            stream = stream.key_by(_key).map(_same).name(f"step {step}")
        stream.sink_to(CollectSink())
        client = env.execute_async("watched")
        stack.callback(lambda: client.cancel().result())
        time.sleep(10)
        address = place.bare_address
        job = str(client.get_job_id())
        asked = [f"{address}v1/flintstream/jobs/{job}", f"{address}v1/flintstream/jobs/{job}/curves?since=0"]
        _ask_all(asked, 5)  # imports, first connections
        began, began_cpu = time.perf_counter(), time.process_time()
        size = _ask_all(asked, polls)
        wall, spent = time.perf_counter() - began, time.process_time() - began_cpu
        began_cpu = time.process_time()
        time.sleep(wall)
        alone = time.process_time() - began_cpu
        cost = max(0.0, spent - alone) / polls
        print(f"{polls} polls, {size:,} bytes each: {1000 * cost:.2f} ms of the processor each beyond the job's own")
        print(f"one every {POLL_SECONDS:g} s: {100 * cost / POLL_SECONDS:.3f} % of one core")


def _ask_all(addresses: list[str], polls: int) -> int:
    """Ask from another process; return how many bytes a poll brings."""
    command = [sys.executable, "-c", ASKER, str(polls), TOKEN, *addresses]
    return int(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)  # noqa: S603


ASKER = """
import sys, urllib.request
polls, token, addresses = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
asked = [urllib.request.Request(address, headers={"Authorization": f"Bearer {token}"}) for address in addresses]
for _ in range(polls):
    size = sum(len(urllib.request.urlopen(request, timeout=60).read()) for request in asked)
print(size)
"""


def _same(value: object) -> object:
    return value


def once(what: str, options: argparse.Namespace, *, watched: bool) -> dict[str, float]:
    """Run a job, and return records per second of CPU time, or quantiles of its latency (ms)."""
    with ExitStack() as stack:
        if watched:
            place = stack.enter_context(beside(Place(token=TOKEN)))
            command = [sys.executable, "-m", "benchmarks.web", "--watch", place.bare_address]
            page = stack.enter_context(subprocess.Popen(command, stderr=subprocess.DEVNULL))  # noqa: S603
            stack.callback(page.kill)
        directory = stack.enter_context(tempfile.TemporaryDirectory(prefix="web-"))
        settings = {
            "flintstream.engine": "inline",
            "execution.checkpointing.interval": "5 s",
            "execution.checkpointing.dir": f"file://{directory}",
        }
        env = StreamExecutionEnvironment.get_execution_environment(settings).set_parallelism(2)
        marks = WatermarkStrategy.for_monotonous_timestamps()
        if what == "throughput":
            numbers = env.from_source(NumberSequenceSource(0, options.records - 1), marks, "numbers").map(_pair)
        else:
            numbers = env.from_source(Metronome(options.rate, options.seconds), marks, "metronome")
        numbers.key_by(_key).process(Count()).filter(_nothing).sink_to(CollectSink())
        began, began_cpu = time.perf_counter(), time.process_time()
        client = env.execute_async(what)
        latency: list[dict[float, int]] = []
        ended = threading.Event()
        if what == "latency":
            running = client._handle._job
            while not ended.wait(1) and not running.finished.is_set():
                latency.append(running.coordinator.statistics.load.latency())
        client.get_job_execution_result().result()
        if what == "latency":
            known = [item for item in latency if item]
            return {name: statistics.median(item[share] for item in known) for name, share in QUANTILES.items()}
        spent = time.process_time() - began_cpu
        return {
            "records per CPU s": options.records / spent,
            "records per s": options.records / (time.perf_counter() - began),
        }


QUANTILES = {"p50 ms": 0.5, "p99 ms": 0.99}


def _pair(number: int) -> tuple[int, float]:
    return number, 0.0


def _key(value: tuple[int, float]) -> int:
    return value[0] % 1000


def _nothing(_: object) -> bool:
    return False


def main() -> None:
    """Run all rounds, and print the medians."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=3_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--rate", type=float, default=1000, help="records per second of the job for latency")
    parser.add_argument("--seconds", type=float, default=30, help="how long that job runs")
    parser.add_argument("--direct", action="store_true", help="measure the cost of an open page itself")
    parser.add_argument("--polls", type=int, default=200)
    parser.add_argument("--watch", help=argparse.SUPPRESS)
    parser.add_argument("--once", help=argparse.SUPPRESS)
    parser.add_argument("--watched", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.direct:
        direct(options.polls)
    elif options.watch:
        watch(options.watch)
    elif options.once:
        print(json.dumps(once(options.once, options, watched=options.watched)))
    else:
        for what in ("throughput", "latency"):
            _compare(what, options)


def _compare(what: str, options: argparse.Namespace) -> None:
    told: dict[bool, list[dict[str, float]]] = {False: [], True: []}
    for number in range(options.rounds):
        for watched in (False, True) if number % 2 else (True, False):
            command = [sys.executable, "-m", "benchmarks.web", "--once", what, "--records", str(options.records)]
            command += ["--rate", str(options.rate), "--seconds", str(options.seconds)]
            with tempfile.TemporaryDirectory(prefix="web-") as home:
                places = {"FLINTSTREAM_JOBS_DIR": f"{home}/jobs", "FLINTSTREAM_HISTORY_DIR": f"{home}/history"}
                done = subprocess.run(  # noqa: S603
                    [*command, *(["--watched"] if watched else [])],
                    env={**os.environ, **places},
                    stdout=subprocess.PIPE,
                    text=True,
                    check=True,
                )
            told[watched].append(json.loads(done.stdout.splitlines()[-1]))
    for name in told[False][0]:
        alone, seen = (statistics.median(item[name] for item in told[watched]) for watched in (False, True))
        print(f"{what:10} {name:18} alone {alone:12,.1f}  watched {seen:12,.1f}  {100 * (seen / alone - 1):+.2f} %")


if __name__ == "__main__":
    main()
