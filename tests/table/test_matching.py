"""The matcher of MATCH_RECOGNIZE finds what a search through all assignments of rows to variables finds."""

from __future__ import annotations

import functools
import itertools
import operator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flintstream.table._operators.matching.matcher import Matcher, Progress
from flintstream.table._operators.matching.pattern import State, Variable, compile_pattern

SKIPS = ("PAST LAST ROW", "TO NEXT ROW", "TO FIRST", "TO LAST")
BOUNDS = [(1, 1), (0, 1), (0, None), (1, None), (2, 2), (1, 2), (0, 2), (2, None), (3, 4)]


def is_sound(pattern):
    """Whether Flink takes a pattern."""
    if pattern[-1].is_greedy or all(variable.is_optional for variable in pattern):
        return False
    return not any(a.is_greedy and b.is_optional for a, b in itertools.pairwise(pattern))


@st.composite
def patterns(draw):
    count = draw(st.integers(1, 4))
    bounds = draw(st.lists(st.sampled_from(BOUNDS), min_size=count, max_size=count))
    greedy = draw(st.lists(st.booleans(), min_size=count, max_size=count))
    sized = zip("ABCD", bounds, greedy, strict=False)
    return [Variable(name, least, most, eager) for name, (least, most), eager in sized]


# A condition gets the values of each variable up to and with the row in question, and the number of its variable.
CONDITIONS = {
    "any": lambda _, __: True,
    "none": lambda _, __: None,
    "low": lambda found, own: found[own][-1] < 3,
    "high": lambda found, own: found[own][-1] >= 2,
    "rises": lambda found, own: len(found[own]) < 2 or found[own][-1] > found[own][-2],
    "above the first": lambda found, own: found[own][-1] > next(iter(functools.reduce(operator.iadd, found, []))),
    "few": lambda found, own: sum(found[own]) < 6,
    "after A": lambda found, own: (found[own][-1] > found[0][-1]) if own and found[0] else None,
}


def values_of(rows, starts, end):
    limits = [*starts, end]
    return [[row[0] for row in rows[a:b]] for a, b in itertools.pairwise(limits)]


def matcher_of(pattern, names, skip, within):
    def test(name, own):
        return lambda rows, starts, end, _: CONDITIONS[name](values_of(rows, starts, end), own)

    tests = [None if name == "any" else test(name, own) for own, name in enumerate(names)]
    return Matcher(compile_pattern(pattern), tests, skip, within)


# -- the reference ---------------------------------------------------------------------------------------------------


def holds(names, labels, values, own):
    """Whether the condition of a variable holds for the last value, if the others have these labels."""
    found = [[v for v, label in zip(values, (*labels, own), strict=True) if label == k] for k in range(own + 1)]
    return CONDITIONS[names[own]](found, own) is True


def assignments(pattern, names, values):
    """All ways to label values with variables in order, also if more values would have to follow."""
    ways: list[tuple[int, ...]] = [()]
    for i in range(len(values)):
        longer: list[tuple[int, ...]] = []
        for labels in ways:
            now = labels[-1] if labels else 0
            for own in range(now, len(pattern)):
                counts = [labels.count(k) for k in range(len(pattern))]
                if any(counts[k] < pattern[k].least for k in range(own)):
                    continue
                if pattern[own].most is not None and counts[own] >= pattern[own].most:
                    continue
                before = own - 1
                if own > now or (own and not labels):
                    begins = counts[own] == 0 and pattern[before].is_greedy
                    if begins and holds(names, labels, values[: i + 1], before):
                        continue
                if holds(names, labels, values[: i + 1], own):
                    longer.append((*labels, own))
        ways = longer
    return ways


def is_whole(pattern, labels):
    return all(labels.count(k) >= variable.least for k, variable in enumerate(pattern))


def starts_of(pattern, labels, first):
    return tuple(first + sum(label < k for label in labels) for k in range(len(pattern) + 1))


def reference(pattern, names, skip, within, rows):
    """The starts of all matches among rows (value, time), and where the search has come to."""
    found, first = [], 0
    while first < len(rows):
        match, alive = None, False
        for end in range(first + 1, len(rows) + 1):
            if within is not None and rows[end - 1][1] - rows[first][1] >= within:
                alive = False
                break
            ways = assignments(pattern, names, [value for value, _ in rows[first:end]])
            whole = [labels for labels in ways if is_whole(pattern, labels)]
            alive = bool(ways)
            if whole or not alive:
                match = min(whole, default=None)
                break
        if match is not None:
            starts = starts_of(pattern, match, first)
            found.append(starts)
            how, variable = skip
            begin, end = starts[variable : variable + 2]
            target = {"PAST LAST ROW": starts[-1], "TO NEXT ROW": first + 1, "TO FIRST": begin, "TO LAST": end - 1}[how]
            if how in {"TO FIRST", "TO LAST"} and (begin == end or target == first):
                return found, None
            first = target
        elif alive:
            break
        else:
            first += 1
    return found, first


@st.composite
def searches(draw):
    pattern = draw(patterns().filter(is_sound))
    names = draw(st.lists(st.sampled_from(sorted(CONDITIONS)), min_size=len(pattern), max_size=len(pattern)))
    skip = (draw(st.sampled_from(SKIPS)), draw(st.integers(0, len(pattern) - 1)))
    values = draw(st.lists(st.integers(0, 4), max_size=8))
    steps = draw(st.lists(st.integers(0, 2), min_size=len(values), max_size=len(values)))
    times = [sum(steps[: i + 1]) for i in range(len(steps))]
    return pattern, names, skip, draw(st.sampled_from([None, 2, 4])), list(zip(values, times, strict=True))


@given(searches())
def test_the_matcher_finds_what_a_search_through_all_assignments_finds(search):
    pattern, names, skip, within, rows = search
    expected, first = reference(pattern, names, skip, within, rows)
    matcher, progress = matcher_of(pattern, names, skip, within), Progress()
    found = []
    number = {id(row): i for i, row in enumerate(rows)}
    try:
        for row in rows:
            for matched, starts in matcher.add(progress, row, row[1]):
                base = number[id(matched[starts[0]])] - starts[0]
                found.append(tuple(base + start for start in starts))
            rest = Progress(list(progress.rows), list(progress.times), list(progress.runs), progress.totals)
            progress = rest  # as if it came from a checkpoint
    except ValueError:
        assert first is None
    else:
        assert first == len(rows) - len(progress.rows)
    assert found == expected


def test_the_search_for_all_assignments_is_itself_right():
    pattern = [Variable("A"), Variable("B", 0, None), Variable("C")]
    rows = [(v, i) for i, v in enumerate([4, 3, 1, 2, 4, 4])]
    names = ["any", "low", "high"]
    assert reference(pattern, names, ("PAST LAST ROW", 0), None, rows) == ([(0, 1, 1, 2), (2, 3, 4, 5)], 5)
    assert reference(pattern, names, ("TO NEXT ROW", 0), None, rows)[0][:2] == [(0, 1, 1, 2), (1, 2, 4, 5)]


def test_a_pattern_has_a_state_for_each_row_that_it_needs_or_may_take():
    pattern = [Variable("A", 2, 3), Variable("B", 1, None, greedy=False), Variable("C", 0, 1)]
    assert compile_pattern(pattern) == (
        State(0, 1),
        State(0, 2),
        State(0, 3, skipped=3),
        State(1, 4, unless=0),
        State(1, 4, skipped=5),
        State(2, 6, skipped=6),
    )


@pytest.mark.parametrize(("within", "kept"), [(None, 4), (3, 2)])
def test_rows_that_can_be_of_no_match_are_forgotten(within, kept):
    matcher = matcher_of(
        [Variable("A"), Variable("B", 1, None), Variable("C")], ["any", "high", "low"], (*SKIPS[:1], 0), within
    )
    progress = Progress()
    for time, value in enumerate([1, 4, 4, 4]):
        assert list(matcher.add(progress, (value,), time)) == []
    list(matcher.advance(progress, 4))
    assert len(progress.rows) == kept


def test_a_match_waits_for_earlier_rows_that_may_still_match():
    # A B+ C with the rows 1 4 4 ...: from the second row on, 4 4 0 is a match, but the first row comes first.
    pattern = [Variable("A"), Variable("B", 1, None, greedy=False), Variable("C")]
    matcher = matcher_of(pattern, ["any", "above the first", "none"], ("TO NEXT ROW", 0), 10)
    progress = Progress()
    for time, value in enumerate([1, 3, 4, 2]):
        assert list(matcher.add(progress, (value,), time)) == []
    assert progress.times == [0, 1, 2, 3]
    assert list(matcher.advance(progress, 10)) == []
    assert progress.times == [3]
