from __future__ import annotations

import pytest

from flintstream.connectors.jdbc.statement import Grammar, Statement
from flintstream.errors import PlanError

POSTGRESQL, MYSQL, SQLITE, STANDARD = Grammar.POSTGRESQL, Grammar.MYSQL, Grammar.SQLITE, Grammar.STANDARD


@pytest.mark.parametrize("grammar", list(Grammar))
@pytest.mark.parametrize(
    ("sql", "arity"),
    [
        ("INSERT INTO t VALUES (?, ?)", 2),
        ("INSERT INTO t VALUES (?,'it''s ?', ?)", 2),
        ('UPDATE "wh?t" SET a = ?', 1),
        ('UPDATE "a""?" SET a = ?', 1),
        ("DELETE FROM t -- really?\nWHERE a = ?", 1),
        ("DELETE FROM t /* really?\n? */ WHERE a = ?", 1),
        ("DELETE FROM t WHERE a = ? -- ?", 1),
        ("DELETE FROM t", 0),
    ],
)
def test_question_marks_of_texts_names_and_comments_are_no_placeholders(grammar, sql, arity):
    assert Statement(sql, grammar).arity == arity
    assert Statement(sql, grammar).render("qmark") == sql


@pytest.mark.parametrize(
    ("grammar", "sql", "arity"),
    [
        (POSTGRESQL, r"INSERT INTO t VALUES (E'\'?', ?)", 1),
        (POSTGRESQL, r"INSERT INTO t VALUES ('\', ?)", 1),
        (MYSQL, r"INSERT INTO t VALUES ('\'?', ?)", 1),
        (MYSQL, r'INSERT INTO t VALUES ("\"?", ?)', 1),
        (SQLITE, r"INSERT INTO t VALUES ('\', ?)", 1),
        (POSTGRESQL, "DO $$ ? ' $$; SELECT ?", 1),
        (POSTGRESQL, "SELECT $tag$ $$ ? $$ ? $tag$, ?", 1),
        (POSTGRESQL, "SELECT a$b, ?, c$b FROM t", 1),
        (POSTGRESQL, "SELECT /* a /* ? */ ? */ ?", 1),
        (STANDARD, "SELECT /* a /* ? */ ?", 1),
        (MYSQL, "SELECT ? # ?\n, `?`, ?", 2),
        (MYSQL, "SELECT 5--?, ?", 2),
        (SQLITE, "SELECT [a?], `b?`, ?", 1),
        (POSTGRESQL, "SELECT a[?]", 1),
    ],
)
def test_databases_differ_in_what_is_a_text_a_name_or_a_comment(grammar, sql, arity):
    assert Statement(sql, grammar).arity == arity


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("UPDATE t SET a = ? WHERE b ?? 'x'", "UPDATE t SET a = %s WHERE b ? 'x'"),
        ("UPDATE t SET a = ?::jsonb WHERE b ??| ? AND c ??& ?", "UPDATE t SET a = %s::jsonb WHERE b ?| %s AND c ?& %s"),
        ("SELECT a ????? ", "SELECT a ??%s "),
    ],
)
def test_two_question_marks_are_an_operator_of_postgresql(sql, expected):
    assert Statement(sql, POSTGRESQL).render("format") == expected


@pytest.mark.parametrize(
    ("paramstyle", "expected"),
    [
        ("qmark", "UPDATE t SET a = ?, b = 5 % 2, c = '%s' WHERE d = ?"),
        ("format", "UPDATE t SET a = %s, b = 5 %% 2, c = '%%s' WHERE d = %s"),
        ("pyformat", "UPDATE t SET a = %s, b = 5 %% 2, c = '%%s' WHERE d = %s"),
        ("numeric", "UPDATE t SET a = :1, b = 5 % 2, c = '%s' WHERE d = :2"),
        ("numeric_dollar", "UPDATE t SET a = $1, b = 5 % 2, c = '%s' WHERE d = $2"),
        ("named", "UPDATE t SET a = :p1, b = 5 % 2, c = '%s' WHERE d = :p2"),
    ],
)
def test_a_driver_gets_placeholders_of_its_own(paramstyle, expected):
    assert Statement("UPDATE t SET a = ?, b = 5 % 2, c = '%s' WHERE d = ?").render(paramstyle) == expected


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("", "must be a str with SQL"),
        (5, "must be a str with SQL"),
        ("SELECT 'a", '"\'a" is not closed'),
        ("SELECT /* a", "is not closed"),
        ("SELECT ?1", "placeholders must not be numbered"),
    ],
)
def test_what_is_no_statement_is_refused(sql, message):
    with pytest.raises(PlanError, match=message):
        Statement(sql, STANDARD)


def test_a_nested_comment_needs_all_its_ends():
    with pytest.raises(PlanError, match="a comment is not closed"):
        Statement("SELECT /* /* */ ?", POSTGRESQL)
