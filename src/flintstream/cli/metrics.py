"""``flintstream metrics``: metrics of the operators of a running job."""

from __future__ import annotations

import json

import click

from flintstream.cli.jobs import SETTINGS, ask_job
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
    if form == "json":
        click.echo(json.dumps(reply["operators"], indent=2))
        return
    metrics = [SubtaskMetrics(**each) for each in reply["operators"]]
    if form == "prometheus":
        click.echo(prometheus_text(reply["job"], metrics), nl=False)
        return
    for each in metrics:
        click.echo(f"{each.operator}, subtask {each.subtask + 1}")
        for name, value in sorted(each.values.items()):
            click.echo(f"    {name} {value:,}" if isinstance(value, int) else f"    {name} {value}")
