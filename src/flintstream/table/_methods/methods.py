"""The functions of expressions by the names of their methods, with those of SQL.

A line is ``method FUNCTION(parameter, ...)``, or without parentheses for a property. A parameter with ``?`` is left out
if it is None, and ``*`` takes any number.
"""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

_FUNCTIONS = """
abs ABS
acos ACOS
array_append ARRAY_APPEND(addition)
array_concat ARRAY_CONCAT(*arrays)
array_contains ARRAY_CONTAINS(needle)
array_distinct ARRAY_DISTINCT()
array_except ARRAY_EXCEPT(array)
array_intersect ARRAY_INTERSECT(array)
array_join ARRAY_JOIN(delimiter, null_replacement?)
array_max ARRAY_MAX()
array_min ARRAY_MIN()
array_position ARRAY_POSITION(needle)
array_prepend ARRAY_PREPEND(addition)
array_remove ARRAY_REMOVE(needle)
array_reverse ARRAY_REVERSE()
array_slice ARRAY_SLICE(start_offset, end_offset?)
array_sort ARRAY_SORT(ascending_order?, null_first?)
array_union ARRAY_UNION(array)
ascii ASCII
asin ASIN
atan ATAN
bin BIN
bitmap_and BITMAP_AND(bitmap2)
bitmap_andnot BITMAP_ANDNOT(bitmap2)
bitmap_build BITMAP_BUILD()
bitmap_cardinality BITMAP_CARDINALITY()
bitmap_from_bytes BITMAP_FROM_BYTES()
bitmap_or BITMAP_OR(bitmap2)
bitmap_to_array BITMAP_TO_ARRAY()
bitmap_to_bytes BITMAP_TO_BYTES()
bitmap_to_string BITMAP_TO_STRING()
bitmap_xor BITMAP_XOR(bitmap2)
btrim BTRIM(trim_str?)
cardinality CARDINALITY
char_length CHAR_LENGTH
chr CHR
concat CONCAT(other)
cos COS
cosh COSH
cot COT
decode DECODE(charset)
degrees DEGREES
element ELEMENT
elt ELT(expr, *exprs)
encode ENCODE(charset)
end END
ends_with ENDSWITH(end_expr)
exp EXP
flatten FLATTEN
from_base64 FROM_BASE64
hex HEX
if_null IFNULL(null_replacement)
inet_aton INET_ATON()
inet_ntoa INET_NTOA()
init_cap INITCAP
instr INSTR(s)
is_false IS FALSE
is_not_false IS NOT FALSE
is_not_null IS NOT NULL
is_not_true IS NOT TRUE
is_null IS NULL
is_true IS TRUE
json_quote JSON_QUOTE()
json_unquote JSON_UNQUOTE()
left LEFT(length)
ln LN
locate LOCATE(s, pos?)
log10 LOG10
log2 LOG2
lower_case LOWER
lpad LPAD(length, pad)
ltrim LTRIM(trim_str?)
map_entries MAP_ENTRIES
map_keys MAP_KEYS
map_union MAP_UNION(*maps)
map_values MAP_VALUES
md5 MD5
overlay OVERLAY(new_string, starting, length?)
parse_url PARSE_URL(part_to_extract, key?)
position POSITION(haystack)
object_update OBJECT_UPDATE(*kv)
power POWER(exponent)
printf PRINTF(*obj)
proctime PROCTIME
radians RADIANS
regexp REGEXP(regex)
regexp_count REGEXP_COUNT(regex)
regexp_extract REGEXP_EXTRACT(regex, extract_index?)
regexp_extract_all REGEXP_EXTRACT_ALL(regex, extract_index?)
regexp_instr REGEXP_INSTR(regex)
regexp_replace REGEXP_REPLACE(regex, replacement)
regexp_substr REGEXP_SUBSTR(regex)
repeat REPEAT(n)
replace REPLACE(search, replacement)
reverse REVERSE
right RIGHT(length)
round ROUND(places)
rowtime ROWTIME
rpad RPAD(length, pad)
rtrim RTRIM(trim_str?)
sha1 SHA1
sha2 SHA2(hash_length)
sha224 SHA224
sha256 SHA256
sha384 SHA384
sha512 SHA512
sign SIGN
similar SIMILAR TO(pattern)
sin SIN
sinh SINH
split SPLIT(delimiter)
split_index SPLIT_INDEX(separator, index)
sqrt SQRT
start START
starts_with STARTSWITH(start_expr)
str_to_map STR_TO_MAP(list_delimiter?, key_value_delimiter?)
substr SUBSTR(begin_index, length?)
substring SUBSTRING(begin_index, length?)
tan TAN
tanh TANH
to_base64 TO_BASE64
translate TRANSLATE(from_str, to_str)
truncate TRUNCATE(n?)
unhex UNHEX
upper_case UPPER
url_decode URL_DECODE()
url_encode URL_ENCODE()
"""
AGGREGATES = {
    "sum": "SUM", "sum0": "SUM0", "count": "COUNT", "avg": "AVG", "min": "MIN", "max": "MAX", "collect": "COLLECT",
    "first_value": "FIRST_VALUE", "last_value": "LAST_VALUE", "stddev_pop": "STDDEV_POP", "stddev_samp": "STDDEV_SAMP",
    "var_pop": "VAR_POP", "var_samp": "VAR_SAMP", "array_agg": "ARRAY_AGG",
}  # fmt: skip
"""Aggregate functions; all are properties."""

CALLED_AGGREGATES = {
    f"bitmap_{kind}{size}_agg": f"BITMAP_{kind.upper()}{size.upper()}_AGG"
    for kind in ("build", "and", "or", "xor")
    for size in ("", "_cardinality")
}
"""Aggregate functions that are methods."""


class Method(NamedTuple):
    """A function of expressions."""

    name: str
    """That of SQL."""
    parameters: tuple[str, ...] | None
    """None for a property."""

    def bind(self, called: str, given: Sequence[object], named: Mapping[str, object]) -> list[object]:
        """Return the arguments in order.

        Raises:
            TypeError: They do not fit the parameters.
        """
        parameters = self.parameters or ()
        words = [parameter.strip("?") for parameter in parameters if parameter[0] != "*"]
        left = dict(named)
        rest = [left.pop(word) for word in words[len(given) :] if word in left]
        required = sum(parameter[-1] != "?" and parameter[0] != "*" for parameter in parameters)
        found = [*given, *rest]
        too_many = len(found) > len(words) and not any(parameter[0] == "*" for parameter in parameters)
        if left or too_many or len(found) < required:
            raise TypeError(f"{called}() takes ({', '.join(parameters)})")
        while len(found) > required and found[-1] is None:
            found.pop()
        return found


def _read() -> dict[str, Method]:
    found: dict[str, Method] = {}
    for line in _FUNCTIONS.strip().splitlines():
        name, _, function = line.partition(" ")
        sql, bracket, parameters = function.rstrip(")").partition("(")
        words = tuple(part.strip() for part in parameters.split(",") if part.strip())
        found[name] = Method(sql, words if bracket else None)
    return found


METHODS = _read()


def method_of(name: str, make: Callable[..., object], this: object) -> Any:
    """Return the value of a property, or the method to be called; None if there is no such function.

    Args:
        name: The name of the method.
        make: Returns an expression for the name of a function and its arguments.
        this: The expression that the method belongs to.
    """
    method = METHODS.get(name)
    if method is None:
        return None
    if method.parameters is None:
        return make(method.name, this)

    def call(*given: object, **named: Any) -> Any:
        return make(method.name, this, *method.bind(name, given, named))

    return call


def without_none(*arguments: object) -> list[Any]:
    """Return the arguments up to the first None, which stands for one that is left out."""
    return list(takewhile(lambda argument: argument is not None, arguments))
