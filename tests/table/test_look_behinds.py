"""Look-behind of varying length means what it says, as in Java."""

from __future__ import annotations

import re

import pytest

pytest.importorskip("sqlglot", reason="the extra 'table' is not installed: make setup")

from hypothesis import given
from hypothesis import strategies as st

from flintstream.table._expressions.patterns.helpers import checked_regex, regex
from flintstream.table._expressions.patterns.look_behinds import varies, with_fixed_length

units = st.sampled_from(["a", "b", ".", "[ab]", r"\w", r"\(", "[^a)]", "[])]", "(?:a|bb)", "(?:ab?|)"])
repeated = st.tuples(units, st.sampled_from(["", "?", "{2}", "{0,2}", "{1,3}"])).map("".join)
branches = st.lists(repeated, min_size=1, max_size=2).map("".join)
insides = st.lists(branches, min_size=1, max_size=3).map("|".join)


def is_behind(inside, text, at):
    return any(re.fullmatch(inside, text[begin:at]) for begin in range(at + 1))


@given(inside=insides, text=st.text("ab()]", max_size=8), negated=st.booleans())
def test_a_look_behind_looks_at_every_length(inside, text, negated):
    pattern = checked_regex(f"(?<{'!' if negated else '='}{inside})(?=.|$)")
    found = {match.start() for match in pattern.finditer(text)}
    assert found == {at for at in range(len(text) + 1) if is_behind(inside, text, at) != negated}


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        (r"(?<=USD|EUR )\d+", "USD5 EUR 7 GBP9", ["5", "7"]),
        (r"(?<!no |not )good", "good, no good, not good", ["good"]),
        (r"(?<=\bid=['\"]?)\w+", "id='x' id=y", ["x", "y"]),
        (r"[(?<=]x", "(x =x", ["(x", "=x"]),
        (r"\(?<=x", "(<=x <=x", ["(<=x", "<=x"]),
    ],
)
def test_patterns_of_java_find_what_java_finds(pattern, text, expected):
    assert [match.group() for match in checked_regex(pattern).finditer(text)] == expected


@pytest.mark.parametrize("pattern", ["(?<=a+)b", "(?<=a*)b", "(?<!a{2,})b", "(?<=(a|bc))d", "(?<=[ab]{0,9999}c?)d"])
def test_what_has_no_greatest_length_is_refused(pattern):
    assert regex(pattern) is None


@pytest.mark.parametrize("pattern", ["(?<=a|bc)d", "(a|((?<!b?)c))*", "(?:x(?=(?<=y{1,2})z)){3}"])
def test_a_look_behind_of_varying_length_is_found_wherever_it_stands(pattern):
    assert varies(pattern)
    with pytest.raises(re.error):
        re.compile(pattern)


@pytest.mark.parametrize("pattern", ["(?<=look-behind", "(?P<a>(?<=ab)c", "(?<=ab)[look-behind"])
def test_what_no_engine_can_read_is_an_error_that_says_so(pattern):
    with pytest.raises(ValueError, match="cannot be read"):
        checked_regex(pattern)


@pytest.mark.parametrize("pattern", ["(?<=ab)c", "(?=a?)b", "a{1,2}(?!b*)", r"[(?<=a?]", r"\(?<=a?", "(?<=a|b)c"])
def test_other_patterns_need_no_other_look_behind(pattern):
    assert not varies(pattern)
    re.compile(pattern)


def test_patterns_of_a_fixed_length_stay():
    assert with_fixed_length("(?<=ab)c(?<!d)[(?<=]") == "(?<=ab)c(?<!d)[(?<=]"
