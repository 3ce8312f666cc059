"""Compiler of converters: functions that give a value the form it has after crossing a serializer of its type.

Every record is converted. Therefore, the check for values that need no change is one generated piece of straight-line
Python per type. Only values that fail it go through the general, slow code, which converts them or raises an error.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from operator import length_hint
from typing import TYPE_CHECKING, Any, TypeAlias

from flintstream.common._text.java import narrow
from flintstream.common.types import Row, _make_row
from flintstream.compiled import load
from flintstream.errors import shorten

if TYPE_CHECKING:
    from collections.abc import Iterator

Converter: TypeAlias = Callable[[Any], Any]


class ConsumedError(TypeError):
    """An element of an iterator does not fit. The iterator is consumed, so the error cannot be more specific."""


GENERATED = "<flintstream"
"""Prefix of the file names of code that is compiled at run time."""


_compiled = load("exchange")
_compiled_fits = None if _compiled is None else _compiled.fits

_NAMES = {"Row": Row, "make_row": _make_row, "narrow": narrow, "ConsumedError": ConsumedError}


@dataclass
class Scope:
    """The names available to generated code."""

    names: dict[str, Any] = field(default_factory=lambda: dict(_NAMES))

    def add(self, value: object) -> str:
        """Bind ``value`` and return its name."""
        name = f"c{len(self.names)}"
        self.names[name] = value
        return name

    def function(self, source: str, kinds: str = "", *, of_tuples: bool = False) -> Converter:
        """Compile ``source``, which defines ``convert`` and optionally ``fits``.

        ``kinds`` has the letters of the fields of a tuple, or that of a single value, if all of them have one.
        """
        names = dict(self.names)
        exec(compile(source, f"{GENERATED} converter>", "exec"), names)  # noqa: S102 - generated from types only
        convert: Any = names["convert"]
        convert.fits, convert.kinds, convert.of_tuples = names.get("fits"), kinds, of_tuples
        return convert  # type: ignore[no-any-return]


def convert_block(convert: Converter, values: list[Any], cursor: Iterator[Any]) -> list[Any]:
    """Convert the values of a block with ``cursor``, its iterator; return the block itself if no value changes.

    Most blocks do not change, and finding that out needs no call per value.
    """
    fits = getattr(convert, "fits", None)
    if fits is None:
        return [convert(value) for value in cursor]
    kinds: str = convert.kinds  # type: ignore[attr-defined]
    if fits(cursor) if not kinds or _compiled_fits is None else _compiled_fits(kinds, cursor, convert.of_tuples):  # type: ignore[attr-defined]
        return values
    position = len(values) - length_hint(cursor) - 1
    return [*values[:position], convert(values[position]), *[convert(value) for value in cursor]]


@dataclass(frozen=True)
class Inline:
    """Generated code for one field held in a local variable.

    Attributes:
        test: Condition for using ``build``; empty for "always".
        build: Expression for the converted value.
        keeps: Whether ``build`` is the variable itself.
        kind: The letter of the compiled test that does the same as ``test``; empty if there is none.
    """

    test: str
    build: str
    keeps: bool
    kind: str = ""

    @staticmethod
    def keep(test: str, kind: str = "") -> Inline:
        """A field that stays unchanged if ``test`` holds."""
        return Inline(test, "{x}", keeps=True, kind=kind)

    @staticmethod
    def call(scope: Scope, converter: Converter | None) -> Inline:
        """A field that a call converts; unchanged without a converter."""
        return (
            Inline("", "{x}", keeps=True)
            if converter is None
            else Inline("", scope.add(converter) + "({x})", keeps=False)
        )

    def nullable(self) -> Inline:
        """The same field, with None allowed."""
        test = f"({{x}} is None or {self.test})" if self.test else ""
        build = self.build if self.keeps else f"(None if {{x}} is None else {self.build})"
        return Inline(test, build, keeps=self.keeps)


def _join_tests(inlines: list[Inline], variables: list[str]) -> str:
    tests = [inline.test.format(x=x) for inline, x in zip(inlines, variables, strict=True) if inline.test]
    return " and ".join(tests) or "True"


def _unpack(variables: list[str], source: str) -> str:
    return f"{', '.join(variables)}, = {source}" if variables else "pass"


def leaf(inline: Inline, scope: Scope, slow: Converter) -> Converter:
    """Return a converter that tests values with ``inline``, and passes those that fail to ``slow``."""
    slow_name = scope.add(slow)
    test, build = inline.test.format(x="v"), inline.build.format(x="v")
    convert = f"def convert(v):\n    if {test}:\n        return {build}\n    return {slow_name}(v)\n"
    if not inline.keeps:
        return scope.function(convert)
    return scope.function(convert + _fits([f"if {test}:", "    continue"]), inline.kind)


def _fits(lines: list[str]) -> str:
    """Return a function that tells whether each value ``v`` reaches a ``continue`` in these lines."""
    body = "".join(f"        {line}\n" for line in lines)
    return f"def fits(cursor):\n    for v in cursor:\n{body}        return False\n    return True\n"


def tuple_converter(inlines: list[Inline], scope: Scope, slow: Converter) -> Converter:
    """Return the converter of a tuple whose fields are described by ``inlines``."""
    variables = [f"a{i}" for i in range(len(inlines))]
    built = [inline.build.format(x=x) for inline, x in zip(inlines, variables, strict=True)]
    slow_name = scope.add(slow)
    keeps = all(inline.keeps for inline in inlines)
    result = "v" if keeps else f"({', '.join(built)},)"
    checks = [
        f"if type(v) is tuple and len(v) == {len(inlines)}:",
        f"    {_unpack(variables, 'v')}",
        f"    if {_join_tests(inlines, variables)}:",
        "        continue",
    ]
    return scope.function(
        f"def convert(v):\n"
        f"    if type(v) is tuple and len(v) == {len(inlines)}:\n"
        f"        {_unpack(variables, 'v')}\n"
        f"        if {_join_tests(inlines, variables)}:\n"
        f"            try:\n"
        f"                return {result}\n"
        f"            except ConsumedError:\n"
        f"                raise\n"
        f"            except (TypeError, ValueError, OverflowError):\n"
        f"                pass  # the slow path raises a better error\n"
        f"    return {slow_name}(v)\n" + (_fits(checks) if keeps else ""),
        "".join(inline.kind for inline in inlines) if all(inline.kind for inline in inlines) else "",
        of_tuples=True,
    )


def row_converter(inlines: list[Inline], names: tuple[str, ...], scope: Scope, slow: Converter) -> Converter:
    """Return the converter of a row whose fields are described by ``inlines``."""
    variables = [f"a{i}" for i in range(len(inlines))]
    built = [inline.build.format(x=x) for inline, x in zip(inlines, variables, strict=True)]
    names_name, slow_name, size = scope.add(names), scope.add(slow), len(inlines)
    keep = "            if f is not None:\n                return v\n" if all(i.keeps for i in inlines) else ""
    return scope.function(
        f"def convert(v):\n"
        f"    f = v._field_names if type(v) is Row else 0\n"
        f"    if (f == {names_name} or f is None) and len(v._values) == {size}:\n"
        f"        {_unpack(variables, 'v._values')}\n"
        f"        if {_join_tests(inlines, variables)}:\n"
        f"{keep}"
        f"            try:\n"
        f"                return make_row({names_name}, [{', '.join(built)}], v._row_kind)\n"
        f"            except ConsumedError:\n"
        f"                raise\n"
        f"            except (TypeError, ValueError, OverflowError):\n"
        f"                pass  # the slow path raises a better error\n"
        f"    return {slow_name}(v)\n"
    )


def list_converter(element: Inline, scope: Scope, slow: Converter) -> Converter:
    """Return the converter of a list."""
    if not element.keeps:
        return slow
    slow_name = scope.add(slow)
    return scope.function(
        f"def convert(v):\n"
        f"    if type(v) is list:\n"
        f"        for x in v:\n"
        f"            if not ({element.test.format(x='x') or 'True'}):\n"
        f"                return {slow_name}(v)\n"
        f"        return v\n"
        f"    return {slow_name}(v)\n"
    )


def map_converter(key: Inline, value: Inline, scope: Scope, slow: Converter) -> Converter:
    """Return the converter of a dict."""
    if not (key.keeps and value.keeps):
        return slow
    slow_name = scope.add(slow)
    return scope.function(
        f"def convert(v):\n"
        f"    if type(v) is dict:\n"
        f"        for k, x in v.items():\n"
        f"            if not (({key.test.format(x='k') or 'True'}) and ({value.test.format(x='x') or 'True'})):\n"
        f"                return {slow_name}(v)\n"
        f"        return v\n"
        f"    return {slow_name}(v)\n"
    )


def mismatch(expected: object, value: object, hint: str = "") -> TypeError:
    """Return the error for a value that does not fit its declared type."""
    text = f"the declared type is {expected}, but the value is {shorten(value)} of type {type(value).__name__}"
    return TypeError(f"{text}; {hint}" if hint else text)


def convert_part(converter: Converter | None, value: object, where: str) -> Any:
    """Convert a part of a record; an error names the part."""
    if converter is None:
        return value
    try:
        return converter(value)
    except (TypeError, OverflowError) as error:
        raise type(error)(f"{where}: {error}") from None
