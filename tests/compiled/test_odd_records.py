"""Whatever records and times there are, the compiled loops do what the Python code does in a process without them."""

from __future__ import annotations

import pickle
import random
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.compiled.scenarios import FOLDS, SCENARIOS, Folding, Level, Pair, Quarrelsome, Text, Undecided, Whole
from tests.state.test_appends import KINDS

from flintstream.common import Row
from flintstream.compiled import load

if load("exchange") is None:
    pytest.skip("there are no compiled modules here", allow_module_level=True)

LONG = 2**63


def check(in_python, name, *arguments):
    expected = in_python(name, arguments)
    found = SCENARIOS[name](*pickle.loads(pickle.dumps(arguments)))
    for ours, theirs in zip(found, expected, strict=True):
        assert ours == theirs


ODD = [
    None, True, False, 0, 1, -1, 2**31, LONG - 1, LONG, -LONG, -LONG - 1, 2**61 - 1, 2**61 - 2, 2**64, 10**40, 0.0,
    -0.0, 1.0, float("nan"), float("inf"), 2.0**63, 1e308, "", "a", "1", "ü", "\ud800", "a\x00b", "\U0001f600",
    "x" * 300, b"", b"a", Level.LOW, Level.HIGH, Text("a"), Whole(1), Whole(2**70), Pair(1, "a"), Pair("a", 1), (),
    (1,), (1, 2.0), (None,), ((1,), "a"), np.int64(1), np.float64(1.5), np.float64("nan"), np.bool_(True), np.str_("a"),
    np.int8(-1), Decimal(1), Decimal("NaN"), complex(1), Quarrelsome(), frozenset([1]), Row(1, "a"), Row(a=1),
]  # fmt: skip
UNHASHABLE = [[], [1], [1, "a"], {}, {"a": [1]}, bytearray(b"a"), {1}, ([1],), np.array([1, 2]), Undecided()]
plain = st.integers(-3, 3) | st.sampled_from(["a", "b", "ü"]) | st.integers() | st.floats() | st.text(max_size=3)
hashable = plain | st.sampled_from(ODD)
anything = hashable | st.sampled_from(UNHASHABLE) | st.tuples(hashable, plain) | st.lists(plain, max_size=2)


@st.composite
def stamped(draw, records, times, *, most=8):
    """Draw a block of records with timestamps, or None for those of records without."""
    values = draw(st.lists(records, max_size=most))
    timestamps = draw(st.none() | st.lists(times, min_size=len(values), max_size=len(values)))
    return values, timestamps


times = st.integers(0, 100) | st.integers(-LONG, LONG - 1) | st.sampled_from([-LONG, LONG - 1, 2**61, -(2**61)])

actions = st.one_of(
    st.tuples(st.sampled_from(["value.update", "list.add", "reducing.add", "change", "put in a loop"]), anything),
    st.tuples(st.sampled_from(["map.get", "map.remove", "map.contains", "remove in a loop"]), anything),
    st.tuples(st.just("map.put"), anything, anything),
    st.tuples(
        st.sampled_from(
            [
                "value.value", "value.clear", "list.get", "list.clear", "reducing.get", "map.items", "map.keys",
                "map.clear", "map.is_empty", "context",
            ]
        )
    ),
    st.tuples(st.just("wait"), st.integers(0, 15)),
    st.tuples(st.just("emit"), anything, anything),
    st.tuples(st.just("fail"), plain),
)  # fmt: skip
asked = st.lists(actions, max_size=6) | anything.map(lambda result: [("return", result)])
ttls = st.none() | st.tuples(
    st.sampled_from(["OnCreateAndWrite", "OnReadAndWrite"]),
    st.sampled_from(["NeverReturnExpired", "ReturnExpiredIfNotCleanedUp"]),
)
keys = st.sampled_from(["a", "b"]) | hashable
backends = st.sampled_from(["hashmap", "hashmap", *KINDS])


@given(backends, ttls, st.lists(stamped(st.tuples(keys, asked), times), max_size=4))
@example("hashmap", None, [([("a", [("fail", "a function")])], None)])
def test_state_and_results_of_functions(in_python, kind, ttl, blocks):
    check(in_python, "state", kind, ttl, blocks)


@given(backends, st.lists(stamped(st.tuples(keys, anything) | anything, times), max_size=4))
def test_rolling_reduce(in_python, kind, blocks):
    check(in_python, "running", kind, blocks)


@st.composite
def assigners(draw):
    kind = draw(st.sampled_from(["tumbling", "sliding", "sessions"]))
    size = draw(st.integers(1, 20) | st.integers(1, LONG - 1) | st.integers(1, 2**70) | st.just(5.0))
    if kind == "sessions":
        return kind, size
    slide = size
    if kind == "sliding":
        slide = draw(st.integers(1, 5) | st.integers(1, LONG))
        size = slide * draw(st.integers(1, 3))
    offset = draw(st.just(0) | st.integers(-20, 20) | st.integers(-LONG, LONG))
    return (kind, size, offset) if kind == "tumbling" else (kind, size, slide, offset)


window_keys = st.sampled_from(["a", "b", 1, 1.0, True, float("nan"), Level.LOW, (1, "a"), Quarrelsome()])
steps = st.lists(
    stamped(st.tuples(window_keys, anything | st.integers(0, 9)), times | st.integers(0, 100), most=12) | times,
    max_size=6,
)


@given(
    backends, assigners(), st.sampled_from(["list", "reduce", "aggregate"]), st.sampled_from([0, 0, 7, LONG - 1]), steps
)
@example("hashmap", ("sessions", 5.0), "reduce", 0, [([("a", 1)], [7])])
@example("hashmap", ("tumbling", 2**70, 0), "list", 0, [([("a", 1)], [7])])
def test_windows(in_python, kind, assigner, contents, lateness, steps):
    check(in_python, "windows", kind, assigner, contents, lateness, steps)


@st.composite
def flat_blocks(draw):
    """Draw blocks whose records have fields of one kind each, and the pieces they come in."""
    near = st.integers(0, 60)
    kinds = {
        "few": st.integers(0, 3), "whole": st.integers(-LONG, LONG - 1), "real": st.floats(),
        "text": st.text(max_size=3), "odd": st.sampled_from([None, True, 1, 1.0, "a", LONG]),
    }  # fmt: skip
    key = draw(st.sampled_from(["few", "few", "few", "text", "real", "whole", "odd"]))
    value = draw(st.sampled_from(["few", "few", "whole", "whole", "real", "real", "text", "odd"]))
    record = st.tuples(kinds[key], kinds[value])
    pieces = st.lists(st.integers(1, 6), max_size=3)
    return st.tuples(stamped(record, near | near | near | times, most=20), pieces).map(lambda b: (*b[0], b[1]))


flat_steps = flat_blocks().flatmap(lambda blocks: st.lists(blocks | blocks | st.integers(0, 60) | times, max_size=6))
reduces = [name for name, function in FOLDS.items() if not isinstance(function, Folding)]


@given(backends, st.sampled_from(reduces), flat_blocks().flatmap(lambda blocks: st.lists(blocks, max_size=5)))
def test_rolling_reduce_of_columns(in_python, kind, contents, blocks):
    check(in_python, "running_behind_exchange", kind, contents, blocks)


@given(assigners() | st.just(("sessions", 5)) | st.just(("tumbling", 10, 0)) | st.just(("sliding", 10, 5, 0)),
       st.sampled_from([*FOLDS, "list"]), st.sampled_from([0, 0, 7, LONG - 1]), flat_steps)  # fmt: skip
def test_windows_of_columns(in_python, assigner, contents, lateness, steps):
    check(in_python, "windows_behind_exchange", assigner, contents, lateness, steps)


@pytest.mark.parametrize("contents", FOLDS)
@pytest.mark.parametrize("assigner", [("sessions", 2), ("sessions", 5), ("tumbling", 10, 0), ("sliding", 10, 5, 0)])
@pytest.mark.parametrize("kind", ["whole", "real", "text"])
def test_many_columns_are_added_to_windows(in_python, contents, assigner, kind):
    draw = random.Random(7)
    value = {"whole": lambda: draw.randrange(9), "real": draw.random, "text": lambda: draw.choice("abc")}[kind]
    steps: list[Any] = []
    for begin in range(0, 300, 100):
        records = [(draw.choice("ab") if kind == "text" else draw.randrange(3), value()) for _ in range(100)]
        steps += [(records, [begin + n + draw.randrange(-9, 3) for n in range(100)], [50, 30]), begin + 80]
    check(in_python, "windows_behind_exchange", assigner, contents, 0, [*steps, 1000])
    if contents in reduces:
        check(in_python, "running_behind_exchange", "hashmap", contents, steps[::2])


key_types = st.none() | st.sampled_from(["INT", "LONG", "BYTE", "STRING", "DOUBLE", "BIG_INT", "BOOLEAN", "SQL_DATE"])


@given(
    key_types,
    st.booleans(),
    st.lists(stamped(st.tuples(anything, plain) | st.tuples(plain, plain) | anything, times), max_size=4),
)
@example(None, False, [([(0, 0), [1], (np.int64(1), 0)], None)])
def test_routes_and_blocks(in_python, key_type, batch, blocks):
    check(in_python, "routes", key_type, batch, blocks)


names = st.sampled_from(
    ["LONG", "INT", "SHORT", "BYTE", "STRING", "DOUBLE", "FLOAT", "BOOLEAN", "CHAR", "BIG_INT", "BIG_DEC", "SQL_DATE"]
)


@given(st.data())
def test_conversion_to_a_declared_type(in_python, data):
    if data.draw(st.booleans()):
        chosen = data.draw(st.lists(names, min_size=1, max_size=3))
        values = data.draw(st.lists(st.tuples(*[anything] * len(chosen)) | anything, max_size=4))
        check(in_python, "conversion", ["tuple", *chosen], values)
    else:
        check(in_python, "conversion", ["value", data.draw(names)], data.draw(st.lists(anything, max_size=4)))
