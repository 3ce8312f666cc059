"""Words that this project's text does without: plainer ones say the same."""

from __future__ import annotations

import ast
import functools
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "flintstream"
SOURCES = sorted(PACKAGE.rglob("*.py"))
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
    r"(?<!-)behaviours?|colours?|favours?|honour(?:s|ed)?|neighbours?|licence|recognise[sd]?": "the American spelling",
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


IRREGULAR = re.compile(
    "begun|bound|broken|built|chosen|dealt|drawn|driven|felt|found|frozen|given|heard|held|hidden|kept|known|left|lost|"
    "made|meant|named|paid|sent|shown|shut|sold|sought|spent|spoken|struck|taken|taught|thawed|told|torn|understood|"
    "unread|woken|written"
)
"""Past participles that do not end in -ed. ``read`` is a verb as well."""
VERBS = frozenset({"embed", "exceed", "feed", "need", "proceed", "seed", "shed", "speed"})
CHANGED_COPIES = frozenset({"__copied__"})
"""Functions that return a changed copy of their argument, as ``sorted`` does."""
OF_PYFLINK = frozenset({"cancelled", "completed", "done", "computed", "fixed", "used"})
IN_PICKLES = frozenset({"_cached", "_unpickled"})
"""Functions that state of earlier releases names."""
IN_TABLE = 16
"""Functions of ``table`` named by a participle. Lower the number when there are fewer."""


def names_by_participle(tree):
    """Yield the functions of a module that are named by a bare participle. A property may be one, as it is a state."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            word = node.name.strip("_")
            ends = word.endswith("ed") and word not in VERBS
            if (
                (ends or IRREGULAR.fullmatch(word))
                and "_" not in word
                and not any(map(is_property, node.decorator_list))
            ):
                yield node.name


def is_property(decorator):
    return isinstance(decorator, ast.Name) and decorator.id in {"property", "cached_property"}


def is_each(node):
    return (isinstance(node, ast.Name) and node.id == "each" and isinstance(node.ctx, ast.Store)) or (
        isinstance(node, ast.arg) and node.arg == "each"
    )


@functools.cache
def tree_of(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def functions_by_participle(*, table):
    allowed = CHANGED_COPIES | OF_PYFLINK | IN_PICKLES
    paths = [path for path in SOURCES if (path.parts[len(PACKAGE.parts)] == "table") is table]
    return [f"{path}: {name}" for path in paths for name in names_by_participle(tree_of(path)) if name not in allowed]


@pytest.mark.parametrize("name", ["found", "_checked", "told", "parsed"])
def test_a_participle_is_found(name):
    assert list(names_by_participle(ast.parse(f"def {name}(): ..."))) == [name]


@pytest.mark.parametrize("code", ["def read(): ...", "def feed(): ...", "@property\ndef ended(self): ..."])
def test_a_verb_or_a_state_is_not_a_participle(code):
    assert not list(names_by_participle(ast.parse(code)))


def test_functions_are_named_by_verbs():
    assert functions_by_participle(table=False) == []


def test_fewer_functions_of_table_are_named_by_participles():
    assert len(functions_by_participle(table=True)) <= IN_TABLE


def test_no_local_is_called_each():
    assert any(map(is_each, ast.walk(ast.parse("for each in (): ..."))))
    assert [str(path) for path in SOURCES if any(map(is_each, ast.walk(tree_of(path))))] == []
