"""``python -m tests.parity``: write ``docs/reference/parity.md``."""

from __future__ import annotations

from pathlib import Path

from tests.parity.parity import page

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "parity.md"

if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(f"{PAGE} is written")
