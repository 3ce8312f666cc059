from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import flintstream

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")


def test_the_first_program_of_the_readme_prints_what_the_readme_says(tmp_path):
    program = re.search(r"```python\n(.*?)```", README, re.DOTALL)
    session = re.search(r"```console\n\$ flintstream run -p 1 count_words.py\n(.*?)```", README, re.DOTALL)
    assert program is not None
    assert session is not None
    (tmp_path / "count_words.py").write_text(program[1], encoding="utf-8")
    command = [sys.executable, "-m", "flintstream.cli", "run", "-p", "1", "-D", "flintstream.engine=inline"]
    done = subprocess.run(  # noqa: S603 - our own program
        [*command, "count_words.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(flintstream.__file__).parents[1])},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == session[1]
