"""Files of changes, JSON with arrays of rows and multisets, and comments in CSV."""

from __future__ import annotations

import json

from tests.table.conformance.registry import BATCH, BOTH, file_table, lines, script

A, B = {"id": 1, "name": "a"}, {"id": 1, "name": "b"}
MESSAGES: dict[str, list[object]] = {
    "debezium-json": [
        {"before": None, "after": A, "op": "c"}, {"after": {"id": 2, "name": "x"}, "op": "r"},
        {"before": A, "after": B, "op": "u"}, {"before": B, "after": None, "op": "d"},
    ],
    "canal-json": [
        {"type": "INSERT", "data": [{"id": "1", "name": "a"}, {"id": "2", "name": None}], "old": None},
        {"type": "UPDATE", "data": [B], "old": [{"name": "a"}]}, {"type": "DELETE", "data": [B]},
        {"type": "CREATE", "data": None, "isDdl": True},
    ],
    "maxwell-json": [
        {"type": "insert", "data": A}, {"type": "update", "data": B, "old": {"name": "a"}}, {"type": "delete", "data": B},
    ],
    "ogg-json": [
        {"after": A, "op_type": "I"}, {"before": A, "after": B, "op_type": "U"}, {"before": B, "op_type": "D"},
    ],
}  # fmt: skip
ODD: dict[str, list[object]] = {
    "debezium-json": [
        {"op": "c"}, {"op": "r", "after": {"id": 1}}, {"op": "t"}, {"op": "u", "after": {"id": 1}},
        {"op": "u", "before": {"id": 1}}, {"op": "d", "before": None}, {"after": {"id": 1}},
        {"schema": {}, "payload": {"op": "c", "after": {"id": 1}}}, {"op": "c", "after": {"id": 1}, "before": {"id": 5}},
        {"op": "c", "after": [1]}, {"op": "c", "after": {"id": "x"}}, 5, {},
    ],
    "canal-json": [
        {"type": "QUERY", "data": [{"id": 1}]}, {"type": "ALTER"}, {"type": "INSERT", "data": [{"id": 1}], "isDdl": True},
        {"type": "insert", "data": [{"id": 1}]}, {"type": "INSERT", "data": None},
        {"type": "UPDATE", "data": [{"id": 1}], "old": None},
        {"type": "UPDATE", "data": [{"id": 1, "name": "x"}], "old": [{"name": None}]},
        {"type": "UPDATE", "data": [{"id": 1}, {"id": 2}], "old": [{"id": 3}]}, {"data": [{"id": 1}]},
        {"type": "INSERT", "data": []}, {"type": "INSERT", "data": [{"id": 1}, None]},
        {"type": "DELETE", "data": [{"id": "x"}]},
    ],
    "maxwell-json": [
        {"type": "bootstrap-insert", "data": {"id": 1}}, {"type": "bootstrap-start", "data": {}},
        {"type": "table-create"}, {"type": "insert", "data": None},
        {"type": "update", "data": {"id": 1, "name": "x"}, "old": {"name": None}},
        {"type": "update", "data": {"id": 1, "name": "x"}, "old": None},
        {"type": "update", "data": {"id": 1, "name": "x"}, "old": {}}, {"type": "delete", "data": {"id": 1}, "old": {"id": 2}},
    ],
    "ogg-json": [
        {"op_type": "T", "after": {"id": 1}}, {"op_type": " I ", "after": {"id": 1}}, {"op_type": "U", "after": {"id": 1}},
        {"op_type": "U", "before": {"id": 1}}, {"op_type": "D", "before": None}, {"after": {"id": 1}}, {"op_type": "I"},
    ],
}  # fmt: skip


def of(name: str, file: str, form: str, columns: str = "id INT, name STRING", more: str = "") -> str:
    """Return the statement that declares a table of a file."""
    return file_table(name, columns, more, file=file, form=form)


def written(file: str) -> str:
    """Return statements that read the lines of a file."""
    return f"\n{of(f'r{file}', file, 'raw', 'line STRING')}\nSELECT * FROM r{file};\n"


for form, messages in MESSAGES.items():
    name = form.replace("-", "_")
    script(
        f"files_of_{name}",
        lines("f", *map(json.dumps, messages)) + f"""
{of("a", "f", form)}
SELECT * FROM a;
SELECT COUNT(*) FROM a;
SELECT name, COUNT(*) FROM a GROUP BY name;
{of("p", "f", form, "id INT, name STRING, PRIMARY KEY (id) NOT ENFORCED")}
SELECT * FROM p;
{of("m", "f", form, "id INT, name STRING, s STRING METADATA FROM 'table' VIRTUAL")}
SELECT * FROM m;
{of("n", "f", form, "id INT, s BIGINT METADATA FROM 'file.size' VIRTUAL, name STRING")}
SELECT id, s > 0, name FROM n;
{of("o", "o", form)}
INSERT INTO o SELECT * FROM a;
SELECT * FROM o;
{written("o")}
{of("q", "q", form)}
INSERT INTO q SELECT id, CAST(COUNT(*) AS STRING) FROM a GROUP BY id;
{written("q")}
CREATE TABLE parts (id INT, d STRING, name STRING) PARTITIONED BY (d) WITH ('connector' = 'filesystem', 'path' = '{{directory}}/parts', 'format' = '{form}');
INSERT INTO parts SELECT id, 'x', name FROM a;
SELECT * FROM parts;
INSERT OVERWRITE o SELECT 5, 'z';
""" + lines("g", "", json.dumps(messages[0]), "[]", "no json", json.dumps(messages[0])) + f"""
{of("wrong", "g", form)}
SELECT * FROM wrong;
{of("ignored", "g", form, more=f", '{form}.ignore-parse-errors' = 'true'")}
SELECT * FROM ignored;
""",
        modes=BOTH,
    )  # fmt: skip
    script(
        f"odd_messages_of_{name}",
        "".join(
            lines(f"f{i}", json.dumps(message)) + f"""
{of(f"a{i}", f"f{i}", form)}
SELECT * FROM a{i};
{of(f"b{i}", f"f{i}", form, more=f", '{form}.ignore-parse-errors' = 'true'")}
SELECT * FROM b{i};"""
            for i, message in enumerate(ODD[form])
        ),
    )  # fmt: skip

JSON_OPTIONS = (
    "",
    ", 'json.ignore-parse-errors' = 'true'",
    ", 'json.decode.json-parser.enabled' = 'false'",
    ", 'json.decode.json-parser.enabled' = 'false', 'json.ignore-parse-errors' = 'true'",
)
ARRAYS = (
    '[{"id":1,"name":"a"},{"id":2,"name":"b"}]', '[{"id":1}]', "[]", '[{"id":1},5]', '[{"id":1},null,{"id":2}]',
    '[{"id":1},[{"id":7}]]', '[{"id":1},{"id":"x","name":"q"},{"id":4}]', "[5]", "[null]",
    '[{"id":1},{"id":2}] {"id":9}',
)  # fmt: skip
script(
    "json_with_several_rows",
    "".join(
        lines(f"f{i}", text, '{"id":3}') + "".join(
            f"\n{of(f'a{i}_{j}', f'f{i}', 'json', more=more)}\nSELECT * FROM a{i}_{j};"
            for j, more in enumerate(JSON_OPTIONS)
        )
        for i, text in enumerate(ARRAYS)
    ),
)  # fmt: skip
script(
    "multisets_in_json",
    lines("f", '{"m":{"a":2,"b":1},"id":1}', '{"m":{"a":"2","b":null},"id":2}', '{"m":null}', '{"m":{"a":-1,"b":0}}') + f"""
{of("a", "f", "json", "id INT, m MULTISET<STRING>")}
SELECT * FROM a;
{of("b", "f", "json", "id INT, m MULTISET<INT>")}
SELECT * FROM b;
{of("o", "o", "json", "m MULTISET<STRING>, n INT")}
INSERT INTO o SELECT COLLECT(x), y FROM (VALUES ('a', 1), ('a', 1), ('b', 1), (CAST(NULL AS STRING), 2)) AS t(x, y) GROUP BY y;
SELECT * FROM o;
{written("o")}
{of("q", "q", "json", "m MULTISET<INT>, n INT")}
INSERT INTO q SELECT COLLECT(x), y FROM (VALUES (1, 1), (1, 1)) AS t(x, y) GROUP BY y;
""",
    modes=BATCH,
    order="multiset",
)  # fmt: skip
COMMENTS = (
    ("1,a", "#x,y", "2,b"), ("#x", "1,a"), ("1,a", "#x"), ("1,a", " #x,1", "2,#b", "#,", '"#q",3'),
    ("1,a", "#x", "#y", "", "3,c"), ("#a",), ("", "1,a", " ", "2,b"),
)  # fmt: skip
script(
    "comments_in_csv",
    "".join(
        lines(f"f{i}", *texts) + "".join(
            f"\n{of(f'a{i}_{j}', f'f{i}', 'csv', more=more)}\nSELECT * FROM a{i}_{j};"
            for j, more in enumerate((
                ", 'csv.allow-comments' = 'true'", "", ", 'csv.allow-comments' = 'true', 'csv.ignore-parse-errors' = 'true'",
            ))
        )
        for i, texts in enumerate(COMMENTS)
    ),
)  # fmt: skip
