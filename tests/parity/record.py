"""Record the attributes of PyFlink's objects: ``PYTHON -m tests.parity.record``, where PYTHON has PyFlink."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
RECORDED = HERE / "handed_out.json"
MODES = ("process", "thread")


def merged(seen: dict[str, dict[str, dict[str, str]]]) -> dict[str, dict[str, str]]:
    """Return the attributes of each object in any mode: ``method`` or ``value``, and the mode if only one has it."""
    names = sorted({name for objects in seen.values() for name in objects})
    found: dict[str, dict[str, str]] = {}
    for name in names:
        modes = [mode for mode in MODES if name in seen[mode]]
        attributes = {attribute: kind for mode in modes for attribute, kind in seen[mode][name].items()}
        found[name] = {}
        for attribute, kind in sorted(attributes.items()):
            having = [mode for mode in modes if attribute in seen[mode][name]]
            found[name][attribute] = kind if having == modes else f"{kind}, {having[0]} mode"
    return found


def main() -> None:
    """Record."""
    # The workers of PyFlink are started as `python`.
    environment = {**os.environ, "PATH": os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))}
    seen = {}
    for mode in MODES:
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory, "seen.json")
            command = [sys.executable, str(HERE / "handed_out.py"), mode, str(path)]
            subprocess.run(command, check=True, env=environment)  # noqa: S603 - ours
            seen[mode] = json.loads(path.read_text(encoding="utf-8"))
    RECORDED.write_text(json.dumps(merged(seen), indent=1) + "\n", encoding="utf-8")
    print(f"{RECORDED} is written")


if __name__ == "__main__":
    main()
