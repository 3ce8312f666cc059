"""Limits on a process that reads hostile inputs: memory, time, the files it may write, and what it may run."""

from __future__ import annotations

import os
import resource
import signal
import sys
from pathlib import Path
from typing import Any

from tests.fuzz.target import Violation

MEMORY = 1 << 30
"""Bytes that reading one input may take in addition to those of the process at its start."""

SECONDS = 20
"""CPU time for one input. It does not depend on what else the machine does."""

_RUNS_CODE = ("exec", "compile", "os.system", "os.exec", "os.posix_spawn", "subprocess.Popen", "pickle.find_class")
_WRITES = ("os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.symlink", "os.link", "os.truncate", "os.chmod")

_guarded: dict[str, Any] = {"inside": None, "may_unpickle": False}


def limit() -> None:
    """Limit the memory of this process, and the size of the files it writes."""
    used = int(_status("VmSize")) * 1024
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
    resource.setrlimit(resource.RLIMIT_FSIZE, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sys.addaudithook(_audit)


def _status(key: str) -> str:
    with Path("/proc/self/status").open(encoding="ascii") as file:
        return next(line.split()[1] for line in file if line.startswith(key + ":"))


def start(inside: Path, *, may_unpickle: bool) -> None:
    """Begin with an input: the process dies if it takes too long, and an error is raised if it breaks the rules."""
    signal.setitimer(signal.ITIMER_PROF, SECONDS)  # SIGPROF ends the process, also within compiled code
    _guarded.update(inside=os.fspath(inside), may_unpickle=may_unpickle)


def stop() -> None:
    """End with an input."""
    signal.setitimer(signal.ITIMER_PROF, 0)
    _guarded["inside"] = None


def peak_bytes() -> int:
    """Return the most memory that this process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    inside = _guarded["inside"]
    if inside is None:
        return
    if event == "open":
        path, mode, flags = arguments
        writes = flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC) if isinstance(flags, int) else "w" in mode
        if writes and not isinstance(path, int):
            _check_inside(path, inside)
    elif event in _WRITES:
        for path in arguments[:2] if event in {"os.rename", "os.link"} else arguments[:1]:
            if isinstance(path, (str, bytes, os.PathLike)) and not (event == "os.remove" and arguments[-1] != -1):
                _check_inside(path, inside)
    elif event in _RUNS_CODE and not _guarded["may_unpickle"]:
        if event in {"exec", "compile"} and _is_ours():
            return
        raise Violation(f"it runs code: {event}{arguments!r:.200}")


def _check_inside(path: Any, inside: str) -> None:
    text = os.path.realpath(os.fsdecode(path))
    if not text.startswith(inside) and text != "/dev/null" and "__pycache__" not in text:
        raise Violation(f"it writes outside of its directory: {text}")


def _is_ours() -> bool:
    """Tell whether code is compiled by an import or by a library that generates it, and not by an input."""
    frame = sys._getframe(2)
    while frame is not None:
        name = frame.f_code.co_filename
        if "pickle" in name:
            return False
        if name.startswith("<frozen importlib") or name.endswith(
            ("_types/conversion.py", "fused.py", "_expressions/codegen.py", "collections/__init__.py")
        ):
            return True
        frame = frame.f_back  # type: ignore[assignment]
    return True
