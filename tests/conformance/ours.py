"""Run the programs on flintstream."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from tests.conformance.registry import Collected

from flintstream.common import Configuration
from flintstream.compat import pyflink
from flintstream.datastream import RuntimeExecutionMode, StreamExecutionEnvironment
from flintstream.testing import CollectSink, _collected

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    from tests.conformance.harness import Form, Run
    from tests.conformance.registry import Program

ENGINES = ("inline", "spark")

UNDISTURBED = {"pipeline.auto-watermark-interval": "60 s"}
"""PyFlink read these few records in less than its 200 ms. A busy machine may stop in the middle."""


@contextmanager
def alias() -> Iterator[None]:
    """Serve ``import pyflink`` from flintstream inside the block."""
    was_installed = pyflink.is_installed()
    pyflink.install()
    try:
        yield
    finally:
        if not was_installed:
            pyflink.uninstall()


def make_environment(engine: str, run: Run, config: Mapping[str, str] | None = None) -> StreamExecutionEnvironment:
    """Return a new environment of flintstream."""
    configuration = Configuration()
    configuration.set_string("flintstream.engine", engine)
    configuration.set_string("restart-strategy.type", "none")
    for key, value in (config or {}).items():
        configuration.set_string(key, value)
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_runtime_mode(RuntimeExecutionMode[run.mode])
    env.set_parallelism(run.parallelism)
    return env


def run_program(program: Program, run: Run, engine: str, directory: Path) -> dict[Form, list[list[str]]]:
    """Run one program and return the text and the ``repr`` of the values of every output."""
    with alias():
        env = make_environment(engine, run, {**UNDISTURBED, **program.config})
        results = program.function(env, directory) if program.directory else program.function(env)
        outputs = results if isinstance(results, list) else [results]
        collects = [collector(output) for output in outputs]
        if not all(isinstance(output, Collected) for output in outputs):
            env.execute(program.name)
        found = [collect() for collect in collects]
        return {"text": [text for text, _ in found], "values": [values for _, values in found]}


def run_together(
    programs: Iterable[Program], run: Run, engine: str, directory: Path, config: Mapping[str, str]
) -> dict[str, list[list[str]]]:
    """Run programs that can share a job as one job, and return the text of every output of each.

    Raises:
        ValueError: A program has changed the settings, which it shares with the others.
    """
    collects = {}
    with alias():
        env = make_environment(engine, run, {**UNDISTURBED, **config})
        settings = env._configuration.to_dict()
        for program in programs:
            own = directory / program.name
            own.mkdir()
            results = program.function(env, own) if program.directory else program.function(env)
            collects[program.name] = [collector(out) for out in (results if isinstance(results, list) else [results])]
            if env._configuration.to_dict() != settings:
                raise ValueError(f"{program.name} has changed the settings: give it a separate job")
        env.execute(f"{len(collects)} programs")
        return {name: [collect()[0] for collect in item] for name, item in collects.items()}


def collector(output: Any) -> Callable[[], tuple[list[str], list[str]]]:
    """Attach a collecting sink to a stream; the result returns the texts and values of its records after the run."""
    if isinstance(output, Collected):
        return lambda: (list(map(str, output.values)), list(map(repr, output.values)))
    sink = CollectSink()
    output.add_sink(sink)

    def collect() -> tuple[list[str], list[str]]:
        blocks = _collected.pop(sink._id, [])
        return (
            [text for block in blocks for text in block.texts()],
            [repr(value) for block in blocks for value in block.values],
        )

    return collect
