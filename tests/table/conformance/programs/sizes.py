"""Statements as large as programs generate them."""

from tests.table.conformance.registry import BOTH, script

TABLE = "CREATE VIEW v AS SELECT * FROM (VALUES (1, 'a'), (7, 'b'), (CAST(NULL AS INT), 'c')) AS t (n, s)"


def _nested(before: str, inner: str, after: str, levels: int = 150) -> str:
    return before * levels + inner + after * levels


EXPRESSIONS = (
    "CASE " + " ".join(f"WHEN n = {i} THEN {i * 2}" for i in range(120)) + " ELSE -1 END",
    _nested("CASE WHEN n = 0 THEN 0 ELSE ", "n", " END", 60),
    _nested("(", "n", ")"),
    _nested("(1 + ", "n", ")"),
    _nested("(n = 1 OR ", "n = 7", ")", 60),
    _nested("ABS(", "n", ")", 60),
    " + ".join(["n"] * 200),
    "CHAR_LENGTH(" + " || ".join(["s"] * 100) + ")",
    f"n IN ({', '.join(map(str, range(2, 402)))})",
    f"n NOT IN ({', '.join(map(str, range(2, 402)))})",
    f"n IN (7.5, {', '.join(map(str, range(7, 100)))})",
    f"s IN ({', '.join(repr(f't{i}') for i in range(100))}, 'b')",
    " OR ".join(f"n = {i}" for i in range(2, 302)),
    " AND ".join(f"n <> {i}" for i in range(2, 302)),
    f"COALESCE({'CAST(NULL AS INT), ' * 100}n, 9)",
)

# PyFlink joins with the values of a long IN, after which rows come in another order.
script(
    "large_statements",
    ";\n".join([TABLE, *(f"SELECT {item} AS x FROM v" for item in EXPRESSIONS)]) + ";",
    modes=BOTH,
    order="multiset",
)
