"""Sinks whose columns, or parts of them, are NOT NULL or have a length."""

from __future__ import annotations

from tests.table.conformance.registry import BOTH, file_table, script

ROWS = "(VALUES (1, 'abc'), (2, CAST(NULL AS STRING)), (3, 'x')) AS v (i, s)"
NESTED = (
    ("ROW<x STRING NOT NULL, y INT>", "ROW(s, 1)"),
    ("ARRAY<STRING NOT NULL>", "ARRAY[s]"),
    ("MAP<STRING, STRING NOT NULL>", "MAP['k', s]"),
    ("ROW<x ROW<z STRING NOT NULL>>", "ROW(ROW(s))"),
    ("ARRAY<ROW<z STRING NOT NULL>>", "ARRAY[ROW(s)]"),
    ("ROW<a ARRAY<STRING NOT NULL>>", "ROW(ARRAY[s])"),
    ("ROW<x VARCHAR(2) NOT NULL, y VARBINARY(1)>", "ROW(s, CAST(X'0102' AS BYTES))"),
)


def of(name: str, columns: str) -> str:
    """Return the statement that declares a table of a file with its name."""
    return file_table(name, columns, file=name, form="json")


for nulls in ("ERROR", "DROP"):
    for within, lengths in (
        ("ROWS", "IGNORE"), ("ROWS_AND_COLLECTIONS", "IGNORE"), ("ROWS_AND_COLLECTIONS", "ERROR"),
        ("ROWS_AND_COLLECTIONS", "TRIM_PAD"),
    ):  # fmt: skip
        if nulls == "DROP" or lengths == "IGNORE":
            script(
                f"not_null_within_{within}_{nulls}_{lengths}".lower(),
                "".join(
                    f"\n{of(f't{i}', f'i INT, r {kind}')}\nINSERT INTO t{i} SELECT i, {value} FROM {ROWS};\nSELECT * FROM t{i};"
                    for i, (kind, value) in enumerate(NESTED)
                ),
                config={
                    "table.exec.sink.not-null-enforcer": nulls,
                    "table.exec.sink.nested-constraint-enforcer": within,
                    "table.exec.sink.type-length-enforcer": lengths,
                },
            )  # fmt: skip
    script(
        f"not_null_columns_of_sinks_{nulls}".lower(),
        f"""
{of("a", "i INT, s STRING NOT NULL")}
INSERT INTO a SELECT * FROM {ROWS};
SELECT * FROM a;
{of("b", "i INT NOT NULL, s STRING")}
INSERT INTO b (s) VALUES ('x');
INSERT INTO b (s) SELECT s FROM {ROWS};
INSERT INTO b SELECT CAST(NULL AS INT), s FROM {ROWS};
INSERT INTO b SELECT NULLIF(i, 2), s FROM {ROWS};
INSERT INTO b SELECT * FROM {ROWS} WHERE i = 1;
INSERT INTO b (i) VALUES (5);
SELECT * FROM b;
{of("c", "i INT, s STRING, PRIMARY KEY (i) NOT ENFORCED")}
INSERT INTO c (s) VALUES ('x');
INSERT INTO c SELECT NULLIF(i, 2), s FROM {ROWS};
INSERT INTO c VALUES (1, 'x');
SELECT * FROM c;
""",
        modes=BOTH,
        order="multiset",
        config={"table.exec.sink.not-null-enforcer": nulls},
    )
