"""``flintstream metrics``: metrics of the operators of a running job."""

from __future__ import annotations

import json
from typing import Any

import click

from flintstream.cli.jobs import MISUNDERSTOOD, OTHER_RELEASE, SETTINGS, ask_job
from flintstream.cli.printable import printable
from flintstream.metrics.subtask import SubtaskMetrics, prometheus_text


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
@click.argument("job")
def metrics_command(form: str, job: str) -> None:
    """Show the metrics of JOB (an id, its beginning, or a name), by operator and subtask."""
    reply = ask_job(job, "metrics")
    try:
        text = _text(reply, form)
    except MISUNDERSTOOD:
        raise click.ClickException(f"cannot show the metrics of '{job}': {OTHER_RELEASE}") from None
    click.echo("\n".join(map(printable, text.split("\n"))), nl=False)


def _text(reply: dict[str, Any], form: str) -> str:
    if form == "json":
        return json.dumps(reply["operators"], indent=2) + "\n"
    metrics = [SubtaskMetrics(**each) for each in reply["operators"]]
    if form == "prometheus":
        return prometheus_text(reply["job"], metrics)
    lines = []
    for each in metrics:
        lines.append(f"{each.operator}, subtask {each.subtask + 1}")
        for name, value in sorted(each.values.items()):
            lines.append(f"    {name} {value:,}" if isinstance(value, int) else f"    {name} {value}")
    return "".join(f"{line}\n" for line in lines)
