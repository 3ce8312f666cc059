"""What leaves a process is JSON for every reader, whatever a program has put into it."""

from __future__ import annotations

import ast
import enum
import math
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.strict import read_strictly

from flintstream.common._text.strict_json import json_text

SOURCE = Path(__file__).parents[2] / "src" / "flintstream"

SENDERS = ("cli", "coordinator", "graph", "metrics", "reporters", "rest")
"""The packages whose JSON others read."""

OWN_PROCESSES = {"cli/handing_over.py"}
"""This one sends arguments and the environment to processes of flintstream, which must get every byte of them."""

AS_TEXT = {"cli/printable.py", "coordinator/checkpointing/recovery.py"}
"""These escape a text, and search for one in a file; they send nothing."""


def _refuse(*_: object) -> Any:
    raise RuntimeError("no")


refuse: Any = _refuse


class Hostile:
    __repr__ = __str__ = refuse


class HostileText(str):
    __slots__ = ()
    __str__ = __repr__ = encode = isascii = __len__ = refuse


class HostileNumber(int):
    __str__ = __repr__ = __index__ = __int__ = __float__ = bit_length = __lt__ = __gt__ = refuse


class HostileFloat(float):
    __str__ = __repr__ = __float__ = __sub__ = refuse


class HostileDict(dict):
    items = keys = values = __iter__ = __len__ = refuse


class HostileList(list):
    __iter__ = __len__ = __getitem__ = copy = refuse


class OfAnotherKind:
    __class__: Any = property(refuse)


class Colour(enum.Enum):
    RED = 1


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("half of a pair: \ud83d", '"half of a pair: \\ufffd"'),
        ("a pair: 😀", '"a pair: \\ud83d\\ude00"'),
        ({"\udcff": 1}, '{"\\ufffd": 1}'),
        ([math.nan, math.inf, -math.inf, 0.5], "[null, null, null, 0.5]"),
        ([2**63 - 1, -(2**63), 10**19 - 1], "[9223372036854775807, -9223372036854775808, 9999999999999999999]"),
        ([10**19, -(10**19)], '["10000000000000000000", "-10000000000000000000"]'),
        (10**5000, f'"{hex(10**5000)}"'),
        (2**100_000, '"an integer of 100,001 bits"'),
        (b"bytes", "\"b'bytes'\""),
        (Colour.RED, '"<Colour.RED: 1>"'),
        (Hostile(), '"<Hostile, whose __repr__ raises RuntimeError>"'),
        ({HostileText("a"): HostileText("b\ud800")}, '{"a": "b\\ufffd"}'),
        ([HostileNumber(5), HostileNumber(10**20)], '[5, "100000000000000000000"]'),
        ([HostileFloat(0.5), HostileFloat(math.nan)], "[0.5, null]"),
        (HostileDict(a=math.nan), '{"a": null}'),
        (HostileList([math.nan]), "[null]"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_every_value_has_a_form(value, text):
    written = json_text(value)
    read_strictly(written)
    assert written == text


def test_keys_of_every_type_become_texts():
    told = {None: 1, True: 2, 3: 4, 0.5: 5, math.nan: 6, (1,): 7, 10**30: 8}
    texts = ["null", "true", "3", "0.5", "nan", "(1,)", str(10**30)]
    assert read_strictly(json_text(told)) == dict(zip(texts, told.values(), strict=True))


def test_an_object_that_hides_its_class_is_a_text():
    assert "OfAnotherKind" in read_strictly(json_text([OfAnotherKind(), math.nan]))[0]


def test_what_refers_to_itself_and_what_is_nested_too_deeply_ends():
    circle: list[object] = []
    circle.append(circle)
    assert len(json_text(circle)) < 5000
    deep: object = math.nan
    for _ in range(100_000):
        deep = [deep]
    assert json_text(deep).startswith("[" * 100 + '"')


@pytest.fixture(params=[0, 640, 4300])
def digits(request):
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(request.param)
    yield
    sys.set_int_max_str_digits(before)


@pytest.mark.usefixtures("digits")
def test_the_limit_of_python_for_digits_does_not_matter():
    values = [10**n for n in (18, 19, 400, 639, 640, 4300, 5000, 30_000)]
    assert len(read_strictly(json_text(values))) == len(values)


def test_another_thread_may_change_what_is_written():
    class Changing(dict):
        def items(self):
            raise RuntimeError("dictionary changed size during iteration")

    assert read_strictly(json_text(Changing(a=1))) == {"a": 1}


LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(-(10**700), 10**700)
    | st.integers(0, 40_000).map(lambda bits: 1 << bits)
    | st.floats()
    | st.text(st.characters())  # with halves of surrogate pairs
    | st.binary()
    | st.complex_numbers()
    | st.builds(Hostile)
    | st.sampled_from(["\ud800", "x"]).map(HostileText)
    | st.sampled_from([Colour.RED, object, ...])
)
KEYS = st.text(st.characters()) | st.integers() | st.floats() | st.booleans() | st.none() | st.tuples(st.integers())
VALUES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner) | st.lists(inner).map(tuple) | st.dictionaries(KEYS, inner) | st.frozensets(st.integers())
    ),
)


def names_differ(value):
    """Whether no two keys of a dict have the same text, of which readers keep the last."""
    if isinstance(value, dict):
        texts = {str(read_strictly(json_text({key: 0})).popitem()[0]) for key in value}
        return len(texts) == len(value) and all(map(names_differ, value.values()))
    return all(map(names_differ, value)) if isinstance(value, (list, tuple)) else True


@pytest.mark.promise("S33")
@given(VALUES.filter(names_differ), st.sampled_from([None, 2]), st.booleans())
def test_any_value_is_written_so_that_a_strict_reader_takes_it(value, indent, ascii_only):
    text = json_text(value, indent=indent, ascii_only=ascii_only)
    read_strictly(text.encode())
    assert text.isascii() or not ascii_only


PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**19) + 1, 10**19 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=5), inner)
    ),
)


@given(PLAIN)
def test_what_json_has_a_form_for_is_read_as_it_was(value):
    assert read_strictly(json_text(value)) == value


def writers(path):
    """Yield the lines that write JSON in another way."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Attribute) and ast.unparse(node) in {"json.dumps", "json.dump", "json.JSONEncoder"}:
            yield node.lineno
        if isinstance(node, ast.ImportFrom) and node.module == "json":
            yield node.lineno
        if isinstance(node, ast.Name) and node.id == "JSONResponse":
            yield node.lineno


@pytest.mark.promise("S33")
def test_one_function_writes_all_json_that_leaves_a_process():
    others = [
        f"{name}:{line}"
        for package in SENDERS
        for path in sorted((SOURCE / package).rglob("*.py"))
        if (name := path.relative_to(SOURCE).as_posix()) not in OWN_PROCESSES | AS_TEXT
        for line in writers(path)
    ]
    assert others == []


def test_another_writer_of_json_would_be_noticed(tmp_path):
    path = tmp_path / "writer.py"
    path.write_text("import json\nfrom json import dumps\nx = json.dumps(1)\njson.dump(1, x)\ny = JSONResponse(1)\n")
    assert sorted(writers(path)) == [2, 3, 4, 5]
    assert all(list(writers(SOURCE / name)) for name in OWN_PROCESSES | AS_TEXT)
