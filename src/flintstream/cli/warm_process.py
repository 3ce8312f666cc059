"""A process with Spark that waits for a program (``python -m flintstream.cli.warm_process``).

Its supervisor starts it.
"""

from __future__ import annotations

import gc
import os
import signal
import socket
import sys
from typing import Any, NoReturn

from flintstream.cli import main
from flintstream.cli.handing_over import receive, send
from flintstream.coordinator.signals import NUMBERS
from flintstream.options.command_line import reset_defaults, set_defaults
from flintstream.options.execution import CONTROL, ENGINE, MASTER


class _Silent:
    """A listener to progress that shows nothing: with one, the lines of Spark's JVM go through this process."""

    def on_starting(self, job_name: str) -> None: ...

    def on_job_submitted(self, job_client: Any, error: BaseException | None) -> None: ...

    def on_progress(self, progress: Any) -> None: ...

    def on_job_executed(self, progress: Any, result: Any, error: BaseException | None) -> None: ...


def start_spark(settings: dict[str, str]) -> None:
    """Run a small job, which loads and starts all that the first job of a program needs."""
    import flintstream.cli.run  # noqa: F401 - as programs need it
    from flintstream.datastream import StreamExecutionEnvironment
    from flintstream.engine.spark.jvm.start import leave_at_exit
    from flintstream.engine.spark.session import set_aside

    leave_at_exit()
    set_defaults({**settings, CONTROL.key: "false"}, None, None, [], progress=_Silent())
    env = StreamExecutionEnvironment.get_execution_environment()
    with env.from_collection([1, 2]).key_by(lambda n: n).reduce(lambda a, _: a).execute_and_collect() as results:
        list(results)
    reset_defaults()
    for number in NUMBERS:  # as before the first job of a program
        signal.signal(number, signal.SIG_DFL)
    if settings.get(ENGINE.key, ENGINE.default) == ENGINE.default:
        set_aside(settings)
    gc.collect()  # what is left of the job; objects that exist when a program starts are never garbage


def wait_for_program(supervisor: socket.socket) -> NoReturn:
    """Start Spark, wait for a program, and run it as ``flintstream run`` does."""
    with supervisor:
        given, _ = receive(supervisor)  # not on the command line, which every user can read
        if given is None:
            raise SystemExit(0)
        settings, master = given["settings"], given["master"]
        start_spark(settings if master is None else {**settings, MASTER.key: master})
        try:
            send(supervisor, {"ready": True})
            request, descriptors = receive(supervisor)
        except OSError:
            request = None
    if request is None:  # the server has ended
        raise SystemExit(0)
    for descriptor, target in zip(descriptors, (0, 1, 2), strict=True):
        os.dup2(descriptor, target)
        os.close(descriptor)
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(line_buffering=stream.isatty() or stream is sys.stderr)  # type: ignore[union-attr]
    os.umask(request["umask"])
    os.environ.clear()
    os.environ.update(request["environment"])
    sys.argv[:] = ["flintstream", *request["arguments"]]
    main(args=request["arguments"], prog_name="flintstream")
    raise SystemExit(0)


if __name__ == "__main__":
    wait_for_program(socket.socket(fileno=int(sys.argv[1])))
