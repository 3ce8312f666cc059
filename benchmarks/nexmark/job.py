"""One query as jobs of one process: runs on PyFlink and, unchanged, on flintstream.

    python job.py QUERY --small DIRECTORY --output DIRECTORY [--large DIRECTORY --report FILE] [--mode thread]

The first job reads few events and writes its results for a check. Two more drop their results: one reads the same few
events again, now that everything has been started and loaded once, and one reads many. The report has the cost of each.
Query 10 always writes files, since that is its purpose.
"""

# ruff: noqa: ANN001, ANN201, D103 - as a user of that engine would write it

import argparse
import json
import sys
import time
from pathlib import Path

from pyflink.common import Configuration, Encoder, Types
from pyflink.datastream import RuntimeExecutionMode, StreamExecutionEnvironment
from pyflink.datastream.connectors.file_system import BucketAssigner, FileSink

from benchmarks.nexmark.cpu import cpu_of_family
from benchmarks.nexmark.queries import QUERIES
from benchmarks.nexmark.streams import read


def write(stream, directory):
    """Write tuples to files, as lines of JSON."""
    sink = FileSink.for_row_format(directory, Encoder.simple_string_encoder())
    sink = sink.with_bucket_assigner(BucketAssigner.base_path_bucket_assigner()).build()
    stream.map(json.dumps, output_type=Types.STRING()).sink_to(sink)


def environment(options, runtime):
    configuration = Configuration()
    if options.mode != "flintstream":
        configuration.set_string("python.execution-mode", options.mode)
        configuration.set_string("python.executable", sys.executable)
        configuration.set_string("python.client.executable", sys.executable)
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_parallelism(options.parallelism)
    env.set_runtime_mode(RuntimeExecutionMode[runtime])
    return env


def run(options, source, output, runtime="STREAMING"):
    """Run the query once; return its seconds, and the CPU seconds of all processes."""
    env = environment(options, runtime)
    results = QUERIES[options.query](read(env, source))
    if output:
        write(results, output)
    else:
        results.filter(lambda _: False).print()
    started, cpu = time.perf_counter(), cpu_of_family()
    env.execute(f"Nexmark {options.query}")
    return {"seconds": time.perf_counter() - started, "cpu": cpu_of_family() - cpu}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("query", choices=QUERIES)
    parser.add_argument("--small", required=True, help="directory of few events, from events.write")
    parser.add_argument("--output", required=True)
    parser.add_argument("--large", help="directory of many events")
    parser.add_argument("--report", help="file for the cost of the jobs")
    parser.add_argument("--mode", default="thread", help="flintstream, or PyFlink's execution mode: thread or process")
    parser.add_argument("--parallelism", type=int, default=2)
    options = parser.parse_args()
    # Windows of processing time that are still open at the end of a bounded stream are dropped, except in BATCH.
    runtime = "BATCH" if options.query == "q12" else "STREAMING"
    run(options, options.small, f"{options.output}/checked", runtime)
    first = time.time()
    if options.large:
        log = f"{options.output}/log" if options.query == "q10" else None
        small, large = (run(options, source, log) for source in (options.small, options.large))
        Path(options.report).write_text(json.dumps({"first": first, "small": small, "large": large}))


if __name__ == "__main__":
    main()
