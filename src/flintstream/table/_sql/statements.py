"""Statements: each kind is one method, chosen by its first words."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flintstream.common._text.secrets import hide_secrets
from flintstream.common._types import data_types as t
from flintstream.options.tables import DIALECT
from flintstream.table._analyzer.queries import QueryPlanner
from flintstream.table._catalog.declared import DeclaredTable, View
from flintstream.table._deep_stack import deep
from flintstream.table._errors import SqlError, at, nearest, unsupported
from flintstream.table._expressions.casts import cast
from flintstream.table._expressions.expr import Column, Const, Ref
from flintstream.table._expressions.pattern_helpers import like
from flintstream.table._expressions.resolver import Item
from flintstream.table._logical.nodes import explain_lines
from flintstream.table._logical.planned import PlannedQuery
from flintstream.table._plan.build import calc, rename
from flintstream.table._session.inserts import CONFLICTS, Insert
from flintstream.table._sql.alter import alter
from flintstream.table._sql.answers import DONE, Answer
from flintstream.table._sql.catalogs import (
    alter_database,
    create_catalog,
    create_database,
    describe_catalog,
    load_module,
    show,
    unload_module,
    use_modules,
)
from flintstream.table._sql.clauses import refuse_words
from flintstream.table._sql.ddl import create_table, expect_end, names_in_parentheses
from flintstream.table._sql.dialect import Parsed, Tokens
from flintstream.table._sql.queries import read_query
from flintstream.table._sql.show_create import show_create
from flintstream.table._types.rules import is_nullable, sql_name, text_type

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flintstream.table._expressions.expr import Expr
    from flintstream.table._logical.nodes import Node
    from flintstream.table._session.inserts import ConflictStrategy
    from flintstream.table._session.session import Session

_QUERIES = ("SELECT", "WITH", "VALUES", "TABLE", "(")

_PLANNED = {
    "ANALYZE": "plans do not depend on statistics",
    "CALL": "call the function in the program",
    "COMPILE": "plans are made when a statement runs",
    "DELETE": "send changes to a sink that takes them, such as jdbc",
    "RESET": "set the option to its default",
    "TRUNCATE": "empty the table in its database, or remove its files",
    "UPDATE": "send changes to a sink that takes them, such as jdbc",
}
"""Statements of Flink that are not there, and what to do instead."""


@dataclass(frozen=True)
class InsertSet:
    """Inserts of one job."""

    inserts: tuple[Insert, ...]


@deep
def planned_query(session: Session, sql: str) -> PlannedQuery:
    """Return the plan of a query, which follows the settings of the session.

    Raises:
        SqlError: It is not a query, or a wrong one.
    """
    tokens = Tokens(sql)
    if tokens.peek() not in _QUERIES:
        raise SqlError(f"sql_query() needs a query, but got {tokens.peek()}: use execute_sql() for other statements")
    return _plan_query(session, tokens)


def _planner(session: Session, tokens: Tokens, columns: Sequence[str] = ()) -> Callable[[], Node]:
    """Return what plans the query at the cursor, perhaps with other names for its columns.

    Names of tables mean what they mean now, whatever the current database is later.
    """
    refuse_words(tokens)
    syntax = read_query(Parsed(tokens.sql, tokens.rest()), session.catalog.functions)

    catalog = session.catalog
    place = catalog.catalog, catalog.database

    def plan() -> Node:
        here = catalog.catalog, catalog.database
        catalog.catalog, catalog.database = place
        try:
            node = QueryPlanner(session.settings, session.scope(()), session.table).plan(syntax)
        finally:
            catalog.catalog, catalog.database = here
        return rename(node, list(columns)) if columns else node

    return plan


def _plan_query(session: Session, tokens: Tokens, columns: Sequence[str] = ()) -> PlannedQuery:
    plan = _planner(session, tokens, columns)
    return PlannedQuery(plan(), session.settings, lambda: session.settings, plan)


def _query(session: Session, tokens: Tokens) -> Node:
    return _planner(session, tokens)()


def _conflict(tokens: Tokens) -> ConflictStrategy | None:
    """Cut ``ON CONFLICT DO ...`` off the end of a statement, and return what it does."""
    words = [str(token.text).upper() for token in tokens.all]
    start = next((i for i in range(tokens.position, len(words)) if words[i : i + 2] == ["ON", "CONFLICT"]), -1)
    if start < 0:
        return None
    clause = copy(tokens)
    clause.position = start + 2
    clause.expect("DO")
    place, word = clause.place(), clause.next().upper()
    known = CONFLICTS.get(word)
    if known is None:
        raise SqlError(f"ON CONFLICT DO {word}{at(place)}: use DO {', DO '.join(CONFLICTS)}")
    expect_end(clause)
    tokens.all = tokens.all[:start]
    return known


class Statements:
    """Runs or plans the statements of a session."""

    def __init__(self, session: Session) -> None:
        self.session = session

    @deep
    def run(self, sql: str) -> Node | Insert | InsertSet | Answer:
        """Return the plan of a query, what to insert, or the answer of another statement.

        Raises:
            SqlError: The statement is wrong, or not supported.
        """
        tokens = Tokens(sql)
        word = tokens.peek()
        if self.session.settings.value(DIALECT) == "hive":
            raise unsupported("the dialect of Hive", None, "set table.sql-dialect to default")
        if word in _QUERIES:
            return _query(self.session, tokens)
        method = getattr(self, f"_{word.lower()}", None)
        if method is None and word in _PLANNED:
            raise unsupported(word, tokens.place(), _PLANNED[word])
        if method is None:
            known = [name[1:].upper() for name in dir(self) if name[0] == "_" and name[1] != "_"]
            raise SqlError(f"unknown statement {word} at {tokens.place()}{nearest(word, [*known, 'SELECT'])}")
        tokens.next()
        answer: Node | Insert | InsertSet | Answer = method(tokens)
        return answer

    def _execute(self, tokens: Tokens) -> InsertSet:
        """Read ``EXECUTE STATEMENT SET BEGIN INSERT ...; INSERT ...; END``."""
        tokens.expect("STATEMENT", "SET", "BEGIN")
        inserts: list[Insert] = []
        while not tokens.take("END"):
            one = tokens.statement()
            one.expect("INSERT")
            inserts.append(self._insert(one))
        expect_end(tokens)
        if not inserts:
            raise SqlError("a statement set needs an INSERT")
        return InsertSet(tuple(inserts))

    def _alter(self, tokens: Tokens) -> Answer:
        if tokens.take("DATABASE"):
            alter_database(self.session.catalog, tokens)
            return DONE
        made = alter(self.session.catalog, tokens)
        if made is not None:
            path, table = made
            self.session.columns_of(path[-1], table)
            self.session.catalog.put(path, table)
        return DONE

    def _create(self, tokens: Tokens) -> Answer:
        replace = tokens.take("OR", "REPLACE")
        temporary = tokens.take("TEMPORARY")
        catalog = self.session.catalog
        if tokens.take("TABLE"):
            name, table, lenient = create_table(tokens, catalog.find)
            self.session.columns_of(name[-1], table)
            catalog.add(name, table, replace=replace, lenient=lenient, temporary=temporary)
        elif tokens.take("VIEW"):
            lenient = tokens.take("IF", "NOT", "EXISTS")
            name = tokens.path()
            columns = names_in_parentheses(tokens) if tokens.peek() == "(" else ()
            comment = tokens.text() if tokens.take("COMMENT") else None
            tokens.expect("AS")
            planned = _plan_query(self.session, tokens, columns)
            view = View(planned, tokens.sql, comment)
            catalog.add(name, view, replace=replace, lenient=lenient, temporary=temporary)
        elif tokens.peek() in {"FUNCTION", "SYSTEM"}:
            tokens.take("SYSTEM")
            self._create_function(tokens)
        elif tokens.take("CATALOG"):
            create_catalog(catalog, tokens)
        elif tokens.take("DATABASE"):
            create_database(catalog, tokens)
        else:
            what = f"CREATE {'TEMPORARY ' if temporary else ''}{tokens.peek()}"
            raise unsupported(what, tokens.place(), "use CREATE TABLE, VIEW, FUNCTION, DATABASE or CATALOG")
        return DONE

    def _create_function(self, tokens: Tokens) -> None:
        from flintstream.table.udf import function_at

        tokens.expect("FUNCTION")
        tokens.take("IF", "NOT", "EXISTS")
        name = tokens.path()
        tokens.expect("AS")
        place, path = tokens.place(), tokens.text()
        language = tokens.next().upper() if tokens.take("LANGUAGE") else "JAVA"
        if language != "PYTHON":
            raise unsupported(
                f"LANGUAGE {language}", place, "write the function in Python, and declare LANGUAGE PYTHON"
            )
        expect_end(tokens)
        self.session.catalog.functions[name[-1].lower()] = function_at(path)

    def _drop(self, tokens: Tokens) -> Answer:
        catalog, temporary = self.session.catalog, tokens.take("TEMPORARY")
        tokens.take("SYSTEM")
        place, what = tokens.place(), tokens.next().upper()
        lenient = tokens.take("IF", "EXISTS")
        name = tokens.path()
        cascade = what == "DATABASE" and (tokens.take("CASCADE") or (tokens.take("RESTRICT") and False))
        expect_end(tokens)
        if what == "DATABASE":
            catalog.drop_database(name, lenient=lenient, cascade=cascade)
        elif what == "CATALOG":
            catalog.drop_catalog(name[-1], lenient=lenient)
        elif what == "FUNCTION":
            if catalog.functions.pop(name[-1].lower(), None) is None and not lenient:
                raise SqlError(f"Function '{name[-1]}' does not exist{nearest(name[-1], catalog.functions)}")
        elif what in {"TABLE", "VIEW"}:
            kind = View if what == "VIEW" else DeclaredTable
            catalog.drop(name, kind, lenient=lenient, temporary=temporary)
        else:
            raise unsupported(f"DROP {what}", place, "use DROP TABLE, VIEW, FUNCTION, DATABASE or CATALOG")
        return DONE

    def _insert(self, tokens: Tokens) -> Insert:
        if tokens.peek() == "OVERWRITE":
            raise unsupported("INSERT OVERWRITE", tokens.place(), "remove the files first")
        tokens.expect("INTO")
        place, name = tokens.place(), tokens.path()
        self.session.catalog.find(name, place)
        if any(hint.options for hint in tokens.hints()):
            raise unsupported("the hint OPTIONS of INSERT", place, "write the options into CREATE TABLE")
        fixed = self._partition(tokens, name) if tokens.take("PARTITION") else {}
        columns = names_in_parentheses(tokens) if tokens.peek() == "(" and tokens.peek(1) not in _QUERIES else ()
        twice = next((column for column in columns if columns.count(column) > 1), None)
        if twice is not None:
            raise SqlError(f"INSERT INTO {'.'.join(name)}{at(place)} names column '{twice}' twice")
        conflict = _conflict(tokens)
        node = _query(self.session, tokens)
        if not fixed:
            return Insert(node, name, columns, conflict)
        table = self.session.catalog.find(name, place)
        kept = (
            [sink_column.name for sink_column in self.session.sink_columns(table)]
            if isinstance(table, DeclaredTable)
            else []
        )
        others = columns or tuple(item for item in kept if item not in fixed)
        items = [Item(item.name, Ref(item.type, i)) for i, item in enumerate(node.columns)]
        items += [Item(key, value) for key, value in fixed.items()]
        return Insert(calc(node, items), name, (*others, *fixed), conflict)

    def _partition(self, tokens: Tokens, name: tuple[str, ...]) -> dict[str, Expr]:
        """Read ``(day = '2020-01-31', hour = 7)``: the columns that have one value for all rows."""
        table = self.session.catalog.find(name)
        types = {column.name: column.type for column in table.columns} if isinstance(table, DeclaredTable) else {}
        found: dict[str, Expr] = {}
        tokens.expect("(")
        while not found or tokens.take(","):
            place, key = tokens.place(), tokens.name()
            kind = types.get(key)
            if kind is None or not isinstance(table, DeclaredTable) or key not in table.partitions:
                raise SqlError(f"PARTITION{at(place)}: '{'.'.join(name)}' is not partitioned by '{key}'")
            tokens.expect("=")
            text = tokens.text() if tokens.peek()[:1] == "'" else tokens.next()
            made = cast(Const(text_type(text), text), kind, self.session.zone)
            if made is None:
                raise SqlError(f"PARTITION{at(place)}: '{text}' is not a {sql_name(kind)}")
            found[key] = made
        tokens.expect(")")
        return found

    def _explain(self, tokens: Tokens) -> Answer:
        tokens.take("PLAN", "FOR")
        found = self.run_rest(tokens)
        node = found.node if isinstance(found, Insert) else found
        if isinstance(node, Answer):
            raise SqlError("EXPLAIN needs a query or an INSERT")
        text = "== Optimized Execution Plan ==\n" + "\n".join(explain_lines(node)) + "\n"
        return Answer((Column("result", t.DataTypes.STRING()),), ((text,),))

    def run_rest(self, tokens: Tokens) -> Node | Insert | Answer:
        """Run the statement that begins at the cursor."""
        if tokens.take("INSERT"):
            return self._insert(tokens)
        return _query(self.session, tokens)

    def _describe(self, tokens: Tokens) -> Answer:
        if tokens.take("CATALOG"):
            return describe_catalog(self.session.catalog, tokens)
        place, name = tokens.place(), tokens.path()
        found = self.session.catalog.find(name, place)
        columns = self.session.describe(name, place)
        declared = {item.name: item for item in found.columns} if isinstance(found, DeclaredTable) else {}
        key = found.primary_key if isinstance(found, DeclaredTable) else ()
        rows: list[tuple[Any, ...]] = []
        for column in columns:
            kind = sql_name(column.type.nullable()) + (f" *{column.time}*" if column.time else "")
            in_key = f"PRI({', '.join(key)})" if column.name in key else None
            extras = declared[column.name].extras if column.name in declared else None
            watermark = found.watermark_text if isinstance(found, DeclaredTable) and column.time == "ROWTIME" else None
            rows.append((column.name, kind, is_nullable(column.type), in_key, extras, watermark))
        text, flag = t.DataTypes.STRING(), t.DataTypes.BOOLEAN()
        heads = [("name", text), ("type", text), ("null", flag), ("key", text), ("extras", text), ("watermark", text)]
        comments = [None if item.name not in declared else declared[item.name].comment for item in columns]
        if any(comments):
            heads.append(("comment", text))
            rows = [(*row, comment) for row, comment in zip(rows, comments, strict=True)]
        return Answer(tuple(Column(*head) for head in heads), tuple(rows))

    _desc = _describe

    def _show(self, tokens: Tokens) -> Answer:
        if tokens.take("CREATE", "TABLE") or tokens.take("CREATE", "VIEW"):
            return self._show_create(tokens)
        if tokens.take("COLUMNS"):
            return self._show_columns(tokens)
        return show(self.session.catalog, tokens)

    def _show_columns(self, tokens: Tokens) -> Answer:
        if not tokens.take("IN"):
            tokens.expect("FROM")
        found = self._describe(tokens)
        differs = tokens.take("NOT")
        if tokens.take("LIKE"):
            matches = like(tokens.text())
            found = Answer(found.columns, tuple(row for row in found.rows if bool(matches(row[0])) != differs))
        expect_end(tokens)
        return found

    def _show_create(self, tokens: Tokens) -> Answer:
        place, name = tokens.place(), tokens.path()
        found = self.session.catalog.find(name, place)
        if not isinstance(found, DeclaredTable):
            raise SqlError(f"SHOW CREATE TABLE{at(place)}: '{'.'.join(name)}' is a view")
        text = show_create(self.session.catalog.path(name), found, self.session.describe(name, place))
        return Answer((Column("result", t.DataTypes.STRING()),), ((text,),))

    def _load(self, tokens: Tokens) -> Answer:
        load_module(tokens)
        return DONE

    def _unload(self, tokens: Tokens) -> Answer:
        unload_module(tokens)
        return DONE

    def _set(self, tokens: Tokens) -> Answer:
        configuration = self.session.env._configuration
        if tokens.ended:
            rows = tuple(sorted(hide_secrets(configuration.to_dict()).items()))
            return Answer((Column("key", t.DataTypes.STRING()), Column("value", t.DataTypes.STRING())), rows)
        key = tokens.text()
        tokens.expect("=")
        configuration.set_string(key, tokens.text())
        expect_end(tokens)
        return DONE

    def _use(self, tokens: Tokens) -> Answer:
        if tokens.take("MODULES"):
            use_modules(tokens)
            return DONE
        in_catalog, place = tokens.take("CATALOG"), tokens.place()
        name, here = tokens.path(), self.session.catalog
        expect_end(tokens)
        if in_catalog:
            here.use_catalog(name[-1], place)
        else:
            here.use_database(name, place)
        return DONE
