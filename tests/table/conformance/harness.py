"""Load and run the cases, and compare results, independently of PyFlink and flintstream.

Both sides run this module's code: it calls only what programs call on ``pyflink``.
"""

from __future__ import annotations

import datetime as dt
import json
import re
import struct
import sys
import tempfile
from collections import Counter
from decimal import Decimal
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING, Any

import cloudpickle
from tests.table.conformance import registry
from tests.table.conformance.registry import Case, Program, Scalars, Script

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

HERE = Path(__file__).parent
GOLDENS = HERE / "goldens"
OPEN = HERE / "open.txt"


def load_cases() -> dict[str, Case]:
    """Load all cases; ``pyflink`` must be importable."""
    found: dict[str, Case] = {}
    for path in sorted((HERE / "programs").glob("*.py")):
        spec = spec_from_file_location(f"table_conformance_{path.stem}", path)
        if spec is None or spec.loader is None:
            raise ImportError(f"cannot load {path}")
        module = sys.modules[spec.name] = module_from_spec(spec)
        # Like a user's script, a program is not in a module that a worker could import.
        cloudpickle.register_pickle_by_value(module)
        spec.loader.exec_module(module)
        for case in registry.take_cases():
            if case.name in found:
                raise ValueError(f"two cases are called {case.name!r}; the second one is in {path.name}")
            found[case.name] = case
    return found


def golden_path(name: str) -> Path:
    """Return the path of the recorded results of a case."""
    return GOLDENS / f"{name}.json"


def is_recorded(name: str, mode: str) -> bool:
    """Return whether there are results of a case in a mode."""
    try:
        load_golden(name, mode)
    except LookupError:
        return False
    return True


def load_golden(name: str, mode: str) -> Any:
    """Return what real PyFlink gave.

    Raises:
        LookupError: Nothing is recorded.
    """
    path = golden_path(name)
    if not path.exists():
        raise LookupError(f"nothing is recorded for {name!r}: run `python -m tests.table.conformance.record {name}`")
    return json.loads(path.read_text(encoding="utf-8"))["runs"][mode]


# -- values as JSON --------------------------------------------------------------------------------------------------


def plain(value: Any) -> Any:
    """Return a value as JSON that keeps its type.

    >>> plain([1, 1.5, Decimal("1.50"), b"a", dt.date(2020, 1, 2)])
    [1, {'float': '1.5'}, {'decimal': '1.50'}, {'bytes': '61'}, {'date': '2020-01-02'}]
    >>> plain([{"k": None}, (1,)])
    [{'map': [['k', None]]}, {'tuple': [1]}]
    """
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return {"float": repr(float(value))}
    if isinstance(value, Decimal):
        return {"decimal": str(value)}
    if isinstance(value, (bytes, bytearray)):
        return {"bytes": value.hex()}
    if isinstance(value, (dt.datetime, dt.date, dt.time)):
        return {type(value).__name__: value.isoformat()}
    if isinstance(value, dt.timedelta):
        return {"timedelta": str(value)}
    if isinstance(value, dict):
        pairs = [[plain(key), plain(item)] for key, item in value.items()]
        return {"map": sorted(pairs, key=json.dumps)}
    if isinstance(value, list):
        return [plain(element) for element in value]
    if hasattr(value, "get_row_kind"):
        kind = ("+I", "-U", "+U", "-D")[value.get_row_kind().value]
        return {kind: [plain(element) for element in value]}
    if isinstance(value, tuple):
        return {"tuple": [plain(element) for element in value]}
    return {type(value).__name__: str(value)}


def columns_of(schema: Any) -> list[str]:
    """Return the lines of a printed schema: ``name: TYPE``."""
    return [line.strip()[3:].strip() for line in str(schema).splitlines() if line.strip().startswith("|--")]


def essence(error: BaseException) -> dict[str, str]:
    """Return the class of an error, and the first line of its message; of Java's, those of the root cause."""
    java = getattr(error, "java_exception", None)
    text = f"{getattr(error, 'cause', None) or f'{type(error).__name__}: {error}'}"
    while java is not None:
        text, java = str(java.toString()), java.getCause()
    lines = [line for line in text.splitlines() if line.strip()] or [""]
    tracebacks = [i for i, line in enumerate(lines) if "Traceback (most recent call last)" in line]
    if tracebacks:
        lines = [line for line in lines[tracebacks[-1] + 1 :] if not line[0].isspace()] or lines
    kind, _, message = lines[0].partition(": ")
    if not re.fullmatch(r"[\w.$]+", kind):
        kind, message = type(error).__name__, lines[0]
    return {"error": kind.rpartition(".")[2], "message": message.strip()}


# -- running ---------------------------------------------------------------------------------------------------------


class Side:
    """PyFlink or flintstream: how its environments are made, and how what it prints is captured."""

    def make(self, mode: str, config: dict[str, str], *, python: bool) -> tuple[Any, Any]:
        """Return new environments of streams and tables; ``python`` says whether Python functions may run."""
        raise NotImplementedError

    def printed(self, result: Any) -> str:
        """Return what ``print()`` of a result writes."""
        raise NotImplementedError


def run_case(case: Case, mode: str, side: Side) -> Any:
    """Run a case, and return its results as JSON."""
    config = {"table.local-time-zone": "UTC", **case.config}
    with tempfile.TemporaryDirectory() as directory:
        if isinstance(case, Scalars):
            return run_scalars(case, lambda: side.make(mode, config, python=False)[1])
        if isinstance(case, Script):
            return run_script(case, side, side.make(mode, config, python=False)[1], directory)
        assert isinstance(case, Program)
        env, t_env = side.make(mode, config, python=True)
        try:
            outputs = case.function(env, t_env, Path(directory)) if case.directory else case.function(env, t_env)
            return [output(item, case) for item in (outputs if isinstance(outputs, list) else [outputs])]
        except Exception as error:  # noqa: BLE001 - the error is the result
            return [hidden(essence(error), directory)]


def run_scalars(case: Scalars, make: Callable[[], Any]) -> dict[str, Any]:
    """Return the type and the values, or the error, of each expression.

    One query has all of them. If it fails, those that cannot be planned are left out. If it fails then, halves of
    it are tried, down to the expressions that fail.
    """
    try:
        return evaluate(case, case.expressions, make())
    except Exception:  # noqa: BLE001 - the error is the result
        found, rest, t_env = {}, [], make()
    for expression in case.expressions:
        try:
            t_env.sql_query(case.query([expression]))
            rest.append(expression)
        except Exception as error:  # noqa: BLE001
            found[expression] = essence(error)
    found |= by_halves(case, rest, make, known_to_fail=not found)
    return {expression: found[expression] for expression in case.expressions}


def by_halves(
    case: Scalars, expressions: Sequence[str], make: Callable[[], Any], *, known_to_fail: bool = False
) -> dict[str, Any]:
    """Return the results of expressions, some of which may fail."""
    if not expressions:
        return {}
    if not known_to_fail or len(expressions) == 1:
        try:
            return evaluate(case, expressions, make())
        except Exception as error:  # noqa: BLE001 - the error is the result
            if len(expressions) == 1:
                return {expressions[0]: essence(error)}
    middle = len(expressions) // 2
    return by_halves(case, expressions[:middle], make) | by_halves(case, expressions[middle:], make)


def evaluate(case: Scalars, expressions: Sequence[str], t_env: Any) -> dict[str, Any]:
    """Return the type and the values of each expression."""
    selected = t_env.sql_query(case.query(expressions))
    types = [column.partition(": ")[2] for column in columns_of(selected.get_schema())[1:]]
    with selected.execute().collect() as results:
        rows = sorted((list(row) for row in results), key=lambda row: row[0])
    return {
        expression: {"type": types[number], "values": [plain(row[number + 1]) for row in rows]}
        for number, expression in enumerate(expressions)
    }


def run_script(case: Script, side: Side, t_env: Any, directory: str) -> list[Any]:
    """Return the result of each statement; an error does not end the script."""
    results = []
    for statement in case.statements:
        try:
            result = t_env.execute_sql(statement.replace("{directory}", directory))
            if case.printed and statement.lstrip().upper().startswith(("SELECT", "VALUES", "WITH", "DESC", "SHOW")):
                results.append({"printed": side.printed(result).replace(directory, "{directory}").splitlines()})
            else:
                results.append(hidden(of_statement(result, statement, case), directory))
        except Exception as error:  # noqa: BLE001 - the error is the result
            results.append(hidden(essence(error), directory))
    return results


def hidden(result: Any, directory: str) -> Any:
    """Return a result without the name of the directory, which differs from run to run."""
    return json.loads(json.dumps(result).replace(directory, "{directory}"))


def of_statement(result: Any, statement: str, case: Case) -> dict[str, Any]:
    """Return the columns and rows of a result."""
    if statement.lstrip().upper().startswith(("INSERT", "EXECUTE", "BEGIN")):
        result.wait()
        return {"done": True}
    if statement.lstrip().upper().startswith("EXPLAIN"):
        with result.collect() as rows:
            return {"explained": any(list(rows))}
    return of_result(result, case)


def of_result(result: Any, case: Case) -> dict[str, Any]:
    """Return the columns and the rows of a result."""
    columns = columns_of(result.get_table_schema())
    with result.collect() as rows:
        return {"columns": columns, "rows": in_order([plain(row) for row in rows], case)}


def output(value: Any, case: Case) -> Any:
    """Return what a program returned, as JSON."""
    if hasattr(value, "get_table_schema"):
        return of_result(value, case)
    if hasattr(value, "execute") and hasattr(value, "get_schema"):
        columns = columns_of(value.get_schema())
        with value.execute().collect() as rows:
            return {"columns": columns, "rows": in_order([plain(row) for row in rows], case)}
    if hasattr(value, "execute_and_collect"):
        kind = str(value.get_type())
        with value.execute_and_collect() as values:
            return {"stream": kind, "rows": in_order([plain(item) for item in values], case)}
    return {"value": plain(value)}


# -- comparing -------------------------------------------------------------------------------------------------------


def in_order(rows: list[Any], case: Case) -> list[Any]:
    """Return rows in an order that is the same for all results that count as equal."""
    return rows if case.order == "exact" else sorted(rows, key=json.dumps)


def folded(rows: Sequence[Any]) -> list[Any]:
    """Return the rows that changes leave behind.

    >>> folded([{"+I": [1]}, {"-U": [1]}, {"+U": [2]}])
    [[2]]
    """
    left: Counter[str] = Counter()
    for row in rows:
        ((kind, values),) = row.items() if isinstance(row, dict) else [("+I", row)]
        left[json.dumps(values)] += 1 if kind[0] == "+" else -1
    return sorted((json.loads(text) for text in (+left).elements()), key=json.dumps) + [
        {"missing": json.loads(text), "times": -count} for text, count in sorted(left.items()) if count < 0
    ]


def differences(case: Case, expected: Any, actual: Any) -> dict[str, str]:
    """Return what differs: per expression of scalars, per position of the results of others."""
    if isinstance(case, Scalars):
        pairs = {expression: (expected[expression], actual.get(expression)) for expression in expected}
    else:
        count = max(len(expected), len(actual))
        padded = [[*item, *[None] * (count - len(item))] for item in (expected, actual)]
        pairs = {str(number): pair for number, pair in enumerate(zip(*padded, strict=True))}
    return {
        where: f"PyFlink: {json.dumps(wanted, ensure_ascii=False)}\n     ours: {json.dumps(got, ensure_ascii=False)}"
        for where, (wanted, got) in pairs.items()
        if not is_not_convertible(wanted) and comparable(wanted, case) != comparable(got, case)
    }


def found(case: Case, mode: str, side: Side) -> dict[str, str]:
    """Run a case, and return what differs; ``*`` if it cannot run at all."""
    try:
        actual = run_case(case, mode, side)
    except Exception as error:  # noqa: BLE001 - what cannot run differs
        return {"*": f"{type(error).__name__}: {error}"}
    return differences(case, load_golden(case.name, mode), actual)


def is_not_convertible(result: Any) -> bool:
    """Return whether PyFlink could not bring a result to Python: an interval, an instant, a map with a NULL."""
    return isinstance(result, dict) and result.get("error") in {"PickleException", "EOFError"}


def comparable(result: Any, case: Case) -> Any:
    """Return the part of a result that counts: of an error, only that it is one.

    A FLOAT comes from the JVM as the shortest decimal, ``1.1``, and not as the double ``1.100000023841858``.
    """
    if not isinstance(result, dict):
        return result
    if "error" in result:
        return "an error"
    if "FLOAT" in json.dumps([result.get(part) for part in ("type", "columns", "stream")]):
        result = narrow(result)
    if "stream" in result:
        result = {"rows": result["rows"]}
    if case.order == "folded" and "rows" in result:
        return {**result, "rows": folded(result["rows"])}
    return result


def narrow(value: Any) -> Any:
    """Return a result with its floats rounded to 32 bits.

    >>> narrow([{"float": "1.1"}]) == narrow([{"float": "1.100000023841858"}])
    True
    """
    if isinstance(value, list):
        return [narrow(item) for item in value]
    if not isinstance(value, dict):
        return value
    if set(value) != {"float"}:
        return {key: narrow(item) for key, item in value.items()}
    try:
        return {"float": repr(struct.unpack("f", struct.pack("f", float(value["float"])))[0])}
    except OverflowError:
        return value


# -- what does not work yet ------------------------------------------------------------------------------------------


def load_open() -> dict[tuple[str, str], dict[str, str]]:
    """Return what differs today: by case and mode, the reason of each place (``*`` for all of the case)."""
    found: dict[tuple[str, str], dict[str, str]] = {}
    for line in OPEN.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            _, name, mode, where, reason = line.split("\t")
            found.setdefault((name, mode), {})[where] = reason
    return found
