"""LIKE and regular expressions: the time they take, what they keep, and that linear programs match as ``re`` does."""

from __future__ import annotations

import re
from random import Random

import pytest

from flintstream.table._expressions import helpers
from flintstream.table._expressions.json.paths import JsonPath
from flintstream.table._expressions.patterns import helpers as pattern_helpers
from flintstream.table._expressions.patterns.linear import Linear, linear
from flintstream.table._expressions.times import lenient, strict

LONG = "a" * 3000


@pytest.mark.promise("S40")
@pytest.mark.timeout(60)
def test_like_takes_time_in_proportion_to_the_text():
    assert not pattern_helpers.like("%a%a%a%b")(LONG)
    assert pattern_helpers.like("%a%_a%a%b")(f"{LONG}b")


@pytest.mark.promise("S40")
@pytest.mark.timeout(60)
@pytest.mark.parametrize("pattern", ["(a+)+c$", "(a|a)*c", "(a*)*c", "(?:a|ab)+c", r"(\w+\s*)+!", "(?i)((A+)+)c"])
def test_a_regular_expression_that_could_take_for_ever_ends(pattern):
    assert not pattern_helpers.regexp(LONG, pattern)
    assert pattern_helpers.regexp(f"{LONG}!aac", pattern)


@pytest.mark.promise("S40")
@pytest.mark.timeout(60)
def test_a_path_of_json_with_such_an_expression_ends():
    assert JsonPath("lax $[?(@ =~ /(a+)+c/)]").find([LONG]) == []


@pytest.mark.parametrize("pattern", [r"([\w-]+\.)+com", r"(\d{1,3},)*x", ".*a.*b", r"^[\w.+-]+@([\w-]+\.)+[\w-]+$"])
def test_what_ends_anyway_stays_with_the_faster_re(pattern):
    assert isinstance(linear(re.compile(pattern)), re.Pattern)


def test_linear_programs_match_as_re_does():
    random, compared = Random(1), 0
    parts = (
        "a",
        "(a|b)*",
        "(a+)+",
        "(a|ab)+",
        "(?:a*)*",
        "b?",
        "c",
        "[ab]+",
        "(b+a?)+",
        "^",
        "$",
        r"\b",
        "(ba|b){1,3}",
    )
    for _ in range(3000):
        pattern = re.compile("".join(random.choices(parts, k=random.randint(1, 4))))
        program = linear(pattern)
        text = "".join(random.choices("abc", k=random.randint(0, 8)))
        if isinstance(program, Linear):
            compared += 1
            found = [(match.start(), match.end()) for match in program.finditer(text)]
            assert found == [(match.start(), match.end()) for match in pattern.finditer(text)], (pattern.pattern, text)
            assert (program.fullmatch(text) is None) == (pattern.fullmatch(text) is None), (pattern.pattern, text)
    assert compared > 1000


@pytest.mark.parametrize(
    ("function", "use"),
    [
        (pattern_helpers.like, lambda number: pattern_helpers.like(f"%{number}")),
        (pattern_helpers.similar, lambda number: pattern_helpers.similar(f"%{number}")),
        (pattern_helpers.regex, lambda number: pattern_helpers.regex(f"a{number}")),
        (strict._reading, lambda number: strict._reading(f"yyyy'{number}'")),
        (lenient._parts, lambda number: lenient._parts(f"yyyy'{number}'")),
        (helpers.zone_of, lambda number: helpers.zone_of(f"+{number % 20:02}:{number // 20 % 60:02}")),
    ],
)
def test_patterns_of_records_are_kept_up_to_a_number(function, use):
    for number in range(1200):
        use(number)
    assert function.cache_info().currsize <= 1000
    function.cache_clear()
