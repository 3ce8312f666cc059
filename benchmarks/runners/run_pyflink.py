"""Run the program of a workload on PyFlink or, with ``flintstream run``, on flintstream."""

import importlib
import sys

from pyflink.common import Configuration, Encoder
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.connectors.file_system import BucketAssigner, FileSink

from benchmarks.workload import Run


def settings(mode: str, run: Run) -> Configuration:
    """Return the configuration of the environment."""
    given = {}
    if mode != "flintstream":
        given |= {"python.execution-mode": mode}
        given |= {"python.executable": sys.executable, "python.client.executable": sys.executable}
    if run.settings.get("durable"):
        given |= {
            "execution.checkpointing.interval": "10 s",
            "execution.checkpointing.dir": f"file://{run.directory}/checkpoints",
            "state.changelog.enabled": "true",
        }
        if mode != "flintstream":
            given |= {
                "state.changelog.storage": "filesystem",
                "state.changelog.dstl.dfs.base-path": f"file://{run.directory}/changelog",
            }
    given |= run.settings.get("configuration", {})
    configuration = Configuration()
    for key, value in given.items():
        configuration.set_string(key, value)
    return configuration


def main() -> None:
    """Build the program, write its results to files, execute it."""
    mode, run = sys.argv[1], Run.from_json(sys.argv[2])
    env = StreamExecutionEnvironment.get_execution_environment(settings(mode, run))
    env.set_parallelism(2)
    program = importlib.import_module(f"benchmarks.workloads.{run.package}.pyflink")
    files = FileSink.for_row_format(run.output, Encoder.simple_string_encoder())
    results = program.build(env, run)
    results.sink_to(files.with_bucket_assigner(BucketAssigner.base_path_bucket_assigner()).build())
    env.execute(run.package)


if __name__ == "__main__":
    main()
