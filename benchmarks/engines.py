"""The engines that workloads run on: their commands and requirements."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchmarks.workload import Run

BENCHMARKS = Path(__file__).parent
REPOSITORY = BENCHMARKS.parent
RUNNERS = BENCHMARKS / "runners"
REQUIREMENTS = {
    "flink": ["apache-flink==2.3.0"],
    "bytewax": ["bytewax==0.21.1"],
    "spark": ["pyspark==4.3.0", "pandas", "pyarrow", "protobuf"],
    "pathway": ["pathway==0.33.0"],
    "quix": ["quixstreams==3.28.1"],
    "daft": ["daft==0.7.26", "polars==2.1.0", "pandas", "pyarrow", "vaderSentiment==3.3.2"],
}
"""Packages for the virtual environment of each; the first is the engine itself."""


@dataclass(frozen=True)
class Engine:
    """One way to run workloads."""

    name: str
    title: str
    module: str
    """The module of a workload's package that this engine runs; workloads without it are left out."""
    first: int
    """The number of records to start with."""
    environment: str | None = None
    """The key of REQUIREMENTS that it needs; None: this interpreter."""
    mode: str = ""
    runner: str = ""
    master: str = "local[2]"
    """Where flintstream runs jobs."""

    def runs(self, package: str) -> bool:
        """Whether the workloads of a package have a module for this engine."""
        return (BENCHMARKS / "workloads" / package / f"{self.module}.py").exists()

    def command(self, python: str, run: Run, runners: Path = RUNNERS) -> list[str]:
        """Return the command line of a run; ``runners`` has the scripts."""
        start = ["-m", "flintstream.cli", "run", "--master", self.master] if self.mode == "flintstream" else []
        script = str(runners / f"run_{self.runner or self.module}.py")
        return [python, *start, script, *([self.mode] if self.mode else []), run.to_json()]

    def variables(self, python: str) -> dict[str, str]:
        """Return the environment variables of a run."""
        path = [str(REPOSITORY), *([str(REPOSITORY / "src")] if self.environment is None else [])]
        return {
            **os.environ,
            "PATH": f"{Path(python).parent}{os.pathsep}{os.environ['PATH']}",  # PyFlink starts "python"
            "PYTHONPATH": os.pathsep.join(path),
        }


ENGINES = {
    engine.name: engine
    for engine in (
        Engine("bare", "bare Python, 2 processes, no exchange", "bare", 1_000_000),
        Engine("flintstream", "flintstream", "pyflink", 1_000_000, mode="flintstream"),
        Engine("bytewax", "Bytewax, 2 processes", "bytewax", 300_000, "bytewax"),
        Engine("spark", "PySpark transformWithState", "spark", 20_000, "spark", "spark"),
        Engine(
            "spark-pandas", "PySpark applyInPandasWithState", "spark_pandas", 100_000, "spark", "spark_pandas", "spark"
        ),
        Engine("flink-thread", "PyFlink, thread mode", "pyflink", 30_000, "flink", "thread"),
        Engine("flink-process", "PyFlink, process mode", "pyflink", 6_000, "flink", "process"),
        Engine("pathway", "Pathway, 2 threads", "pathway", 100_000, "pathway"),
        Engine("quix", "Quix Streams, 2 processes", "quix", 20_000, "quix", "grouped"),
        Engine("daft", "Daft", "daft", 100_000, "daft"),
        Engine("quix-local", "Quix Streams, 2 processes, no exchange", "quix", 20_000, "quix", "local"),
    )
}


def python_of(engine: Engine, given: Mapping[str, str | None], venvs: Path) -> str:
    """Return the interpreter of an engine: the given one, or that of a virtual environment, created if necessary.

    Raises:
        subprocess.CalledProcessError: The environment cannot be created.
    """
    if engine.environment is None:
        return sys.executable
    interpreter = given.get(engine.environment)
    if interpreter:
        return str(Path(interpreter).absolute())
    directory = (venvs / engine.environment).absolute()  # it runs from another directory
    python = directory / "bin" / "python"
    if not (directory / ".ready").exists():
        print(f"creating {directory} ...", file=sys.stderr, flush=True)
        venv.create(directory, with_pip=True, clear=True)
        install = [str(python), "-m", "pip", "install", "--quiet", "setuptools<81", *REQUIREMENTS[engine.environment]]
        subprocess.run(install, check=True)  # noqa: S603 - a fixed list
        (directory / ".ready").touch()
    return str(python)
