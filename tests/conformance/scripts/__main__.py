"""Record the script's results on real PyFlink: ``PYTHON -m tests.conformance.scripts``; PYTHON has PyFlink."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent

if __name__ == "__main__":
    directory = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    recorded: dict[str, dict[str, object]] = {}
    for mode in ("process", "thread"):
        command = [sys.executable, "references.py", mode]
        environment = {**os.environ, "PATH": directory, "EACH": "1"}
        done = subprocess.run(command, cwd=HERE, env=environment, stdout=subprocess.PIPE, text=True, check=True)
        recorded[mode] = {}
        for line in done.stdout.splitlines():
            name, _, told = line.partition(" ")
            recorded[mode][name] = json.loads(re.sub(r" at 0x[0-9a-f]+", "", told))
    text = json.dumps(recorded, indent=1, sort_keys=True)
    (HERE / "references.json").write_text(text + "\n", encoding="utf-8")
