"""``python -m tests.corpus.cookbook CHECKOUT``: run the recipes of Flink's SQL cookbook, bounded to 40 rows a table.

CHECKOUT is one of https://github.com/ververica/flink-sql-cookbook. ``--pyflink /path/to/python`` runs them on real
PyFlink instead. The verdicts are written to ``cookbook.json``; no recipe is part of this repository.

A recipe is a page with SQL. Its tables of fake rows give 40 rows here; PyFlink comes without that connector, so that
its rows are random there. Tables of Kafka and object stores become files. Databases become fake rows. Declarations run
first, because some pages explain a query before they declare its tables; then come INSERT statements, then queries.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
RESULTS = HERE / "cookbook.json"
ROWS = 40
RUNS = "runs"

BLOCK = re.compile(r"^```(sql|shell script)[ \t]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
PARTS = re.compile(r"--[^\n]*|/\*.*?\*/|'(?:[^']|'')*'|`[^`]*`|;|[^;'`/-]+|.", re.DOTALL)
DECLARED = re.compile(r"CREATE\s+(?:TEMPORARY\s+)?(?:TABLE|VIEW|FUNCTION)\s+([\w`.]+)", re.IGNORECASE)
OPTIONS = re.compile(r"\bWITH\s*\((.*?)\)(\s*LIKE\b.*)?\s*$", re.IGNORECASE | re.DOTALL)
OPTION = re.compile(r"'((?:[^']|'')*)'\s*=\s*'((?:[^']|'')*)'")
COLUMN = re.compile(r"^\s*`?(\w+)`?\s+(?:INT|BIGINT|FLOAT|DOUBLE|DECIMAL|VARCHAR|STRING)", re.IGNORECASE | re.MULTILINE)
FIRST_WORDS = ("CREATE", "INSERT", "EXECUTE", "SELECT", "WITH")
"""How statements begin; other blocks show single clauses."""


@dataclass
class Recipe:
    """A page of SQL: its name, and statements that share an environment, in lists."""

    name: str
    scripts: list[list[str]]
    files: list[Path] = field(default_factory=list)
    """Python files beside the page."""


def recipes(checkout: Path) -> list[Recipe]:
    """Return the recipes of a checkout."""
    found = []
    for page in sorted(checkout.glob("*/*/*.md")):
        text = page.read_text(encoding="utf-8")
        statements = [statement for _, block in BLOCK.findall(text) for statement in split(block)]
        if statements:
            name = str(page.relative_to(checkout).with_suffix(""))
            found.append(Recipe(name, scripts(statements), sorted(page.parent.glob("*.py"))))
    return found


def split(block: str) -> list[str]:
    """Return the statements of a block, those between BEGIN STATEMENT SET and END as one.

    >>> split("SELECT ';' -- a; b\\n; BEGIN STATEMENT SET; INSERT INTO t SELECT 1; END;")
    ["SELECT ';'", 'EXECUTE STATEMENT SET BEGIN\\nINSERT INTO t SELECT 1;\\nEND']
    """
    found, current, inside = [], "", None
    for part in PARTS.findall(f"{block};"):
        if part.startswith("--"):
            continue
        if part != ";":
            current += part
            continue
        statement, current = current.strip(), ""
        if re.fullmatch(r"BEGIN\s+STATEMENT\s+SET", statement, re.IGNORECASE):
            inside = "EXECUTE STATEMENT SET BEGIN\n"
        elif inside is not None and statement.upper() == "END":
            found.append(f"{inside}END")
            inside = None
        elif inside is not None:
            inside += f"{statement};\n"
        else:
            found.append(statement)
    return [statement for statement in found if statement.upper().startswith(FIRST_WORDS)]


def scripts(statements: list[str]) -> list[list[str]]:
    """Return statements by environment, in the order in which they run: a name declared again begins another one."""
    found: list[list[str]] = [[]]
    names: set[str] = set()
    for statement in statements:
        declared = DECLARED.match(statement)
        if declared is not None and declared[1] in names:
            found.append([])
            names = set()
        if declared is not None:
            names.add(declared[1])
        found[-1].append(statement)
    return [sorted(script, key=_rank) for script in found]


def _rank(statement: str) -> int:
    first = statement.split(None, 1)[0].upper()
    return {"CREATE": 0, "INSERT": 1, "EXECUTE": 1}.get(first, 2)


def bounded(statement: str, checkout: Path, directory: Path, *, oracle: bool) -> str:
    """Return a statement whose tables end, and are on this machine."""
    found = OPTIONS.search(statement)
    if DECLARED.match(statement) is None or found is None:
        return statement
    options = {key: value.replace("''", "'") for key, value in OPTION.findall(found[1])}
    kind, path = options.get("connector"), options.get("path", "")
    if path.startswith("file:///flink-sql-cookbook"):
        options["path"] = path.replace("file:///flink-sql-cookbook", str(checkout.absolute()))
    elif kind in {"kafka", "upsert-kafka", "filesystem"}:
        declared = DECLARED.match(statement)
        assert declared is not None
        options = {
            "connector": "filesystem",
            "path": str(directory / declared[1].strip("`")),
            "format": "json",
            **{key: value for key, value in options.items() if key.startswith("sink.partition-commit.trigger")},
        }
    elif kind in {"jdbc", "postgres-cdc"}:
        columns = COLUMN.findall(statement[: found.start()].partition("(")[2])
        options = {"connector": "faker", "number-of-rows": str(ROWS)}
        options |= {f"fields.{column}.expression": "#{number.numberBetween '1','50'}" for column in columns}
    if options.get("connector") in {"faker", "datagen"}:
        options = {key: value for key, value in options.items() if key != "rows-per-second"}
        options["number-of-rows"] = str(min(ROWS, int(options.get("number-of-rows", ROWS))))
    if oracle and options.get("connector") == "faker":
        options = {"connector": "datagen", "number-of-rows": options["number-of-rows"]}
    written = ",\n  ".join("'{}' = '{}'".format(key, value.replace("'", "''")) for key, value in options.items())
    return f"{statement[: found.start()]}WITH (\n  {written}\n){found[2] or ''}"


def run(recipe: Recipe, checkout: Path, engine: str, *, oracle: bool) -> tuple[str, int]:
    """Run a recipe; return "runs" or the first error, and the number of statements that ran."""
    errors, ran = [], 0
    for script in recipe.scripts:
        with tempfile.TemporaryDirectory(prefix="cookbook-") as directory:
            t_env = _environment(engine, oracle=oracle)
            for file in recipe.files:
                t_env.add_python_file(str(file))
            for statement in script:
                try:
                    with contextlib.redirect_stdout(io.StringIO()):
                        result = t_env.execute_sql(bounded(statement, checkout, Path(directory), oracle=oracle))
                        _finish(result, statement)
                    ran += 1
                except Exception as error:  # noqa: BLE001 - the error is the result
                    errors.append(_line(error).replace(str(checkout), "CHECKOUT"))
    return (errors[0] if errors else RUNS), ran


def _finish(result: Any, statement: str) -> None:
    if _rank(statement) == 1:
        result.wait()
    elif _rank(statement) == 2:
        result.print()  # which also takes values that PyFlink cannot bring to Python


def _environment(engine: str, *, oracle: bool) -> Any:
    from pyflink.table import EnvironmentSettings, TableEnvironment

    t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    settings = {"parallelism.default": "1", "table.local-time-zone": "UTC"}
    if not oracle:
        settings["flintstream.engine"] = engine
    for key, value in settings.items():
        t_env.get_config().set(key, value)
    return t_env


def _line(error: BaseException) -> str:
    """Return the cause of an error in a line."""
    java = getattr(error, "java_exception", None)
    text = str(error)
    while java is not None:
        text, java = str(java.getMessage()), java.getCause()
    return next((line.strip() for line in text.splitlines() if line.strip()), type(error).__name__)[:200]


def main() -> int:
    """Run the recipes, and note the verdicts."""
    parser = argparse.ArgumentParser(prog="python -m tests.corpus.cookbook", description=__doc__)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--only", default="", help="recipes with this in their name")
    parser.add_argument("--engine", default="inline", choices=["inline", "spark"])
    parser.add_argument("--pyflink", metavar="PYTHON", help="run on the PyFlink of this Python")
    parser.add_argument("--oracle", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.pyflink:
        modules = {str(file.parent) for file in given.checkout.glob("*/*/*.py")}  # functions that Java looks up
        paths = os.pathsep.join([str(HERE.parents[1]), *modules])
        path = f"{Path(given.pyflink).parent}{os.pathsep}{os.environ['PATH']}"
        command = [given.pyflink, "-m", "tests.corpus.cookbook", str(given.checkout), "--oracle", "--only", given.only]
        environment = {**os.environ, "PATH": path, "PYTHONPATH": paths}
        return subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=False).returncode  # noqa: S603
    if not given.oracle:
        from flintstream.compat import pyflink

        pyflink.install()
    column = "pyflink" if given.oracle else "here"
    noted = {item["recipe"]: item for item in json.loads(RESULTS.read_text("utf-8"))} if RESULTS.exists() else {}
    for recipe in recipes(given.checkout):
        if given.only not in recipe.name:
            continue
        verdict, ran = run(recipe, given.checkout, given.engine, oracle=given.oracle)
        count = sum(map(len, recipe.scripts))
        print(f"{recipe.name}: {ran} of {count} statements; {verdict}", file=sys.stderr, flush=True)
        item = noted.setdefault(recipe.name, {"recipe": recipe.name, "remark": ""})
        item |= {"statements": count, column: verdict, f"{column}_ran": ran}
    if given.engine == "inline":
        ordered = [dict(sorted(noted[name].items())) for name in sorted(noted)]
        RESULTS.write_text(json.dumps(ordered, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
