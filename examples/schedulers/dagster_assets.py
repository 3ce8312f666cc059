"""Dagster makes an asset with a program. A failed run is tried again, and goes on from the newest checkpoint.

    dagster dev -f dagster_assets.py

Or once: python dagster_assets.py
"""

import os
import sys

import dagster
from flintstream_job import Job

PROGRAM = os.environ.get("PROGRAM", "/opt/jobs/word_count.py")
OUTPUT = os.environ.get("OUTPUT", "/var/lib/flintstream/words")
CHECKPOINTS = os.environ.get("CHECKPOINTS", "/var/lib/flintstream/checkpoints")


@dagster.asset(retry_policy=dagster.RetryPolicy(max_retries=3, delay=60))
def word_counts(context: dagster.AssetExecutionContext) -> dagster.MaterializeResult:
    """The words of a text, counted; the run is shown with the totals of the job."""
    settings = {"execution.checkpointing.dir": CHECKPOINTS, "execution.checkpointing.interval": "30s"}
    totals = Job(PROGRAM, ["--output", OUTPUT], settings).run(context.log.info)
    return dagster.MaterializeResult(metadata=totals)


definitions = dagster.Definitions(assets=[word_counts])

if __name__ == "__main__":
    sys.exit(0 if dagster.materialize([word_counts]).success else 1)
