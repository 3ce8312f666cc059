"""Finds out what executors lack, sends it, and refuses versions that do not fit, before the first epoch."""

from __future__ import annotations

import builtins
import importlib.metadata
import logging
import os
import sys
from types import FunctionType
from typing import TYPE_CHECKING, Any

from flintstream.engine.spark.provision.packing import SUFFIX, compiled_modules, package_archive, program_archive
from flintstream.engine.spark.slots import variant
from flintstream.errors import ExecutorError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

__all__ = ["has_executors", "misfit", "prepare_context"]

_log = logging.getLogger(__name__)

NEEDED = ("flintstream", "cloudpickle", "msgpack")
"""The packages that every task imports. They work where their compiled parts do not load."""

SAME_MINOR = ("pyspark",)
SAME_MAJOR = ("cloudpickle", "msgpack")
"""Packages whose objects are sent to tasks: other major versions cannot read them."""

COMPARED = ("numpy", "pandas", "pyarrow")
"""Packages whose objects a program may send to tasks."""

PROBES = 16
"""The most tasks that look at executors. Each is likely to run on another executor."""

_seen: dict[tuple[Any, ...], list[str]] = {}
"""What identifies the executors' Python in a Spark application -> the paths with the packages it lacks."""

_sent: set[tuple[str, str]] = set()
"""(Spark application, archive)."""


def has_executors(master: str) -> bool:
    """Tell whether tasks run in other processes than the driver, perhaps on other machines.

    >>> has_executors("local[2]"), has_executors("spark://host:7077"), has_executors("local-cluster[1,1,1024]")
    (False, True, True)
    """
    return not master.startswith("local") or master.startswith("local-cluster")


def prepare_context(context: Any) -> Any:
    """Return a Spark context whose tasks find flintstream and the program's own modules.

    Raises:
        ExecutorError: A version on the executors does not fit.
    """
    if not has_executors(context.master):
        return context
    application = context.applicationId
    paths = []
    program = program_archive()
    if program is not None:
        _once(application, program.name, lambda: context.addArchive(f"{program}#{program.stem}"))
        paths.append(f"./{program.stem}")
    key = application, context.pythonExec, tuple(sorted(context.environment.items()))
    if key not in _seen:
        _seen[key] = _packages(context, paths)
    return _with_paths(context, [*paths, *_seen[key]])


def _packages(context: Any, paths: Sequence[str]) -> list[str]:
    """Send the needed packages that executors with these paths lack; return further paths, with the packages.

    Spark unpacks archives into the directory of each executor, once and before any task that needs them, and removes
    them with it.

    Raises:
        ExecutorError: A version does not fit.
    """
    lacking = _lacking(_with_paths(context, paths))
    if not lacking:
        return []
    archive = package_archive({name: _version(name) for name in lacking})
    _once(context.applicationId, archive.name, lambda: context.addArchive(f"{archive}#{archive.stem}"))
    sent = [f"./{archive.stem}"]
    _try_compiled(_with_paths(context, [*paths, *sent]), compiled_modules(lacking))
    return sent


def _once(application: str, name: str, send: Any) -> None:
    if (application, name) not in _sent:
        send()
        _sent.add((application, name))


def _with_paths(context: Any, paths: Iterable[str]) -> Any:
    """Return the context with directories, relative to those of executors, in front of the module search path."""
    given = context.environment.get("PYTHONPATH")
    joined = os.pathsep.join([*paths, *([given] if given else ())])
    if joined == (given or ""):
        return context
    return variant(context, environment={**context.environment, "PYTHONPATH": joined})


def _lacking(context: Any) -> list[str]:
    """Return the needed packages that executors lack.

    Raises:
        ExecutorError: A version does not fit.
    """
    names = (*NEEDED, *SAME_MINOR)
    compared = tuple(name for name in COMPARED if name in sys.modules)
    here = {name: _version(name) for name in (*names, *compared)}
    lacking: set[str] = set()
    for host, there in _answers(context, _look, names, compared):
        problem = misfit(here, there)
        if problem is not None:
            raise ExecutorError(f"the executors (host {host}) {problem}", final=True)
        for name in compared:
            if _differ(here[name], there[name], 1):
                _log.warning(
                    "the executors (host %s) have %s %s and the driver has %s: install the same major version on both",
                    host, name, there[name], here[name],
                )  # fmt: skip
        lacking |= {name for name in NEEDED if there[name] is None}
    return sorted(lacking)


def _try_compiled(context: Any, modules: Sequence[str]) -> None:
    """Say once if executors cannot load compiled modules that they get.

    Only the attempt shows it: a module may also need a newer C library than theirs, or lie where nothing may run.
    """
    answers = _answers(context, _load, tuple(modules), SUFFIX) if modules else []
    for host, reasons in answers:
        if reasons:
            packages = sorted({name.partition(".")[0] for name in reasons})
            _log.warning(
                "the executors run %s in pure Python, which is slower, because compiled parts do not load there "
                "(host %s: %s): run 'pip install %s' there",
                " and ".join(packages), host, next(iter(reasons.values())),
                " ".join(f"{name}=={_version(name)}" for name in packages),
            )  # fmt: skip
            return


def _answers(context: Any, function: Callable[..., tuple[str, Any]], *arguments: Any) -> list[tuple[str, Any]]:
    """Return what a function, which may use no global name, returns on executors."""
    count = max(1, min(context.defaultParallelism, PROBES))
    sent = _by_value(function)
    return context.parallelize(range(count), count).map(lambda _: sent(*arguments)).collect()  # type: ignore[no-any-return]


def misfit(here: Mapping[str, str | None], there: Mapping[str, str | None]) -> str | None:
    """Return what does not fit in the versions of packages on an executor, and what to do; None if all fit.

    >>> misfit({"flintstream": "1.1"}, {"flintstream": "1.0"})
    "have flintstream 1.0 and the driver has 1.1: run 'pip install flintstream==1.1' there"
    >>> misfit({"flintstream": "1.1"}, {"flintstream": None})
    """
    for name, parts in (("pyspark", 2), ("flintstream", None), *((name, 1) for name in SAME_MAJOR)):
        ours, theirs = here.get(name), there.get(name)
        if ours is not None and theirs is not None and _differ(ours, theirs, parts):
            return f"have {name} {theirs} and the driver has {ours}: run 'pip install {name}=={ours}' there"
    return None


def _differ(ours: str | None, theirs: str | None, parts: int | None) -> bool:
    if ours is None or theirs is None:
        return False
    return ours.split(".")[:parts] != theirs.split(".")[:parts]


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:  # on PYTHONPATH, not installed
        return str(getattr(sys.modules.get(name), "__version__", "0.0.0+unknown"))


def _by_value(function: Any) -> Any:
    """Return a function that is pickled with its code: executors may lack its module."""
    return FunctionType(function.__code__, {"__builtins__": builtins, "__name__": "__main__"}, function.__name__)


def _look(imported: tuple[str, ...], named: tuple[str, ...]) -> tuple[str, dict[str, str | None]]:
    """Return the host and the versions of packages; None for those that are absent. Runs without flintstream."""
    import importlib.metadata
    import socket

    found: dict[str, str | None] = {}
    for name in (*imported, *named):
        try:
            version = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            version = None
        if name in imported:
            try:
                module = importlib.import_module(name)
            except ModuleNotFoundError as error:
                if (error.name or "").partition(".")[0] != name:
                    raise
                version = None
            else:
                version = version or str(getattr(module, "__version__", "0.0.0+unknown"))
        found[name] = version
    return socket.gethostname(), found


def _load(modules: tuple[str, ...], suffix: str) -> tuple[str, dict[str, str]]:
    """Return the host, and why compiled modules do not load, by name. Their files end with ``suffix``."""
    import importlib
    import socket
    import sysconfig

    reasons: dict[str, str] = {}
    for name in modules:
        try:
            importlib.import_module(name)
        except ImportError as error:
            own = sysconfig.get_config_var("EXT_SUFFIX")
            reasons[name] = str(error) if own == suffix else f"its Python loads *{own}, not *{suffix}"
    return socket.gethostname(), reasons
