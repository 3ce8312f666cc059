"""Runs a program with the same environment as ``python script.py`` or ``python -m module``; shows why it failed."""

from __future__ import annotations

import builtins
import os
import pkgutil
import runpy
import sys
from importlib.machinery import SourceFileLoader, SourcelessFileLoader
from types import ModuleType
from typing import TYPE_CHECKING

import click

from flintstream.common._user_code.tracebacks import shorten_tracebacks, steps_of
from flintstream.errors import CheckpointError, ExecutorError, JobCancelledError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

_SAFE_PATH: bool = getattr(sys.flags, "safe_path", False)
"""Whether Python leaves the program's directory out (``-P``), which Python 3.10 cannot."""

HINT = "(run with --verbose for the full traceback)"

_COMMAND = os.path.dirname(os.path.abspath(__file__)) + os.sep  # noqa: PTH100, PTH120 - compared with co_filename


def run_script(script: str, arguments: Sequence[str], imports: Sequence[str]) -> None:
    """Run ``python script arguments...`` in this process; the script may be compiled, a zip archive or a directory.

    ``imports`` are directories and archives to import from, after the script's own directory.
    """
    path = os.path.join(os.getcwd(), script)  # noqa: PTH109, PTH118 - like Python, keep '..' and links
    _forget_command()
    sys.argv = [script, *arguments]
    if pkgutil.get_importer(path) is not None:
        sys.path[:0] = [path, *imports]
        _new_main()
        runpy._run_module_as_main("__main__", alter_argv=False)  # type: ignore[attr-defined]
        return
    own = [] if _SAFE_PATH else [os.path.dirname(os.path.realpath(path))]  # noqa: PTH120
    sys.path[:0] = [*own, *imports]
    main = _new_main()
    main.__file__ = path
    vars(main)["__cached__"] = None
    if path.endswith(".pyc"):
        compiled = SourcelessFileLoader("__main__", path)
        main.__loader__ = compiled
        code = compiled.get_code("__main__")
        assert code is not None  # noqa: S101 - otherwise it raises
    else:
        source = SourceFileLoader("__main__", path)
        main.__loader__ = source
        # Do not inherit this module's flags: 'annotations' would turn the program's annotations into strings.
        code = compile(source.get_data(path), path, "exec", dont_inherit=True)
    exec(code, vars(main))  # noqa: S102 - running the program is the purpose of the command


def run_module(module: str, arguments: Sequence[str], imports: Sequence[str]) -> None:
    """Run ``python -m module arguments...`` in this process; ``imports`` follow the current directory."""
    _forget_command()
    own = [] if _SAFE_PATH else [os.getcwd()]  # noqa: PTH109
    sys.path[:0] = [*own, *imports]
    sys.argv = ["-m", *arguments]
    _new_main()
    runpy._run_module_as_main(module)  # type: ignore[attr-defined]


def _forget_command() -> None:
    """Remove the entry that Python added to the search path for this command: its directory or the current one."""
    if sys.path and not _SAFE_PATH:
        command = os.path.dirname(os.path.realpath(sys.argv[0]))  # noqa: PTH120
        if sys.path[0] in ("", os.getcwd(), command):  # noqa: PTH109
            del sys.path[0]


def _new_main() -> ModuleType:
    """Create the module ``__main__``, permanently: pickled objects and child processes refer to it."""
    main = ModuleType("__main__")
    if sys.version_info < (3, 14):
        vars(main)["__annotations__"] = {}
    vars(main)["__builtins__"] = builtins
    sys.modules["__main__"] = main
    return main


def _of_program(trace: TracebackType | None) -> TracebackType | None:
    """Return the part of a traceback that starts in the program, without this command and its callers."""
    steps = list(steps_of(trace))
    names = [step.tb_frame.f_code.co_filename for step in steps]
    begin = max((n + 1 for n, name in enumerate(names) if name.startswith(_COMMAND)), default=0)
    while begin < len(names) and names[begin].startswith("<frozen "):  # from 'python -m'
        begin += 1
    return steps[begin] if begin < len(steps) else None


def show_without_machinery(*, verbose: bool) -> None:
    """Show the exception that ends this process like Python, but only with the program's lines.

    A hook of the program (``sys.excepthook``) is called as usual.
    """
    hook = sys.excepthook

    def excepthook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if hook is not sys.__excepthook__:
            error.__traceback__ = _of_program(trace)
            hook(kind, error, error.__traceback__)
        elif verbose:
            hook(kind, error, trace)
        elif isinstance(error, (CheckpointError, ExecutorError, JobCancelledError)):
            # the program's lines do not explain these
            click.echo(f"Error: {error}", err=True)
        else:
            error.__traceback__ = _of_program(error.__traceback__)
            hidden = shorten_tracebacks(error)
            hook(kind, error, error.__traceback__)
            if hidden:
                click.echo(HINT, err=True)

    sys.excepthook = excepthook
