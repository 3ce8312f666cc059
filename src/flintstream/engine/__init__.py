"""Engines, which run the supersteps of an epoch."""

from __future__ import annotations

TYPE_CHECKING = False  # as below, typing takes its time to import
if TYPE_CHECKING:
    from collections.abc import Mapping

    from flintstream.coordinator.engine import Engine


def create_engine(name: str, configuration: Mapping[str, str]) -> Engine:
    """Create the engine ``name``: "spark", the default, or "inline", for tests.

    Raises:
        FlintstreamError: The engine does not exist.
    """
    # Spark's daemon imports this package before it finds the process that has imported the others.
    from flintstream.errors import FlintstreamError
    from flintstream.options.execution import (
        ENGINE,
        PYTHON_ARCHIVES,
        PYTHON_EXECUTABLE,
        PYTHON_REQUIREMENTS,
    )

    if name == "inline":
        from flintstream.engine.inline.engine import InlineEngine

        for option in (PYTHON_ARCHIVES, PYTHON_REQUIREMENTS, PYTHON_EXECUTABLE):
            value = option.read(configuration)
            if value and not (option is PYTHON_EXECUTABLE and _is_this_python(value)):
                raise FlintstreamError(
                    f"'{option.key}' needs separate worker processes, which the inline engine does not have"
                )
        return InlineEngine()
    if name == "spark":
        from flintstream.engine.choice import create_spark_engine

        return create_spark_engine(configuration)
    raise FlintstreamError(f"unknown engine '{name}': set '{ENGINE.key}' to 'spark' or 'inline'")


def default_parallelism(name: str, configuration: Mapping[str, str], *, start: bool) -> int | None:
    """Return the parallelism of a job that sets none; None means the number of processors of this machine.

    If ``start`` is False, no cluster is started to find out.
    """
    if name != "spark":
        return None
    from flintstream.engine.choice import spark_parallelism

    return spark_parallelism(configuration, start=start)


def _is_this_python(executable: str) -> bool:
    import shutil
    import sys
    from pathlib import Path

    found = shutil.which(executable)
    return found is not None and Path(found).samefile(sys.executable)
