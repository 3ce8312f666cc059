"""The clauses of MATCH_RECOGNIZE about the pattern: what Flink refuses is refused here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.table._errors import SqlError, at, nearest, unsupported
from flintstream.table._operators.matching.pattern import Variable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flintstream.table._operators.matching.matcher import Skip
    from flintstream.table._syntax import queries as q

_SIGNS = {(1, 1): "", (0, 1): "?", (0, None): "*", (1, None): "+"}


def pattern_of(written: Sequence[q.PatternVariable]) -> tuple[Variable, ...]:
    """Return a pattern.

    Raises:
        SqlError: A variable takes no number of rows.
        UnsupportedClauseError: Flink has no such pattern.
    """
    pattern = tuple(Variable(item.name, item.least, item.most, item.greedy) for item in written)
    names: set[str] = set()
    for item, variable in zip(written, pattern, strict=True):
        _check_variable(item, variable)
        if item.name in names:
            clause = f"a second '{item.name}' in PATTERN"
            raise unsupported(clause, item.place, "give each variable a name of its own")
        names.add(item.name)
    for item, variable, following in zip(written, pattern, pattern[1:], strict=False):
        if variable.is_greedy and following.is_optional:
            clause = f"the optional variable '{following.name}' after the greedy '{variable.name}' in PATTERN"
            raise unsupported(clause, item.place, f"make '{variable.name}' reluctant, such as {variable.name}+?")
    if pattern[-1].is_greedy:
        name = pattern[-1].name
        instead = f"make it reluctant, such as {name}+?, or add a variable that ends the match"
        raise unsupported(f"the greedy variable '{name}' at the end of PATTERN", written[-1].place, instead)
    if all(variable.is_optional for variable in pattern):
        clause = "a PATTERN that matches no rows"
        raise unsupported(clause, written[0].place, "write one variable that needs a row, such as A+ instead of A*")
    return pattern


def _check_variable(item: q.PatternVariable, variable: Variable) -> None:
    least, most = variable.least, variable.most
    if most is not None and most < max(least, 1):
        raise SqlError(
            f"the variable '{item.name}' of PATTERN{at(item.place)} takes {least} to {most} rows: the most rows are at "
            "least 1, and not fewer than the least"
        )
    if not variable.greedy and (least, most) == (0, 1):
        instead = f"write {item.name}?, or {item.name}*? for any number of rows"
        raise unsupported(f"'{item.name}??' in PATTERN", item.place, instead)


def pattern_text(pattern: Sequence[Variable]) -> str:
    """Return a pattern as it is written.

    >>> pattern_text([Variable("A"), Variable("B", 0, None, greedy=False), Variable("C", 2, 3)])
    'A B*? C{2,3}'
    """
    found = []
    for item in pattern:
        sign = _SIGNS.get((item.least, item.most))
        if sign is None:
            most = "" if item.least == item.most else f",{item.most or ''}"
            sign = f"{{{item.least}{most}}}"
        found.append(f"{item.name}{sign}{'' if item.greedy else '?'}")
    return " ".join(found)


def skip_of(query: q.MatchRecognize, pattern: Sequence[Variable]) -> tuple[Skip, int]:
    """Return where the next match may begin, perhaps at the number of a variable.

    Raises:
        SqlError: The pattern lacks the variable, or the next match would begin where each match begins.
    """
    how, name = query.skip
    if not name:
        return how, 0
    names = [variable.name for variable in pattern]
    clause = f"AFTER MATCH SKIP {how} {name}{at(query.place)}"
    if name not in names:
        raise SqlError(f"{clause}: PATTERN has no variable '{name}'{nearest(name, names)}")
    first = pattern[0]
    if name == first.name and not first.is_optional and (how == "TO FIRST" or first.most == 1):
        raise SqlError(
            f"{clause} leads to the first row of the match, which would be found again: skip to a later variable, or "
            "TO NEXT ROW"
        )
    return how, names.index(name)
