"""Statements: each kind is one method, chosen by its first words."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING

from flintstream.common._text.secrets import hide_secrets
from flintstream.common._types import data_types as t
from flintstream.options.table import check_values
from flintstream.options.tables import DIALECT, STRICT
from flintstream.table._catalog.declared import DeclaredTable, View, kind_of
from flintstream.table._deep_stack import deep
from flintstream.table._errors import SqlError, StrictError, at, nearest, unsupported
from flintstream.table._expressions.expr import Column
from flintstream.table._expressions.patterns.helpers import like
from flintstream.table._session.explain import explain
from flintstream.table._session.inserts import Insert, PlanFile
from flintstream.table._sql.alter import alter
from flintstream.table._sql.answers import DONE, Answer
from flintstream.table._sql.catalogs import (
    alter_catalog,
    alter_database,
    create_catalog,
    create_database,
    describe_catalog,
    load_module,
    show,
    show_partitions,
    unload_module,
    use_modules,
)
from flintstream.table._sql.ddl import create_table, expect_end, names_in_parentheses
from flintstream.table._sql.declarations.functions import alter_function, create_function
from flintstream.table._sql.declarations.materialized import is_materialized, run_materialized
from flintstream.table._sql.declarations.models import (
    alter_model,
    create_model,
    describe_model,
    drop_model,
    show_create_model,
)
from flintstream.table._sql.declarations.tables import analyze_table, describe_table
from flintstream.table._sql.dialect import Tokens
from flintstream.table._sql.inserts import QUERIES, plan_query, read_compile, read_insert, read_statement_set
from flintstream.table._sql.jobs.statements import describe_job, read_stop, show_jobs
from flintstream.table._sql.show_create import show_create, show_create_view
from flintstream.table.explain_detail import ExplainDetail

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flintstream.table._logical.nodes import Node
    from flintstream.table._logical.planned import PlannedQuery
    from flintstream.table._session.inserts import InsertSet
    from flintstream.table._session.session import Session
    from flintstream.table._sql.jobs.statements import StopJob

    Statement = Node | Insert | InsertSet | PlanFile | StopJob | Answer

_DETAILS = {
    name: getattr(ExplainDetail, name)
    for name in ("ESTIMATED_COST", "CHANGELOG_MODE", "JSON_EXECUTION_PLAN", "PLAN_ADVICE")
}
_PLANNED = {
    "CALL": "call the function in the program",
    "DELETE": "send changes to a sink that takes them, such as jdbc",
    "TRUNCATE": "empty the table in its database, or remove its files",
    "UPDATE": "send changes to a sink that takes them, such as jdbc",
}
"""Statements of Flink that are not there, and what to do instead."""


@deep
def planned_query(session: Session, sql: str) -> PlannedQuery:
    """Return the plan of a query, which follows the settings of the session.

    Raises:
        SqlError: It is not a query, or a wrong one.
    """
    tokens = Tokens(sql)
    if tokens.peek() not in QUERIES:
        raise SqlError(f"sql_query() needs a query, but got {tokens.peek()}: use execute_sql() for other statements")
    return plan_query(session, tokens)


class Statements:
    """Runs or plans the statements of a session."""

    def __init__(self, session: Session) -> None:
        self.session = session

    @deep
    def run(self, sql: str) -> Statement:
        """Return the plan of a query, what to insert, or the answer of another statement.

        Raises:
            SqlError: The statement is wrong, or not supported.
        """
        tokens = Tokens(sql)
        word = tokens.peek()
        if self.session.settings.value(DIALECT) == "hive":
            raise unsupported("the dialect of Hive", None, "set table.sql-dialect to default")
        if word in QUERIES:
            return plan_query(self.session, tokens).node()
        method = getattr(self, f"_{word.lower()}", None)
        if method is None and word in _PLANNED:
            raise unsupported(word, tokens.place(), _PLANNED[word])
        if method is None:
            known = [name[1:].upper() for name in dir(self) if name[0] == "_" and name[1] != "_"]
            raise SqlError(f"unknown statement {word} at {tokens.place()}{nearest(word, [*known, 'SELECT'])}")
        tokens.strict = self.session.settings.value(STRICT)
        if tokens.strict and word in {"SET", "RESET"}:
            raise StrictError(f"{word} at {tokens.place()}: execute_sql() of Flink refuses it: use t_env.get_config()")
        if is_materialized(tokens):
            return run_materialized(self.session, tokens)
        tokens.next()
        answer: Statement = method(tokens)
        return answer

    def _compile(self, tokens: Tokens) -> PlanFile:
        return read_compile(self.session, tokens)

    def _execute(self, tokens: Tokens) -> InsertSet | Insert | PlanFile | Node:
        """Read ``EXECUTE`` before a statement set, a plan or a statement."""
        if tokens.take("PLAN"):
            path = tokens.text()
            expect_end(tokens)
            return PlanFile(path)
        if tokens.peek() == "STATEMENT":
            return read_statement_set(self.session, tokens)
        return self._insert_or_query(tokens)

    def _alter(self, tokens: Tokens) -> Answer:
        if tokens.take("DATABASE"):
            alter_database(self.session.catalog, tokens)
            return DONE
        if tokens.take("CATALOG"):
            alter_catalog(self.session.catalog, tokens)
            return DONE
        if tokens.take("MODEL"):
            alter_model(self.session.catalog, tokens)
            return DONE
        if tokens.peek() in {"FUNCTION", "TEMPORARY"}:
            alter_function(self.session.catalog, tokens)
            return DONE
        made = alter(self.session.catalog, tokens)
        if made is None:
            return DONE
        path, changed = made
        if isinstance(changed, View):
            node, text = self._view_of(tokens)
            changed = replace(changed, node=node, text=text)
        else:
            self.session.columns_of(path[-1], changed)
        self.session.catalog.put(path, changed)
        return DONE

    def _view_of(self, tokens: Tokens, columns: Sequence[str] = ()) -> tuple[PlannedQuery, str]:
        """Return the plan of the query at the cursor, and its text."""
        text = tokens.sql[tokens.all[tokens.position].start :] if not tokens.ended else ""
        return plan_query(self.session, tokens, columns), text.rstrip().rstrip(";")

    def _create(self, tokens: Tokens) -> Answer | Insert:
        replaces = tokens.take("OR", "REPLACE")
        temporary = tokens.take("TEMPORARY")
        catalog = self.session.catalog
        if tokens.take("TABLE"):
            return self._create_table(tokens, replaces=replaces, temporary=temporary)
        if tokens.take("VIEW"):
            lenient = tokens.take("IF", "NOT", "EXISTS")
            name = tokens.path()
            columns = names_in_parentheses(tokens) if tokens.peek() == "(" else ()
            comment = tokens.text() if tokens.take("COMMENT") else None
            tokens.expect("AS")
            view = View(*self._view_of(tokens, columns), comment)
            catalog.add(name, view, replace=replaces, lenient=lenient, temporary=temporary)
        elif tokens.peek() in {"FUNCTION", "SYSTEM"}:
            kind = f"{'TEMPORARY ' * temporary}{'SYSTEM ' * tokens.take('SYSTEM')}"
            create_function(catalog, tokens, kind)
        elif tokens.take("CATALOG"):
            create_catalog(catalog, tokens)
        elif tokens.take("DATABASE"):
            create_database(catalog, tokens)
        elif tokens.take("MODEL"):
            create_model(catalog, tokens, temporary=temporary)
        else:
            what = f"CREATE {'TEMPORARY ' if temporary else ''}{tokens.peek()}"
            raise unsupported(what, tokens.place(), "use CREATE TABLE, VIEW, FUNCTION, DATABASE or CATALOG")
        return DONE

    def _create_table(self, tokens: Tokens, *, replaces: bool, temporary: bool = False) -> Answer | Insert:
        """Create a table. What ``AS`` inserts is a job of its own: if it fails, the table stays."""
        catalog = self.session.catalog
        made = create_table(tokens, catalog.find, lambda rest: plan_query(self.session, rest).node())
        if temporary and made.rows is not None:
            raise SqlError("CREATE TABLE AS SELECT syntax does not support to create temporary table yet")
        self.session.columns_of(made.name[-1], made.table)
        replaces = replaces and made.rows is not None  # without a query, Flink keeps what is there
        catalog.add(made.name, made.table, replace=replaces, lenient=made.lenient, temporary=temporary)
        if made.rows is None:
            return DONE
        names = tuple(column.name for column in made.rows.columns) if made.by_name else ()
        return Insert(made.rows, made.name, names)

    def _replace(self, tokens: Tokens) -> Answer | Insert:
        tokens.expect("TABLE")
        name = copy(tokens).path()
        if not any(str(token.text).upper() == "AS" for token in tokens.all):
            raise SqlError(f"REPLACE TABLE {'.'.join(name)} needs a query: REPLACE TABLE ... AS SELECT ...")
        path = self.session.catalog.path(name)
        if self.session.catalog.get(path) is None:
            raise SqlError(
                f"The table '{'.'.join(path)}' to be replaced doesn't exist: use CREATE TABLE ... AS, or CREATE OR "
                "REPLACE TABLE ... AS"
            )
        return self._create_table(tokens, replaces=True)

    def _analyze(self, tokens: Tokens) -> Answer:
        analyze_table(self.session, tokens)
        return DONE

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
        elif what == "MODEL":
            drop_model(catalog, catalog.path(name), lenient=lenient, temporary=temporary)
        elif what in {"TABLE", "VIEW"}:
            kind = View if what == "VIEW" else DeclaredTable
            catalog.drop(name, kind, lenient=lenient, temporary=temporary)
        else:
            raise unsupported(f"DROP {what}", place, "use DROP TABLE, VIEW, FUNCTION, DATABASE or CATALOG")
        return DONE

    def _insert(self, tokens: Tokens) -> Insert:
        return read_insert(self.session, tokens)

    def _explain(self, tokens: Tokens) -> Answer:
        details: list[object] = []
        if not tokens.take("PLAN", "FOR"):
            while tokens.peek() in _DETAILS:
                details.append(_DETAILS[tokens.next().upper()])
                tokens.take(",")
        tokens.take("EXECUTE")
        if tokens.peek() == "STATEMENT":
            parts: Sequence[Node | Insert] = read_statement_set(self.session, tokens).inserts
        else:
            parts = [self._insert_or_query(tokens)]
        text = explain(self.session, parts, details)
        return Answer((Column("result", t.DataTypes.STRING()),), ((text,),))

    def _insert_or_query(self, tokens: Tokens) -> Node | Insert:
        """Read the statement that begins at the cursor."""
        if tokens.take("INSERT"):
            return read_insert(self.session, tokens)
        if tokens.ended:
            raise SqlError("the statement ends unexpectedly: a query or an INSERT is missing")
        return plan_query(self.session, tokens).node()

    def _describe(self, tokens: Tokens) -> Answer:
        if tokens.peek(1)[:1] == "'" and tokens.take("JOB"):
            return describe_job(tokens)
        if tokens.take("CATALOG"):
            return describe_catalog(self.session.catalog, tokens)
        if tokens.peek(1)[:1] not in {"", "."} and tokens.take("MODEL"):
            return describe_model(self.session.catalog, tokens)
        return describe_table(self.session, tokens)

    _desc = _describe

    def _show(self, tokens: Tokens) -> Answer:
        for what in ("TABLE", "VIEW"):
            if tokens.take("CREATE", what):
                return self._show_create(tokens, what)
        if tokens.take("CREATE", "MODEL"):
            return show_create_model(self.session.catalog, tokens)
        if tokens.take("JOBS"):
            return show_jobs(tokens)
        if tokens.take("PARTITIONS"):
            return show_partitions(self.session.catalog, tokens)
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

    def _show_create(self, tokens: Tokens, what: str) -> Answer:
        place, name = tokens.place(), tokens.path()
        expect_end(tokens)
        catalog = self.session.catalog
        found, path = catalog.find(name, place), catalog.path(name)
        kind = kind_of(found).upper()
        if kind != what:
            raise SqlError(
                f"SHOW CREATE {what}{at(place)}: '{'.'.join(name)}' is a {kind.lower()}, use SHOW CREATE {kind}"
            )
        columns, temporary = self.session.describe(name, place), path in catalog.temporary
        text = (
            show_create_view(path, found, columns, temporary=temporary)
            if isinstance(found, View)
            else show_create(path, found, columns)
        )
        return Answer((Column("result", t.DataTypes.STRING()),), ((text,),))

    def _stop(self, tokens: Tokens) -> StopJob:
        return read_stop(tokens)

    def _load(self, tokens: Tokens) -> Answer:
        return load_module(self.session.catalog, tokens)

    def _unload(self, tokens: Tokens) -> Answer:
        return unload_module(self.session.catalog, tokens)

    def _set(self, tokens: Tokens) -> Answer:
        configuration = self.session.env._configuration
        if tokens.ended:
            rows = tuple(sorted(hide_secrets(configuration.to_dict()).items()))
            return Answer((Column("key", t.DataTypes.STRING()), Column("value", t.DataTypes.STRING())), rows)
        key = tokens.text()
        tokens.expect("=")
        place, value = tokens.place(), tokens.text()
        expect_end(tokens)
        try:
            check_values({key: value})
        except ValueError as error:  # what reads it later would fail, and so would RESET
            raise SqlError(f"SET{at(place)}: {error}") from None
        configuration.set_string(key, value)
        return DONE

    def _reset(self, tokens: Tokens) -> Answer:
        """Give one option, or all that the program has set, the value that it had in the beginning."""
        self.session.reset(None if tokens.ended else tokens.text())
        expect_end(tokens)
        return DONE

    def _add(self, tokens: Tokens) -> Answer:
        tokens.expect("JAR")
        self.session.catalog.jars[tokens.text()] = None
        expect_end(tokens)
        return DONE

    def _remove(self, tokens: Tokens) -> Answer:
        tokens.expect("JAR")
        place, jar = tokens.place(), tokens.text()
        expect_end(tokens)
        known = self.session.catalog.jars
        if jar not in known:
            raise SqlError(f"REMOVE JAR at {place}: '{jar}' has not been added{nearest(jar, known)}")
        del self.session.catalog.jars[jar]
        return DONE

    def _use(self, tokens: Tokens) -> Answer:
        if tokens.take("MODULES"):
            return use_modules(self.session.catalog, tokens)
        in_catalog, place = tokens.take("CATALOG"), tokens.place()
        name, here = tokens.path(), self.session.catalog
        expect_end(tokens)
        if in_catalog:
            here.use_catalog(name[-1], place)
        else:
            here.use_database(name, place)
        return DONE
