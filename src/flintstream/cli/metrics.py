"""``flintstream metrics``: metrics of the operators of a running job."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from flintstream.cli.jobs import MISUNDERSTOOD, OTHER_RELEASE, SETTINGS, ask_job, complete_job
from flintstream.cli.printable import printable
from flintstream.common._text.strict_json import json_text

if TYPE_CHECKING:
    from collections.abc import Iterator


@click.command("metrics", context_settings=SETTINGS)
@click.option(
    "-f",
    "--format",
    "form",
    type=click.Choice(["text", "json", "prometheus"]),
    default="text",
    show_default=True,
    help="Output format.",
)
@click.argument("job", shell_complete=complete_job)
def metrics_command(form: str, job: str) -> None:
    """Show the metrics of a job, its tasks and its operators, by subtask.

    JOB is an id, the beginning of an id, or a name.
    """
    reply = ask_job(job, "prometheus" if form == "prometheus" else "metrics")
    try:
        text = _text(reply, form)
    except MISUNDERSTOOD:
        raise click.ClickException(f"cannot show the metrics of '{job}': {OTHER_RELEASE}") from None
    click.echo("\n".join(map(printable, text.split("\n"))), nl=False)


def _text(reply: Any, form: str) -> str:
    if form == "prometheus":
        if not isinstance(reply, str):
            raise TypeError("not a text")
        return reply
    if form == "json":
        return json_text(reply["operators"], indent=2) + "\n"
    lines = ["job", *_lines(reply["totals"])]
    for task in reply["tasks"]:
        lines += [f"task {task['task']}, subtask {task['subtask'] + 1}", *_lines(task["values"])]
    for item in reply["operators"]:
        lines += [f"{item['operator']}, subtask {item['subtask'] + 1}", *_lines(item["values"])]
    return "".join(f"{line}\n" for line in lines)


def _lines(values: dict[str, Any]) -> Iterator[str]:
    for name, value in sorted(values.items()):
        yield f"    {name} {value:,}" if isinstance(value, int) else f"    {name} {value}"
