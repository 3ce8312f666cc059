"""One query as a job: runs on PyFlink and, unchanged, on flintstream.

    python job.py QUERY --input DIRECTORY [--output DIRECTORY] [--mode thread]

Without an output the results are thrown away when they have been computed. Query 10 always writes files, as that is
what it is about.
"""

# ruff: noqa: ANN001, ANN201, D103 - as a user of that engine would write it

import argparse
import json
import sys

from pyflink.common import Configuration, Encoder, Types
from pyflink.datastream import RuntimeExecutionMode, StreamExecutionEnvironment
from pyflink.datastream.connectors.file_system import BucketAssigner, FileSink

from benchmarks.nexmark.queries import QUERIES
from benchmarks.nexmark.streams import read


def write(stream, directory):
    """Write tuples into files, as lines of JSON."""
    sink = FileSink.for_row_format(directory, Encoder.simple_string_encoder())
    sink = sink.with_bucket_assigner(BucketAssigner.base_path_bucket_assigner()).build()
    stream.map(json.dumps, output_type=Types.STRING()).sink_to(sink)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("query", choices=QUERIES)
    parser.add_argument("--input", required=True, help="where events.write has written")
    parser.add_argument("--output")
    parser.add_argument("--mode", default="thread", help="flintstream, or PyFlink's execution mode: thread or process")
    parser.add_argument("--runtime", default="STREAMING", help="STREAMING or BATCH")
    parser.add_argument("--parallelism", type=int, default=2)
    options = parser.parse_args()
    configuration = Configuration()
    if options.mode != "flintstream":
        configuration.set_string("python.execution-mode", options.mode)
        configuration.set_string("python.executable", sys.executable)
        configuration.set_string("python.client.executable", sys.executable)
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_parallelism(options.parallelism)
    env.set_runtime_mode(RuntimeExecutionMode[options.runtime])
    results = QUERIES[options.query](read(env, options.input))
    if options.output:
        write(results, options.output)
    else:
        results.filter(lambda _: False).print()
    env.execute(f"Nexmark {options.query}")


if __name__ == "__main__":
    main()
