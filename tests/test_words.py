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
    r"thus|hence|thereby": "so",
    r"furthermore|moreover": "also, or a new sentence",
    r"utili[sz]e[sd]?|leverages?": "use",
    r"in order to": "to",
    r"prior to": "before",
    r"upon": "on, when",
    r"via": "through, by, with",
    r"outside of|inside of": "outside, inside",
    r"belongs? into": "belongs in",
    r"some hundred|some thousand": "a few hundred, a few thousand",
    r"allows to|enables to|permits to": "lets somebody do it",
    r"e\.g|i\.e": "for example, that is",
    r"and/or": "or, or both",
    r"respectively": "a second sentence",
    r"whilst|amongst": "while, among",
    r"simply|obviously|easily|of course": "nothing: the reader may not find it so",
    r"endless": "unbounded",
    r"(?<!there )(?:is|are) no(?! longer| faster| more\b)": "is not a, are not",
    r"goes on(?! and on)": "continues, keeps running",
    r"meanwhile": "until then, during, since",
    r"by itself": "alone, automatically",
    r"mends?|mended": "fix",
    r"of theirs": "their",
    r"(?:is|are|was|were) told|says so": "who reports what to whom",
    r"without a word": "without an error message",
    r"for ever": "forever, no limit",
    r"within each other": "nested",
    r"taken back": "retracted",
    r"the plan before": "the previous plan",
    r"makes? no sense": "is invalid",
    r"whole tracebacks?": "full traceback",
    r"beneath": "below",
    r"towards": "toward",
    r"misspelt": "misspelled",
    r"behaviours?|colours?|favours?|honour(?:s|ed)?|neighbours?|licence|recognise[sd]?": "the American spelling",
}
WORDS = re.compile(rf"\b({'|'.join(PLAINER)})\b", re.IGNORECASE)
TEXTS = [
    *(ROOT / "src").rglob("*.py"),
    *(path for path in (ROOT / "docs").rglob("*.md") if path.stem not in {"parity", "compatibility"}),
    *ROOT.glob("*.md"),
]


@pytest.mark.parametrize(
    "text", ["A reader shall see it.", "whoever asks", "some, e.g. two", "It is no key", "A log says so"]
)
def test_the_words_are_found(text):
    assert WORDS.search(text)


@pytest.mark.parametrize("text", ["there is no key", "It is no longer a key", "There are no keys"])
def test_what_engineers_say_is_allowed(text):
    assert not WORDS.search(text)


def test_texts_are_plain():
    assert len(TEXTS) > 400
    found = [
        f"{path.relative_to(ROOT)}:{number}: {match[1]}"
        for path in TEXTS
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        for match in WORDS.finditer(line)
    ]
    assert found == []
