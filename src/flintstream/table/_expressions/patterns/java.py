"""Regular expressions of Java, written as Python has them."""

from __future__ import annotations

import re

_SIMPLE = {
    "d": "0-9",
    "w": "a-zA-Z0-9_",
    "s": r" \t\n\x0b\f\r",
    "h": r" \t\xa0\u1680\u180e\u2000-\u200a\u202f\u205f\u3000",
    "v": r"\n\x0b\f\r\x85\u2028\u2029",
}
"""What is within the class of an escape."""
_PROPERTIES = {
    "Lower": "a-z",
    "Upper": "A-Z",
    "ASCII": r"\x00-\x7f",
    "Alpha": "a-zA-Z",
    "Digit": "0-9",
    "Alnum": "a-zA-Z0-9",
    "Punct": r"!-/:-@\[-`{-~",
    "Graph": "!-~",
    "Print": " -~",
    "Blank": r" \t",
    "Cntrl": r"\x00-\x1f\x7f",
    "XDigit": "0-9a-fA-F",
    "Space": _SIMPLE["s"],
}
_LETTER, _DIGIT = r"[^\W\d_]", r"\d"
_CATEGORIES = {
    "L": _LETTER,
    "IsL": _LETTER,
    "IsAlphabetic": _LETTER,
    "IsLetter": _LETTER,
    "javaLetter": _LETTER,
    "N": _DIGIT,
    "Nd": _DIGIT,
    "IsDigit": _DIGIT,
    "Lu": rf"(?:(?![a-z]){_LETTER})",
    "IsWhite_Space": r"\s",
}
"""Categories of Unicode as expressions for one character, as far as Python has them."""
_FIXED = {
    "z": r"\Z",
    "Z": r"(?=\n?\Z)",
    "R": r"(?:\r\n|[\n-\r\x85\u2028\u2029])",
    "X": r"(?:\r\n|[\s\S])",
    "G": r"\A",
    "E": "",
}
_CONTROLS = {"t": "\t", "n": "\n", "r": "\r", "f": "\f", "a": "\a", "e": "\x1b"}
_CODE = re.compile(
    r"x([0-9a-fA-F]{2})|x\{([0-9a-fA-F]+)\}|u([0-9a-fA-F]{4})|0([0-3][0-7]{2}|[0-7]{1,2})|c(.)", re.DOTALL
)
_PROPERTY = re.compile(r"[pP](?:\{\^?(\w+)\}|(\w))")
_GROUP = re.compile(r"\(\?(?:<([a-zA-Z][a-zA-Z0-9]*)>|(:|=|!|<=|<!|>)|([idmsuxU]*)(?:-([idmsuxU]*))?([:)]))")
_QUANTIFIER = re.compile(r"(?:[*+?]|\{\d+(?:,\d*)?\})[+?]?")


def translate_pattern(pattern: str) -> str:
    r"""Return a pattern of Java's as Python's module ``re`` takes it.

    >>> translate_pattern(r"(?<year>\d{4})\Q.\E[a-z&&[^x]]")
    '(?P<year>[0-9]{4})\\.(?:(?=[a-z])[^x])'

    Raises:
        re.error: Java would not take it, or Python has nothing that means the same.
    """
    if not _ODD.search(pattern):
        return pattern
    return _Translator(pattern).all()


_ODD = re.compile(r"[\\\[{?]")
"""What may mean something else in Python, or nothing at all."""


class _Translator:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.total = len(re.findall(r"(?<!\\)\((?!\?)|\(\?<[a-zA-Z]", text))
        self.levels: list[list[str]] = [[]]
        """The heads of the groups that flags have opened, by level of brackets: ``a(?i)b`` becomes ``a(?i:b)``."""

    def error(self, what: str) -> re.error:
        return re.error(what, self.text, self.at)

    def all(self) -> str:
        parts: list[str] = []
        quantifiable = False
        while self.at < len(self.text):
            char = self.text[self.at]
            quantifier = _QUANTIFIER.match(self.text, self.at)
            if quantifier is not None or char == "{":
                if quantifier is None or not (quantifiable or char == "{"):
                    raise self.error("nothing to repeat")
                parts.append(quantifier[0] if quantifiable else "")  # of nothing, a number in braces repeats nothing
                self.at, quantifiable = quantifier.end(), False
                continue
            quantifiable = char not in "(|"
            if char == "(":
                parts.append(self.group())
            elif char == "[":
                parts.append(self.bracket())
            elif char == "\\":
                parts.append(self.escape())
            else:
                self.at += 1
                parts.append(self.bar() if char == "|" else self.close() if char == ")" else char)
        if len(self.levels) > 1:
            raise self.error("missing )")
        heads = self.levels[0]
        comment = "\n" if any("x" in head for head in heads) else ""  # a comment would hide what closes the group
        return "".join(parts) + comment + ")" * len(heads)

    def bar(self) -> str:
        """Return ``|``, which flags before it outlive."""
        heads = self.levels[-1]
        return f"{')' * len(heads)}|{''.join(heads)}"

    def close(self) -> str:
        if len(self.levels) == 1:
            raise self.error("unbalanced parenthesis")
        return ")" * (1 + len(self.levels.pop()))

    def group(self) -> str:
        """Read the head of a group."""
        if not self.text.startswith("(?", self.at):
            self.at += 1
            self.levels.append([])
            return "("
        found = _GROUP.match(self.text, self.at)
        if found is None:
            raise self.error("unknown extension")
        self.at = found.end()
        name, kind, on, off, end = found.groups()
        if name is None and kind is None:
            on, off = ("".join(sorted(set(flags or "") & set("imsx"))) for flags in (on, off))
            head = f"(?{on}{'-' if off else ''}{off}:"
            if end == ")":
                self.levels[-1].append(head)
                return head
        else:
            head = f"(?{kind}" if name is None else f"(?P<{name}>"
        self.levels.append([])
        return head

    def escape(self) -> str:
        """Read an escape outside a class."""
        if self.text.startswith("\\Q", self.at):
            end = self.text.find("\\E", self.at + 2)
            quoted = self.text[self.at + 2 : end if end >= 0 else None]
            self.at = len(self.text) if end < 0 else end + 2
            return re.escape(quoted)
        char = self.text[self.at + 1 : self.at + 2]
        if char.isdigit() and char != "0":
            return self.reference()
        if char == "k":
            found = re.compile(r"\\k<(\w+)>").match(self.text, self.at)
            if found is None:
                raise self.error("bad reference")
            self.at = found.end()
            return f"(?P={found[1]})"
        if char in {"A", "b", "B"} or char in _FIXED:
            self.at += 2
            return _FIXED.get(char, f"\\{char}")
        inside, negated = self.read_escape()
        alone = inside[0] in "[(" or inside == _DIGIT or len(inside.lstrip("\\")) <= 1
        return inside if alone and not negated else f"[{'^' if negated else ''}{inside}]"

    def reference(self) -> str:
        found = re.compile(r"\\(\d+)").match(self.text, self.at)
        digits = "" if found is None else found[1]
        while len(digits) > 1 and int(digits) > self.total:
            digits = digits[:-1]
        self.at += 1 + len(digits)
        return f"(?:\\{digits})" if int(digits) <= self.total else "(?!)"

    def read_escape(self) -> tuple[str, bool]:
        """Read an escape; return what stands for it within brackets, and whether that is negated.

        A category of Unicode comes as an expression of its own.
        """
        code = _CODE.match(self.text, self.at + 1)
        if code is not None:
            self.at = code.end()
            number = int(code[4], 8) if code[4] else int(code[1] or code[2] or code[3] or "0", 16)
            number = number if code[5] is None else ord(code[5]) ^ 64
            if number > 0x10FFFF:
                raise self.error("no such character")
            return re.escape(chr(number)), False
        named = _PROPERTY.match(self.text, self.at + 1)
        if named is not None:
            name, negated = named[1] or named[2], self.text[self.at + 1] == "P"
            self.at = named.end()
            if name in _PROPERTIES:
                return _PROPERTIES[name], negated
            if name not in _CATEGORIES:
                raise self.error(f"unknown property {name}")
            found = _CATEGORIES[name]
            return f"(?:(?!{found})[\\s\\S])" if negated else found, False
        char = self.text[self.at + 1 : self.at + 2]
        self.at += 2
        if char.lower() in _SIMPLE and char:
            return _SIMPLE[char.lower()], char.isupper()
        if char in _CONTROLS:
            return re.escape(_CONTROLS[char]), False
        if not char or (char.isascii() and char.isalnum()):
            raise self.error(f"bad escape \\{char}")
        return re.escape(char), False

    def bracket(self) -> str:
        """Read a class in brackets; return an expression for one character."""
        self.at += 1
        negated = self.text.startswith("^", self.at)
        self.at += negated
        sides: list[str] = []
        chars: list[str] = []
        wholes: list[str] = []
        first = True
        while True:
            char = self.text[self.at : self.at + 1]
            if not char:
                raise self.error("unterminated class")
            if char == "]" and not first:
                self.at += 1
                break
            first = False
            if self.text.startswith("&&", self.at):
                self.at += 2
                sides.append(_union(chars, wholes))
                chars, wholes = [], []
            elif char == "[":
                wholes.append(self.bracket())
            elif char == "\\" and self.text.startswith("\\Q", self.at):
                chars.append(self.escape())
            elif char == "\\":
                inside, inverse = self.read_escape()
                if inverse:
                    wholes.append(f"[^{inside}]")
                elif inside[0] in "[(" or inside == _DIGIT:
                    wholes.append(inside)
                else:
                    chars.append(inside)
            else:
                self.at += 1
                chars.append("-" if char == "-" else re.escape(char) if char in "&~|^[" else char)
        found = _union(chars, wholes)
        if sides:
            ahead = "".join(f"(?={side})" for side in sides)
            found = f"(?:{ahead}{found})"
        if not negated:
            return found
        return f"[^{found[1:]}" if found[0] == "[" and found[1] != "^" else f"(?:(?!{found})[\\s\\S])"


def _union(chars: list[str], wholes: list[str]) -> str:
    """Return an expression for one of some characters, or a character that one of some expressions takes."""
    parts = [f"[{''.join(chars)}]"] if chars else []
    parts += wholes
    if not parts:
        return "(?!)"
    return parts[0] if len(parts) == 1 else f"(?:{'|'.join(parts)})"
