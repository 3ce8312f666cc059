"""``python -m tests.versions.bounds``: print the lowest version of each package that users may have, as a pin.

pip takes the newest of what ``pyproject.toml`` allows. With these lines as constraints, it takes the oldest. The
extra ``dev`` is left out: its tools also limit one another.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

PROJECT = Path(__file__).parents[2] / "pyproject.toml"
REQUIREMENT = re.compile(r'"([A-Za-z][\w.-]*)(?:\[[\w,]+\])?(?:>=|==)([\w.]+)[^"]*"')


def lowest(project: str) -> dict[str, str]:
    """Return the packages that a project or its extras need, each with its lowest version.

    >>> lowest('dependencies = ["click>=8.1", "pyspark>=3.5.2,<4.4"] # text' + chr(10) + 'dev = ["mypy>=1"]')
    {'click': '8.1', 'pyspark': '3.5.2'}
    """
    tables = re.search(r"^dependencies = .*?(?=^dev = )", project, re.MULTILINE | re.DOTALL)
    found: dict[str, str] = {}
    for name, version in REQUIREMENT.findall(tables[0] if tables else ""):
        found[name] = max(found.get(name, "0"), version, key=_parts)
    return found


def _parts(version: str) -> list[int]:
    return [int(part) for part in version.split(".")]


def main() -> int:
    """Print the pins."""
    for name, version in sorted(lowest(PROJECT.read_text(encoding="utf-8")).items()):
        print(f"{name}=={version}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
