"""A job in a process of its own, for schedulers. Copy this file beside the DAGs or assets that use it."""

from __future__ import annotations

import json
import os
import subprocess

TOTALS = ("job_id", "job_name", "records_in", "records_out", "checkpoints", "restarts", "runtime_ms", "error")


class Job:
    """A program that ``flintstream run`` runs, from its newest checkpoint if there is one.

    A scheduler and flintstream need not share an environment: the variable FLINTSTREAM names the command.
    """

    def __init__(self, program, arguments=(), settings=None):
        command = os.environ.get("FLINTSTREAM", "flintstream")
        options = [word for key, value in (settings or {}).items() for word in ("-D", f"{key}={value}")]
        self.command = [command, "run", "--resume", "--progress", "json", *options, program, *arguments]
        self.totals = {}
        self.process = None

    def run(self, log):
        """Wait for the end of the program. Call ``log`` with each line that it writes; return the totals of its job."""
        with subprocess.Popen(  # noqa: S603 - the author of the DAG chooses it
            self.command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
        ) as self.process:
            try:
                for line in self.process.stdout:
                    self._read(line.rstrip(), log)
            except BaseException:
                self.stop()
                raise
        if self.process.returncode:
            error = self.totals.get("error") or "see the lines above"
            raise RuntimeError(f"the program ended with exit code {self.process.returncode}: {error}")
        return self.totals

    def stop(self):
        """End the program. It keeps its checkpoints, and the next run goes on from there."""
        if self.process is not None:
            self.process.terminate()

    def _read(self, line, log):
        try:
            event = json.loads(line)["event"]
        except (ValueError, TypeError, KeyError):
            log(line)
            return
        told = json.loads(line)
        if event == "executed":
            self.totals = {name: told[name] for name in TOTALS if told.get(name) is not None}
        elif event == "submitted" and told["error"] is not None:
            self.totals = {"error": told["error"]}
        elif event == "submitted":
            log(f"job {told['job_id']}")
