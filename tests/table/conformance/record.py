# mypy: disable-error-code="import-not-found,import-untyped"
"""Run the cases on real PyFlink, and record the results.

    python -m tests.table.conformance.record                # everything
    python -m tests.table.conformance.record NAME ...       # some cases
    python -m tests.table.conformance.record --missing      # what is not recorded yet
    python -m tests.table.conformance.record --verify       # compare with what is recorded, write nothing

One process runs all cases, each in an environment of its own. If PyFlink is not importable, the Python of a virtual
environment is used: --venv, or FLINTSTREAM_ORACLE, or .oracle-venv, which is created if it does not exist.
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.conformance.record import ROOT, VERSION, python_with_pyflink
from tests.table.conformance import harness

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.table.conformance.registry import Case


def main(arguments: Sequence[str] | None = None) -> int:
    """Record; the exit status is 1 if something could not be recorded or verified."""
    parser = argparse.ArgumentParser(description="Record what real PyFlink gives for the cases of tables.")
    parser.add_argument("names", nargs="*", help="the cases to run; without any, all")
    parser.add_argument("--missing", action="store_true", help="only cases that are not recorded yet")
    parser.add_argument("--verify", action="store_true", help="compare with what is recorded and write nothing")
    default = Path(os.environ.get("FLINTSTREAM_ORACLE", ROOT / ".oracle-venv"))
    parser.add_argument("--venv", type=Path, default=default, help="the virtual environment with PyFlink")
    options = parser.parse_args(arguments)
    if find_spec("pyflink") is None:
        again = sys.argv[1:] if arguments is None else list(arguments)
        command = [str(python_with_pyflink(options.venv)), "-m", "tests.table.conformance.record", *again]
        return subprocess.run(command, cwd=ROOT, check=False).returncode  # noqa: S603

    # The workers of PyFlink are started as `python`.
    os.environ["PATH"] = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", "")))
    failed = 0
    known = harness.load_cases()
    cases = [known[name] for name in options.names] if options.names else list(known.values())
    for mode in ("STREAMING", "BATCH"):
        for case in cases:
            if mode in case.modes and not (options.missing and mode in recorded(case)):
                failed += not record(case, mode, verify=options.verify)
    return 1 if failed else 0


def recorded(case: Case) -> dict[str, Any]:
    """Return the results of a case by mode."""
    path = harness.golden_path(case.name)
    runs: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))["runs"] if path.exists() else {}
    return runs


def record(case: Case, mode: str, *, verify: bool) -> bool:
    """Run a case in one mode; return whether it could be recorded or verified."""
    start = time.monotonic()
    try:
        results = harness.run_case(case, mode, PyFlink())
    except Exception as error:  # noqa: BLE001 - the other cases must run after any error
        say(f"FAILED {case.name} {mode}: {harness.essence(error)}")
        return False
    errors = json.dumps(results).count('"error": ')
    say(f"{case.name} {mode}: {time.monotonic() - start:.1f} s, {errors} errors")
    if verify:
        differing = harness.differences(case, harness.load_golden(case.name, mode), results)
        for where, difference in differing.items():
            say(f"DIFFERS {case.name} {mode} {where}\n     {difference}")
        return not differing
    runs = {**recorded(case), mode: results}
    content = {
        "case": case.name,
        "flink": VERSION,
        "level": case.level,
        "order": case.order,
        "runs": {item: runs[item] for item in case.modes if item in runs},
    }
    harness.golden_path(case.name).write_text(compact(content) + "\n", encoding="utf-8")
    return True


def compact(content: Any, depth: int = 0) -> str:
    """Return JSON with a line for each result, and not for each number."""
    line = json.dumps(content, ensure_ascii=False)
    if len(line) + depth <= 120 or not isinstance(content, (dict, list)) or not content:
        return line
    indent = " " * (depth + 1)
    if isinstance(content, dict):
        parts = [
            f"{indent}{json.dumps(key, ensure_ascii=False)}: {compact(value, depth + 1)}"
            for key, value in content.items()
        ]
        return "{\n" + ",\n".join(parts) + "\n" + " " * depth + "}"
    parts = [compact(item, depth + 1) for item in content]
    lines = [parts[0]]
    for part in parts[1:]:
        # Short values share a line; what takes several lines begins one.
        together = f"{lines[-1]}, {part}"
        if len(together) + depth < 120 and "\n" not in together and len(part) < 40:
            lines[-1] = together
        else:
            lines.append(part)
    return "[\n" + ",\n".join(indent + line for line in lines) + "\n" + " " * depth + "]"


class PyFlink(harness.Side):
    """Real PyFlink."""

    def make(self, mode: str, config: dict[str, str], *, python: bool) -> tuple[Any, Any]:
        """Return new environments of streams and tables; without Python functions, jobs share one cluster."""
        from pyflink.common import Configuration
        from pyflink.datastream import RuntimeExecutionMode, StreamExecutionEnvironment
        from pyflink.table import EnvironmentSettings, StreamTableEnvironment

        configuration = Configuration()
        configuration.set_string("restart-strategy.type", "none")
        for key, value in (config if python else {**config, **cluster()}).items():
            configuration.set_string(key, value)
        env = StreamExecutionEnvironment.get_execution_environment(configuration)
        env.set_runtime_mode(RuntimeExecutionMode[mode])
        env.set_parallelism(1)
        builder = EnvironmentSettings.new_instance().with_configuration(configuration)
        settings = (builder.in_batch_mode() if mode == "BATCH" else builder.in_streaming_mode()).build()
        return env, StreamTableEnvironment.create(env, settings)

    def printed(self, result: Any) -> str:
        """Return what ``print()`` writes, which is the JVM's."""
        from pyflink.java_gateway import get_gateway

        jvm = get_gateway().jvm
        buffer = jvm.java.io.ByteArrayOutputStream()
        before = getattr(jvm.java.lang.System, "out")  # noqa: B009 - a static field of Java
        jvm.java.lang.System.setOut(jvm.java.io.PrintStream(buffer, True, "UTF-8"))
        try:
            result.print()
        finally:
            jvm.java.lang.System.setOut(before)
        return str(buffer.toString("UTF-8"))


@functools.cache
def cluster() -> dict[str, str]:
    """Start a cluster in this process, and return the options that send jobs to it.

    Without it each job starts one, which takes most of its time.
    """
    from pyflink.java_gateway import get_gateway

    jvm = get_gateway().jvm
    settings = jvm.org.apache.flink.configuration.Configuration()
    settings.setString("rest.port", "0")
    settings.setString("rest.bind-address", "127.0.0.1")
    settings.setString("rest.address", "127.0.0.1")
    package = jvm.org.apache.flink.runtime.minicluster
    builder = package.MiniClusterConfiguration.Builder().setConfiguration(settings)
    mini = package.MiniCluster(builder.setNumTaskManagers(1).setNumSlotsPerTaskManager(16).build())
    mini.start()
    address = mini.getRestAddress().get()
    return {"execution.target": "remote", "rest.address": str(address.getHost()), "rest.port": str(address.getPort())}


def say(line: str) -> None:
    """Print progress; PyFlink turns the logging of the process off."""
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
