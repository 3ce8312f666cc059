"""The programs, in PyFlink's API, for ``flintstream run``."""

import sys
import time
from pathlib import Path

from pyflink.common import Encoder, Types
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.connectors.file_system import BucketAssigner, FileSink, RollingPolicy
from tests.connectors.guarantees.programs import SINKS, SOURCES

from benchmarks.runners.run_pyflink import settings
from benchmarks.sources import numbers
from benchmarks.systems.records import text_of
from benchmarks.workload import Run


def write(env, run, name):
    SINKS[name](numbers(env, run.records).map(text_of, output_type=Types.STRING()), run.settings)
    env.execute(run.package)


def read(env, run, name):
    files = FileSink.for_row_format(run.output, Encoder.simple_string_encoder())
    files = files.with_bucket_assigner(BucketAssigner.base_path_bucket_assigner())
    files = files.with_rolling_policy(RollingPolicy.on_checkpoint_rolling_policy()).build()
    SOURCES[name](env, run.settings).sink_to(files)
    wanted = sum(len(text_of(number)) + 1 for number in range(run.records))
    client = env.execute_async(run.package)
    while committed(run) < wanted:  # most of these sources have no end
        if client.get_job_status().result().is_globally_terminal_state():
            break
        time.sleep(0.02)
    else:
        client.cancel().result()


def committed(run):
    """Return the size of all visible files."""
    return sum(path.stat().st_size for path in Path(run.output).glob("[!._]*"))


def main() -> None:
    """Build the program and run it."""
    mode, run = sys.argv[1], Run.from_json(sys.argv[2])
    env = StreamExecutionEnvironment.get_execution_environment(settings(mode, run))
    env.set_parallelism(2)
    name, way = run.package.split("-")
    {"write": write, "read": read}[way](env, run, name)


if __name__ == "__main__":
    main()
