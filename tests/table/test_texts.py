"""Texts in statements: codes of characters, texts over several lines, and comments of fields."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("sqlglot", reason="the extra 'table' is not installed: make setup")

from flintstream.table import EnvironmentSettings, TableEnvironment
from flintstream.table._errors import SqlError
from flintstream.table._sql.dialect import Tokens

RECORDED = {
    r"U&'\0041b'": "Ab",
    r"u&'\0041'": "A",
    r"U&'!0041b' UESCAPE '!'": "Ab",
    r"U&'\\x'": "\\x",
    r"U&'!!x' UESCAPE '!'": "!x",
    r"U&'\+01F600'": "\x1f600",
    r"U&'\D83D\DE00'": "\U0001f600",
    r"U&'\00e9' || U&'\00E9'": "éé",
    r"U&'a' UESCAPE '\'": "a",
    r"U&'\00411'": "A1",
    "U&'\\0041\n\\0042'": "A\nB",
    "'a'\n'b'": "ab",
    "'a' -- c\n'b'": "ab",
    "U&'\\0041'\n'\\0042'": "AB",
    "U&'!0041'\n'!0042' UESCAPE '!'": "AB",
    "_UTF16'a'\n'b'": "ab",
    "'it''s' || U&'it''s'": "it'sit's",
    "U&''": "",
    "CHAR_LENGTH(U&'\\0041bc')": 3,
    "'a' LIKE U&'\\0041'": False,
    "'A' LIKE 'x_' ESCAPE U&'\\0078'": False,
    "JSON_VALUE(U&'{\"a\":1}', U&'$.a')": "1",
    "TRIM(U&'\\0041' FROM 'AbA')": "b",
    "'A' IN (U&'\\0041', 'b'\n'c')": True,
    "CAST(U&'\\0031' AS INT)": 1,
    "ARRAY[U&'\\0041','b'\n'c']": ["A", "bc"],
    "MAP[U&'\\0041','b'\n'c']": {"A": "bc"},
    "CASE U&'\\0041' WHEN 'A' THEN U&'\\0042' END": "B",
    r"e'a\tb\nc\rd\be\ff'": "a\tb\nc\rd\be\ff",
    r"E'\x41\u0042\103\q\\'": "ABC\\q\\",
    r"E'\7\77\x4'": "\\7\\77\x04",
    "E'it''s'": "it's",
    "CAST(NULL AS ROW<a INT 'x'>)": None,
    "TYPEOF(CAST(ROW(1) AS ROW<a INT 'x'>))": "ROW<`a` INT> NOT NULL",
}
"""Values of expressions in PyFlink 2.3."""

REFUSED = {
    r"U&'\41'": "code of a character",
    r"U&'!41' UESCAPE '!'": "code of a character",
    "U&'a' UESCAPE 'ab'": "one character",
    "U&'a' UESCAPE '+'": "one character",
    "U&'a' UESCAPE 'a'": "one character",
    "U&'a' UESCAPE '1'": "one character",
    "U&'a' UESCAPE ' '": "one character",
    "'a' UESCAPE '!'": "begins with U&",
    "'a' 'b'": "same line",
    "'a'\n'b' 'c'": "same line at line 2, column 5",
    "'a' /* c */ 'b'": "same line",
    "CAST(NULL AS ROW<a INT, a STRING>)": "'a' twice",
}


@pytest.fixture(scope="module")
def t_env():
    t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    t_env.get_config().set("flintstream.engine", "inline")
    return t_env


@pytest.mark.parametrize("expression", RECORDED)
def test_texts_are_read_as_flink_reads_them(t_env, expression):
    with t_env.execute_sql(f"SELECT {expression}").collect() as rows:
        assert [row[0] for row in rows] == [RECORDED[expression]]


@pytest.mark.parametrize("expression", REFUSED)
def test_what_flink_refuses_is_refused(t_env, expression):
    with pytest.raises(SqlError, match=REFUSED[expression]):
        t_env.execute_sql(f"SELECT {expression}")


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=12), st.data())
def test_a_text_with_codes_and_lines_is_the_text_itself(text, data):
    escape = data.draw(st.sampled_from("\\!#?é"), "the escape character")
    pieces = [""]
    for character in text:
        if data.draw(st.booleans(), "in the next line"):
            pieces.append("")
        units = character.encode("utf-16-be").hex()
        codes = "".join(escape + units[i : i + 4] for i in range(0, len(units), 4))
        plain = character.replace(escape, escape * 2).replace("'", "''")
        pieces[-1] += codes if data.draw(st.booleans(), "as codes") else plain
    written = "U&" + "\n".join(f"'{piece}'" for piece in pieces) + f" UESCAPE '{escape}'"
    assert Tokens(f"SELECT {written} AS x").all[1].text == text
    assert Tokens(f"WITH ({written} = {written})").peek(2) == f"'{text}'"


def test_options_and_hints_take_any_text(t_env):
    t_env.execute_sql(
        "CREATE TABLE numbers (n INT) WITH (U&'\\0063onnector' = U&'!0064ata' UESCAPE '!', 'number-of-'\n'rows' = U&'1')".replace(
            "'!0064ata'", "'!0064ata'\n'gen'"
        )
    )
    query = "SELECT COUNT(*) FROM numbers /*+ OPTIONS('number-of-rows' = U&'\\0033') */"
    with t_env.execute_sql(query).collect() as rows:
        assert [row[0] for row in rows][-1] == 3


@pytest.mark.parametrize(
    ("written", "described"),
    [
        ("ROW<a INT 'x'>", "ROW<`a` INT>"),
        ("ROW<a INT COMMENT 'x'>", "ROW<`a` INT>"),
        ("ROW(a INT 'x')", "ROW<`a` INT>"),
        ("ROW<a INT NOT NULL 'the a', b MAP<STRING, INT>>", "ROW<`a` INT NOT NULL, `b` MAP<STRING, INT>>"),
        (
            "ROW<a ROW<b INT 'i'> 'o', c ARRAY<ROW<d INT 'it''s'>> 'q'>",
            "ROW<`a` ROW<`b` INT>, `c` ARRAY<ROW<`d` INT>>>",
        ),
        ("MAP<STRING, ROW<a INT 'x'>>", "MAP<STRING, ROW<`a` INT>>"),
        ("ROW<a INT NULL 'x'>", "ROW<`a` INT>"),
        ("ROW<>", "ROW<>"),
    ],
)
def test_fields_of_rows_have_comments(t_env, written, described):
    t_env.execute_sql(f"CREATE TEMPORARY TABLE t (r {written}) WITH ('connector' = 'blackhole')")
    try:
        with t_env.execute_sql("DESCRIBE t").collect() as rows:
            assert [row[1] for row in rows] == [described]
    finally:
        t_env.execute_sql("DROP TEMPORARY TABLE t")
