"""Apache Airflow runs a program every night. A task that fails is tried again, and goes on from the newest checkpoint.

Put this file and flintstream_job.py into the folder of DAGs. To run it once, without a scheduler:

    airflow db migrate && airflow dags reserialize && airflow dags test nightly_counts
"""

from __future__ import annotations

import os
from datetime import datetime, timedelta, timezone

from airflow.sdk import BaseOperator, dag  # Airflow 3
from flintstream_job import Job

PROGRAM = os.environ.get("PROGRAM", "/opt/jobs/word_count.py")
OUTPUT = os.environ.get("OUTPUT", "/var/lib/flintstream/words")
CHECKPOINTS = os.environ.get("CHECKPOINTS", "/var/lib/flintstream/checkpoints")


class FlintstreamOperator(BaseOperator):
    """Runs a program to its end; its totals are the result of the task."""

    template_fields = ("program", "arguments", "settings")

    def __init__(self, *, program, arguments=(), settings=None, **options):
        super().__init__(**options)
        self.program, self.arguments, self.settings = program, list(arguments), dict(settings or {})
        self.job = None

    def execute(self, context):
        self.job = Job(self.program, self.arguments, self.settings)
        return self.job.run(self.log.info)

    def on_kill(self):
        """End the program when the task is cleared, marked, or out of time; its checkpoints stay."""
        if self.job is not None:
            self.job.stop()


@dag(schedule="@daily", start_date=datetime(2026, 1, 1, tzinfo=timezone.utc), catchup=False)
def nightly_counts():
    FlintstreamOperator(
        task_id="count",
        program=PROGRAM,
        arguments=["--output", OUTPUT + "/{{ ds }}"],
        settings={
            "execution.checkpointing.dir": CHECKPOINTS + "/{{ ds }}",
            "execution.checkpointing.interval": "30s",
        },
        retries=3,
        retry_delay=timedelta(minutes=1),
        execution_timeout=timedelta(hours=6),
    )


nightly_counts()
