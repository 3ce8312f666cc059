"""``flintstream run``: runs a PyFlink program in this process."""

from __future__ import annotations

import contextlib
import gc
import logging
import os
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from flintstream.cli.configuration import config_option, settings_option, settings_with_file
from flintstream.cli.handing_over import ProgramReady
from flintstream.cli.places import absolute
from flintstream.cli.printable import printable
from flintstream.cli.progress import progress_line
from flintstream.cli.python_program import run_module, run_script, show_without_machinery
from flintstream.errors import FlintstreamError
from flintstream.options.checkpointing import IGNORE_UNCLAIMED, RESTORE_PATH, RESUME, UNTIL_CAUGHT_UP
from flintstream.options.command_line import set_defaults, steps_not_executed, without_sink
from flintstream.options.execution import ENGINE, MASTER, PYTHON_ARCHIVES, PYTHON_EXECUTABLE, PYTHON_REQUIREMENTS
from flintstream.runtime.logs import line_formatter

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

INTERRUPTED = 130


class _ProgramCommand(click.Command):
    """A command whose own options end where the program's arguments start, like ``flink run``."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Split the arguments before click parses them, because it would parse the program's options as well."""
        border = self._end_of_own(args)
        rest = args[border:]
        if rest[:1] == ["--"]:
            rest = rest[1:]
        return super().parse_args(ctx, [*args[:border], "--", *rest] if rest else args[:border])

    def _end_of_own(self, args: list[str]) -> int:
        options = {name: param for param in self.params if isinstance(param, click.Option) for name in param.opts}
        programs = {name for name, param in options.items() if param.name in {"script_option", "module"}}
        has_program = False
        index = 0
        while index < len(args):
            argument = args[index]
            name = argument.partition("=")[0] if argument.startswith("--") else argument
            known = options.get(name)
            if known is None and argument[:2] in options and len(argument) > 2:
                known, name = options[argument[:2]], argument[:2]  # -p4, -Dkey=value
            if argument == "--" or not argument.startswith("-") or (known is None and has_program):
                break
            has_program = has_program or name in programs
            takes_next = known is not None and not known.is_flag and name == argument
            index += 2 if takes_next else 1
        return min(index, len(args))


def _py_files(context: click.Context, parameter: click.Parameter, value: str | None) -> list[str]:
    paths = [os.path.abspath(path) for path in (value or "").split(",") if path]  # noqa: PTH100 - keeps links
    for path in paths:
        if not Path(path).exists():
            raise click.BadParameter(f"{path} does not exist", context, parameter)
    return paths


def _py_archives(context: click.Context, parameter: click.Parameter, value: str | None) -> str:
    entries = [entry.partition("#") for entry in (value or "").split(",") if entry]
    paths = _py_files(context, parameter, ",".join(path for path, _, _ in entries))
    targets = [target or Path(path).name for path, _, target in entries]
    return ",".join(f"{path}#{target}" for path, target in zip(paths, targets, strict=True))


def _py_requirements(context: click.Context, parameter: click.Parameter, value: str | None) -> str:
    return "#".join(_py_files(context, parameter, (value or "").replace("#", ",")))


def _place(context: click.Context, parameter: click.Parameter, value: str | None) -> tuple[str, int] | None:
    if not value:
        return None
    host, colon, port = value.rpartition(":")
    if not colon or "]" in port:
        host, port = value, "0"
    if not port.isdecimal() or int(port) > 65_535:
        raise click.BadParameter(f"must be HOST or HOST:PORT, but got {value!r}", context, parameter)
    return host.strip("[]") or "127.0.0.1", int(port)


def _show_page(stack: contextlib.ExitStack, host: str, port: int) -> None:
    from flintstream.rest.serving import Place, beside

    try:
        place = stack.enter_context(beside(Place(host, port)))
    except FlintstreamError as error:
        click.echo(f"Error: {error}", err=True)
        raise SystemExit(1) from None
    click.echo(f"Jobs at {place.shown_address()}", err=True)


@click.command("run", cls=_ProgramCommand, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--master", metavar="URL", help="Spark master, such as local[4] or spark://host:7077.")
@click.option("-p", "--parallelism", type=click.IntRange(min=1), help="Default parallelism of the program.")
@settings_option
@config_option
@click.option(
    "-pyfs",
    "--pyFiles",
    "py_files",
    metavar="PATHS",
    callback=_py_files,
    help="Python files, directories and zip archives to import from, separated by commas; sent to the tasks.",
)
@click.option(
    "-pyarch",
    "--pyArchives",
    "py_archives",
    metavar="PATHS",
    callback=_py_archives,
    help="Archives to unpack in the tasks' directory, separated by commas; 'archive#directory' names the directory.",
)
@click.option(
    "-pyreq",
    "--pyRequirements",
    "py_requirements",
    metavar="FILE[#DIRECTORY]",
    callback=_py_requirements,
    help="A requirements file to install and send to the tasks, and a directory that contains the packages.",
)
@click.option("-pyexec", "--pyExecutable", "py_executable", metavar="PATH", help="Python interpreter for the tasks.")
@click.option("-s", "--fromSavepoint", "savepoint", metavar="PATH", help="A savepoint or checkpoint to start from.")
@click.option(
    "-n",
    "--allowNonRestoredState",
    "allow_non_restored",
    is_flag=True,
    help="Skip any state in it that no operator of the program uses.",
)
@click.option(
    "--resume",
    is_flag=True,
    help="Start from the latest checkpoint of a job with the same name, if the checkpoint directory has one.",
)
@click.option(
    "--until-caught-up",
    is_flag=True,
    help="End once the job has read the input that its sources had at its start. The next run continues with --resume.",
)
@click.option(
    "-d",
    "--detached",
    "in_background",
    is_flag=True,
    help="Run the program in the background: print the id of its first job as soon as it runs, and return.",
)
@click.option("-py", "--python", "script_option", metavar="SCRIPT", help="The program, as in 'flink run'.")
@click.option("-pym", "--pyModule", "module", metavar="MODULE", help="The program, as a module name.")
@click.option(
    "--progress",
    "progress_form",
    type=click.Choice(["auto", "json", "none"]),
    default="auto",
    show_default=True,
    help="How to show progress on standard error: as one line (on a terminal), as lines of JSON, or not at all.",
)
@click.option(
    "--ui",
    is_flag=True,
    help="Serve a web page that shows and controls the jobs; its address, with a token, is printed.",
)
@click.option(
    "--ui-address",
    metavar="HOST[:PORT]",
    callback=_place,
    help="Where the page listens; by default, 127.0.0.1 and a free port.",
)
@click.option(
    "--log-level",
    type=click.Choice(["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"], case_sensitive=False),
    help="Log level of the program and its tasks; by default, the level that the program sets, and INFO in the tasks.",
)
@click.option("--log-file", type=click.Path(dir_okay=False), help="Append log lines to this file.")
@click.option("-v", "--verbose", is_flag=True, help="Show full tracebacks.")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[SCRIPT] [ARGUMENTS]...")
def run_command(
    master: str | None,
    parallelism: int | None,
    settings: dict[str, str],
    config: str | None,
    py_files: list[str],
    py_archives: str,
    py_requirements: str,
    py_executable: str | None,
    savepoint: str | None,
    allow_non_restored: bool,
    resume: bool,
    until_caught_up: bool,
    in_background: bool,
    script_option: str | None,
    module: str | None,
    progress_form: str,
    ui: bool,
    ui_address: tuple[str, int] | None,
    log_level: str | None,
    log_file: str | None,
    verbose: bool,
    arguments: tuple[str, ...],
) -> NoReturn:
    """Run a PyFlink program.

    The program's arguments follow the script and are passed unchanged. Settings in the program override the options.
    """
    if script_option is not None and module is not None:
        raise click.UsageError("specify either a script or a module, not both")
    script = script_option
    if script is None and module is None:
        if not arguments:
            raise click.UsageError("specify a program: a script, -py SCRIPT or -pym MODULE")
        script, arguments = arguments[0], arguments[1:]
    if script is not None and not Path(script).exists():
        raise click.UsageError(f"the script {script} does not exist")
    if savepoint and resume:
        raise click.UsageError("specify either --fromSavepoint or --resume, not both")
    if not in_background:
        _configure_logs(log_level, log_file)
    settings = settings_with_file(settings, config)
    settings |= {RESTORE_PATH.key: absolute(savepoint)} if savepoint else {}
    settings |= {IGNORE_UNCLAIMED.key: "true"} if allow_non_restored else {}
    settings |= {RESUME.key: "true"} if resume else {}
    settings |= {UNTIL_CAUGHT_UP.key: "true"} if until_caught_up else {}
    settings |= {PYTHON_ARCHIVES.key: py_archives} if py_archives else {}
    settings |= {PYTHON_REQUIREMENTS.key: py_requirements} if py_requirements else {}
    settings |= {PYTHON_EXECUTABLE.key: py_executable} if py_executable else {}

    def start() -> NoReturn:
        announcer = None
        if in_background:
            from flintstream.cli import detached

            announcer = detached.detach(log_file)
            _configure_logs(log_level, log_file)
            _give_lines_their_time()
        imports = [
            path if Path(path).is_dir() or not path.endswith(".py") else str(Path(path).parent) for path in py_files
        ]
        if os.getpid() == 1:  # elsewhere a program ends by these signals as under python, with no handler of ours
            from flintstream.coordinator.signals import end_in_order

            end_in_order()
        with contextlib.ExitStack() as stack:
            if ui or ui_address:
                _show_page(stack, *(ui_address or ("127.0.0.1", 0)))
            progress = stack.enter_context(progress_line(progress_form))
            if announcer is not None:
                announcer.then = progress
            set_defaults(settings, master, parallelism, py_files, progress=announcer or progress)
            given = settings if master is None else {**settings, MASTER.key: master}
            stack.callback(_start_spark(given))
            _serve_pyflink()
            _import_ahead(given)
            end = _run(script, module, arguments, imports, resume=resume)
        if not isinstance(end, SystemExit):
            show_without_machinery(verbose=verbose)
        raise end

    raise ProgramReady(start)


def _start_spark(settings: dict[str, str]) -> Callable[[], None]:
    """Let Spark's JVM start while the program imports its modules and builds its job.

    Returns a function that ends it unless the program has run a job.
    """
    from flintstream.engine.spark.jvm.start import give_up
    from flintstream.engine.spark.session import start_early

    if settings.get(ENGINE.key, ENGINE.default) == ENGINE.default:
        # Without Java or PySpark, for example. The job reports it, if there is one.
        with contextlib.suppress(Exception):
            start_early(settings)
    return give_up


def _serve_pyflink() -> None:
    from flintstream.compat.pyflink import install

    install()


def _import_ahead(settings: dict[str, str]) -> None:
    """Import what nearly every job needs, and keep Python from looking for garbage there.

    It would look through these objects several times when it ends, which takes a tenth of a second.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        with contextlib.suppress(Exception):  # without PySpark, for example: the job reports it
            import flintstream.coordinator.client
            import flintstream.datastream  # noqa: F401

            if settings.get(ENGINE.key, ENGINE.default) == ENGINE.default:
                import_module("flintstream.engine.spark.ahead")
        gc.freeze()
    finally:
        if enabled:
            gc.enable()


def _run(
    script: str | None, module: str | None, arguments: Sequence[str], imports: Sequence[str], *, resume: bool
) -> BaseException:
    """Run the program; return the exception that ends it."""
    from flintstream.coordinator import client, program

    if resume:
        program.begin()
    end: BaseException = SystemExit(0)
    try:
        if script is not None:
            run_script(script, arguments, imports)
        elif module is not None:
            run_module(module, arguments, imports)
        client.wait_for_lasting()
    except KeyboardInterrupt:
        client.cancel_all()  # including those that the program did not wait for
        click.echo("interrupted", err=True)
        end = SystemExit(INTERRUPTED)
    except BaseException as error:  # noqa: BLE001 - programs may raise anything; re-raised later
        end = error
    well = isinstance(end, SystemExit) and not end.code
    program.end(well=well)
    if well:
        for note in _notes():
            click.echo(f"note: {note}", err=True)
    return end


def _notes() -> list[str]:
    """Return what the author of a program that has ended well may have forgotten."""
    notes = [f"the job '{name}' has no sink: its results were discarded" for name in without_sink()]
    notes += [
        f"the program has not executed its steps up to '{name}': call env.execute()" for name in steps_not_executed()
    ]
    return notes


class _Stderr(logging.Handler):
    """Writes to what is standard error at the time, which the progress line replaces."""

    def emit(self, record: logging.LogRecord) -> None:
        try:
            sys.stderr.write(f"{self.format(record)}\n")
            sys.stderr.flush()
        except Exception:  # noqa: BLE001 - as every handler does
            self.handleError(record)


def _give_lines_their_time() -> None:
    """Log with time, level and logger if the program sets no handler; Python would log the bare message."""
    handler = _Stderr(logging.WARNING)
    handler.setFormatter(line_formatter())
    logging.lastResort = handler


def _configure_logs(level: str | None, file: str | None) -> None:
    """Make the program log at this level, and to this file instead of standard error; do nothing if both are None.

    A later ``logging.basicConfig()`` of the program has no effect.

    Raises:
        click.ClickException: The file cannot be opened.
    """
    if level is None and file is None:
        return
    try:
        handler = _Stderr() if file is None else logging.FileHandler(file, encoding="utf-8")
    except OSError as error:
        raise click.ClickException(printable(f"the log file {file} cannot be opened: {error.strerror}")) from None
    handler.setFormatter(line_formatter())
    logging.getLogger().addHandler(handler)
    logging.getLogger().setLevel(level or logging.INFO)
