"""Words that this project's text does without: plainer ones say the same."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PLAINER = {
    r"shall": "must, or the present tense",
    r"anew": "again",
    r"whoever|whosoever": "the name of those who do it",
    r"nobody": "no process, no user, nothing",
    r"of one's own": "its own, a separate",
}
WORDS = re.compile(rf"\b({'|'.join(PLAINER)})\b", re.IGNORECASE)
TEXTS = [
    *(ROOT / "src").rglob("*.py"),
    *(path for path in (ROOT / "docs").rglob("*.md") if path.stem not in {"parity", "compatibility"}),
    *ROOT.glob("*.md"),
]


@pytest.mark.parametrize("text", ["A reader shall see it.", "Nobody reads it.", "whoever asks"])
def test_the_words_are_found(text):
    assert WORDS.search(text)


def test_texts_are_plain():
    assert len(TEXTS) > 400
    found = [
        f"{path.relative_to(ROOT)}:{number}: {match[1]}"
        for path in TEXTS
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        for match in WORDS.finditer(line)
    ]
    assert found == []
