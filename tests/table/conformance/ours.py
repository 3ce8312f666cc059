# mypy: disable-error-code="import-not-found,import-untyped"
"""Run the cases on flintstream.

python -m tests.table.conformance.ours NAME ...        # print what differs, on the inline engine
python -m tests.table.conformance.ours --spark         # on Spark, whose session all cases share: 5 minutes
python -m tests.table.conformance.ours --write         # and bring open.txt up to date; reasons stay
"""

from __future__ import annotations

import contextlib
import io
import sys
from typing import Any

from tests.conformance import ours
from tests.conformance.harness import Run
from tests.table.conformance import harness


class Flintstream(harness.Side):
    """flintstream, under the name of PyFlink."""

    def __init__(self, engine: str) -> None:
        self.engine = engine

    def make(self, mode: str, config: dict[str, str], *, python: bool) -> tuple[Any, Any]:
        from pyflink.table import EnvironmentSettings, StreamTableEnvironment

        env = ours.make_environment(self.engine, Run(mode, 1), config)  # type: ignore[arg-type]
        builder = EnvironmentSettings.new_instance()
        settings = (builder.in_batch_mode() if mode == "BATCH" else builder.in_streaming_mode()).build()
        return env, StreamTableEnvironment.create(env, settings)

    def printed(self, result: Any) -> str:
        text = io.StringIO()
        with contextlib.redirect_stdout(text):
            result.print()
        return text.getvalue()


def main() -> None:
    """Print what differs; see the module."""
    names = [argument for argument in sys.argv[1:] if not argument.startswith("-")]
    side = Flintstream("spark" if "--spark" in sys.argv else "inline")
    reasons, lines = harness.load_open(), []
    with ours.alias():
        for case in harness.load_cases().values():
            for mode in case.modes:
                known = reasons.get((case.name, mode), {})
                if names and case.name not in names:
                    differing = dict.fromkeys(known, "")
                elif not harness.is_recorded(case.name, mode):
                    continue
                else:
                    differing = harness.found(case, mode, side)
                    print(f"{case.name} {mode}: {len(differing)} differ")
                for where, text in differing.items():
                    if text:
                        print(f"  {where}\n     {text}")
                    reason = known.get(where, known.get("*", "not there yet"))
                    lines.append("\t".join((str(case.level), case.name, mode, where, reason)))
    if "--write" in sys.argv:
        head = [line for line in harness.OPEN.read_text(encoding="utf-8").splitlines() if line.startswith("#")]
        harness.OPEN.write_text("\n".join([*head, *lines]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
