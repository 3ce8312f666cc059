"""The code of all aggregates of a grouping."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from flintstream.table._expressions import helpers
from flintstream.table._expressions.aggregates import part_of
from flintstream.table._expressions.aggregation import helpers as aggregate_helpers
from flintstream.table._functions.user_defined import FunctionContext
from flintstream.table._types.rules import has_lists

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flintstream.table._expressions.aggregates import AggregateCall, Part


@dataclass(frozen=True)
class Aggregation:
    """The code of all functions of a grouping."""

    text: str
    """Defines ``start()``, ``add(r, a)``, ``remove(r, a)``, ``result(a)`` and ``merge(a, b)``."""
    add: tuple[str, ...]
    """The statements that add the row ``r`` to the state ``a``, indented as in a function."""
    remove: tuple[str, ...]
    """Those that take it back."""
    results: str
    """The results of ``a``, each followed by a comma."""
    names: dict[str, Any] = field(default_factory=dict)
    distinct: tuple[int, ...] = ()
    """The places in ``a`` of dictionaries that count values, of DISTINCT functions and others."""
    functions: tuple[Any, ...] = ()
    """The functions of the program, to be opened and closed."""

    def open(self, runtime_context: object) -> None:
        """Open the functions of the program."""
        for function in self.functions:
            function.open(FunctionContext.of(runtime_context))

    def close(self) -> None:
        """Close them."""
        for function in self.functions:
            function.close()

    def compile_code(self, more: str = "") -> dict[str, Callable[..., Any]]:
        """Return the functions by name, and those of ``more``, which may use them."""
        scope: dict[str, Any] = {**vars(helpers), **vars(aggregate_helpers), **self.names}
        exec(compile(f"{self.text}\n{more}", "<generated for a grouping>", "exec"), scope)  # noqa: S102 - our own code
        return scope


def aggregation(calls: Sequence[AggregateCall], *, retracts: bool, expires: bool = False) -> Aggregation:
    """Return the code of several functions.

    Args:
        calls: The functions.
        retracts: Whether rows are retracted, for which some functions keep all values.
        expires: Whether state expires that is not written again.
    """
    recounts = retracts or expires  # else it is enough to know that a value has come
    start, results, distinct = ["0"], [], list[int]()
    adds, removes, merges = ["    a[0] += 1"], ["    a[0] -= 1"], ["    a[0] += b[0]"]
    known: dict[str, Any] = {}
    before: list[str] = []
    for call in calls:
        part = part_of(call, len(start), retracts=retracts)
        known |= part.names
        counts = f"a[{len(start)}]"
        if call.distinct:
            distinct.append(len(start))
            start.append("{}")
        if part.counts:
            distinct.append(len(start))
        names = {str(i): f"a[{len(start) + i}]" for i in range(len(part.start))}
        others = {f"b{i}": f"b[{len(start) + i}]" for i in range(len(part.start))}
        start += part.start

        def fill_in(lines: Sequence[str], names: dict[str, str] = names, others: dict[str, str] = others) -> list[str]:
            return [_fill(line, {**names, **others}) for line in lines]

        guard = _guard(call, part)
        if guard != before:  # else the statements belong to the same block
            adds += guard
            removes += guard
        before = guard
        first = ["if d in c: c[d] += 1", "else:"] if recounts else ["if d not in c:"]
        adds += _within(guard, call, fill_in(part.add), [f"c, d = {counts}, {{}}", *first, "    c[d] = 1"])
        removes += _within(guard, call, fill_in(part.remove), [f"if uncount_last({counts}, {{}}):"])
        if call.distinct:
            other = f"b[{int(counts[2:-1])}]"
            merges.append(f"    for key, n in {other}.items():")
            merges.append(f"        v = {'thaw_key(key)' if has_lists(call.argument_type) else 'key'}")
            merges.append(f"        if count_first({counts}, key, n):")
            merges += [f"            {line}" for line in fill_in(part.add)]
        else:
            merges += [f"    {line}" for line in fill_in(part.merge)]
        results.append(f"{_fill(part.result, names)}, ")
    text = "\n".join(
        [
            f"def start(): return [{', '.join(start)}]",
            "def add(r, a):",
            *adds,
            "    return a",
            "def remove(r, a):",
            *removes,
            "    return a",
            "def merge(a, b):",
            *merges,
            "def result(a):",
            f"    return ({''.join(results)})",
        ]
    )
    functions = [item.function.implementation for item in calls if item.function is not None]
    once = {id(function): function for function in functions}
    return Aggregation(
        text, tuple(adds), tuple(removes), "".join(results), known, tuple(distinct), tuple(once.values())
    )


def _fill(text: str, names: dict[str, str]) -> str:
    for key, name in names.items():
        text = text.replace(f"{{{key}}}", name)
    return text


def _guard(call: AggregateCall, part: Part) -> list[str]:
    """Return the statements that take the argument ``v`` from a row, and the conditions on the row."""
    found: list[str] = []
    depth = 1
    if call.condition is not None:
        found.append(f"    if r[{call.condition}] is True:")
        depth += 1
    if call.argument is not None:
        several = call.more if call.function is not None else ()
        values = "".join(f", r[{i}]" for i in several)
        found.append("    " * depth + (f"v = (r[{call.argument}]{values})" if several else f"v = r[{call.argument}]"))
        if not part.counts_none:
            found.append("    " * depth + "if v is not None:")
    return found


def _within(guard: Sequence[str], call: AggregateCall, lines: Sequence[str], counted: Sequence[str]) -> list[str]:
    """Return statements as they stand in the block of a guard; if distinct, behind those that count the value."""
    depth = 1 + sum(line.endswith(":") for line in guard)
    found: list[str] = []
    if call.distinct:
        key = "freeze_key(v)" if has_lists(call.argument_type) else "v"
        found += ["    " * depth + line.replace("{}", key) for line in counted]
        depth += 1
    return [*found, *("    " * depth + line for line in lines or ["pass"])]
