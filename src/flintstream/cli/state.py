"""``flintstream savepoint`` takes and deletes savepoints; ``state`` shows their contents."""

from __future__ import annotations

import json
import sys
from itertools import islice
from typing import TYPE_CHECKING, Any

import click
from rich import box
from rich.console import Console
from rich.table import Table

from flintstream.checkpoint.json_text import to_json
from flintstream.cli.jobs import SETTINGS, absolute_directory, ask_job, complete_job
from flintstream.cli.printable import printable, printable_json
from flintstream.common._text.strict_json import json_text
from flintstream.errors import CheckpointError, FlintstreamError
from flintstream.savepoint import Savepoint

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from flintstream.savepoint import OperatorSummary, StateSummary

_PIPE_WIDTH = 160
_WIDEST_VALUE = 120
_NAMES = {"operator", "state", "name", "domain"}

_format_option = click.option(
    "--format",
    "form",
    type=click.Choice(["table", "json"]),
    default="table",
    show_default=True,
    help="A table, or one JSON object per line for scripts.",
)


@click.command("savepoint", context_settings=SETTINGS)
@click.option(
    "-d", "--dispose", "disposed", metavar="PATH", callback=absolute_directory, help="Delete the savepoint at PATH."
)
@click.argument("job", required=False, shell_complete=complete_job)
@click.argument("directory", required=False, callback=absolute_directory)
def savepoint_command(disposed: str | None, job: str | None, directory: str | None) -> None:
    """Take a savepoint of a job, which continues.

    JOB is an id, the beginning of an id, or a name. The savepoint is a new directory below DIRECTORY, by default below
    the configured one. The last line of the output is its path. With --dispose, the command deletes a savepoint
    instead.
    """
    if disposed:
        if job:
            raise click.UsageError(f"--dispose deletes a savepoint, whichever job took it: leave out '{job}'")
        _dispose(disposed)
    elif job:
        click.echo(printable(str(ask_job(job, "savepoint", directory=directory))))
    else:
        raise click.UsageError("Missing argument 'JOB': 'flintstream list' shows the running jobs")


def _dispose(path: str) -> None:
    others = _open(lambda: Savepoint.load(path).dispose())
    click.echo(printable(f"Savepoint '{path}' disposed."))
    if others:
        shown = ", ".join(others[:3]) + (", ..." if len(others) > 3 else "")
        click.echo(printable(f"Its directory has other files, which remain: {shown}"), err=True)


@click.group("state", context_settings=SETTINGS)
def state_command() -> None:
    """Show the contents of a savepoint or checkpoint."""


@state_command.command("list")
@click.argument("path")
@_format_option
def list_state_command(path: str, form: str) -> None:
    """List operators and their states in the savepoint or checkpoint at PATH."""
    savepoint = _open(lambda: Savepoint.load(path))
    operators = _open(savepoint.operators)
    if form == "json":
        for operator in operators:
            click.echo(printable_json(json_text(_operator_json(operator), ascii_only=False)))
        return
    metadata = savepoint.metadata
    click.echo(printable(f"{metadata.purpose} {metadata.number} of '{metadata.job_name}' ({metadata.job_id})"))
    table = _table("uid", "operator", "state", "kind", "type", ">entries", ">bytes")
    for operator in operators:
        rows = [
            (state.name, _kind(state), state.type, f"{state.entries:,}", f"{state.bytes:,}")
            for state in operator.states
        ]
        if operator.timers:
            rows.append(("", "timers", "", f"{operator.timers:,}", ""))
        first = (operator.uid, f"{operator.name} ({operator.parallelism} of {operator.max_parallelism})")
        for index, row in enumerate(rows or [("", "", "", "", "")]):
            table.add_row(*map(printable, (*(first if index == 0 else ("", "")), *row)))
    _print(table)


def _kind(state: StateSummary) -> str:
    return state.kind + (", per window" if state.namespaced else "") + (", ttl" if state.ttl else "")


def _operator_json(operator: OperatorSummary) -> dict[str, Any]:
    content = dict(vars(operator))
    content["states"] = [vars(state) for state in operator.states]
    return content


@state_command.command("show")
@click.argument("path")
@click.option("--operator", metavar="UID|NAME", help="Only this operator, or all operators with this name.")
@click.option("--state", "name", metavar="NAME", help="Only this state.")
@click.option("--key", metavar="KEY", help='Only this key: a string, or JSON such as 17 or ["a", 1].')
@click.option("--timers", "what", flag_value="timers", help="Show timers, not state.")
@click.option(
    "--values",
    "what",
    flag_value="values",
    help="Show non-keyed state: source positions, broadcast state, watermarks.",
)
@click.option("--limit", type=click.IntRange(min=0), default=100, show_default=True, help="Maximum number of entries.")
@click.option("--pickle", "allow_pickle", is_flag=True, help="Unpickle objects; only if you trust the savepoint.")
@_format_option
def show_state_command(
    path: str,
    operator: str | None,
    name: str | None,
    key: str | None,
    what: str | None,
    limit: int,
    allow_pickle: bool,
    form: str,
) -> None:
    """Show the entries of keyed state in the savepoint or checkpoint at PATH."""
    if what is not None and name is not None:
        raise click.UsageError(f"specify either --state or --{what}, not both")
    savepoint = _open(lambda: Savepoint.load(path, allow_pickle=allow_pickle))
    uids = _open(lambda: _uids(savepoint, operator))
    rows = _timers(savepoint, uids) if what == "timers" else _entries(savepoint, uids, name)
    if what == "values":
        rows = _values(savepoint, uids)
    if key is not None:
        wanted = {key, json_text(key, ascii_only=False), _normal(key)}
        rows = (row for row in rows if to_json(row.get("key")) in wanted)
    shown = _open(lambda: list(islice(rows, limit + 1)))
    more, shown = len(shown) > limit, shown[:limit]
    if form == "json":
        for row in shown:
            click.echo(printable_json(to_json(row)))
    elif shown:
        table = _table(*(column.removesuffix("_ms").replace("_", " ") for column in shown[0]))
        for row in shown:
            table.add_row(*(printable(_cell(column, value)) for column, value in row.items()))
        _print(table)
    else:
        click.echo("Nothing.")
    if more:
        click.echo(f"There are more than {limit} entries: see --limit, --operator, --state and --key.", err=True)


def _uids(savepoint: Savepoint, operator: str | None) -> list[str]:
    known = [info for chain in savepoint.metadata.chains for info in chain.operators]
    named = [info.uid for info in known if operator in {None, info.uid, info.name}]
    return named if named or operator is None else [savepoint.find(operator)[1].uid]


def _entries(savepoint: Savepoint, uids: Sequence[str], name: str | None) -> Iterator[dict[str, Any]]:
    found: dict[str, None] = {}
    for uid in uids:
        for state, entry in savepoint.entries(uid):
            found[state] = None
            if name is None or state == name:
                yield {"operator": uid, "state": state, **entry._asdict()}
    if name is not None and name not in found:
        known = ", ".join(sorted(found)) or "none"
        raise CheckpointError(f"{savepoint.where} has no state '{name}'; its states are: {known}")


def _timers(savepoint: Savepoint, uids: Sequence[str]) -> Iterator[dict[str, Any]]:
    return ({"operator": uid, **timer._asdict()} for uid in uids for timer in savepoint.timers(uid))


def _values(savepoint: Savepoint, uids: Sequence[str]) -> Iterator[dict[str, Any]]:
    return ({"operator": uid, **value._asdict()} for uid in uids for value in savepoint.values(uid))


def _normal(key: str) -> str:
    """Normalize JSON to the format of :func:`to_json`; return other text unchanged."""
    try:
        return json_text(json.loads(key), ascii_only=False)
    except ValueError:
        return key


def _cell(column: str, value: Any) -> str:
    if value is None:
        return ""
    if column in _NAMES:
        return str(value)
    text = to_json(value)
    return text if len(text) <= _WIDEST_VALUE else text[: _WIDEST_VALUE - 3] + "..."


def _open(read: Callable[[], Any]) -> Any:
    try:
        return read()
    except FlintstreamError as error:
        raise click.ClickException(printable(" ".join(str(error).split()))) from None


def _table(*columns: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        right = column.startswith(">")
        table.add_column(column.removeprefix(">"), justify="right" if right else "left", overflow="fold")
    return table


def _print(table: Table) -> None:
    """Print a table in the width of the terminal; into a pipe, wide enough for most tables."""
    console = Console(file=sys.stdout, markup=False, highlight=False, emoji=False)
    if not console.is_terminal:
        console.width = _PIPE_WIDTH
    console.print(table)
