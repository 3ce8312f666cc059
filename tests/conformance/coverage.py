"""Methods of PyFlink's API that the programs reach, found by watching the calls while they run.

A method is reached when a program calls it, or when a program implements it and it is called. Calls that flintstream
makes to its methods do not count, nor do those of the harness around a program.
"""

from __future__ import annotations

import contextlib
import inspect
import sys
import threading
from importlib import import_module
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from tests.conformance import harness, ours
from tests.parity.parity import names, status

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from types import CodeType, FrameType

    from tests.parity.parity import Name

PROGRAMS = str(harness.PROGRAMS)


class Calls:
    """Record of the calls into programs and out of them."""

    def __init__(self) -> None:
        """Start without calls."""
        self.methods: set[tuple[type, str]] = set()
        """The type of the first argument, or the class itself, and the name of the callee."""
        self.codes: set[CodeType] = set()

    @contextlib.contextmanager
    def watched(self) -> Iterator[None]:
        """Record the calls in this thread, and in threads that start inside the block."""
        before = sys.getprofile()
        threading.setprofile(self._note)
        sys.setprofile(self._note)
        try:
            yield
        finally:
            sys.setprofile(before)
            threading.setprofile(None)

    def _note(self, frame: FrameType, event: str, argument: Any) -> None:
        if event == "c_call" and _of_program(frame):  # a compiled method
            self.methods.add((type(argument.__self__), argument.__name__))
        if event not in {"call", "return"}:
            return
        out_of_program = frame.f_back is not None and _of_program(frame.f_back)
        if event == "return" and out_of_program:
            self.methods.add((type(argument), ""))  # a program gets an object of this class
        if event != "call" or not (out_of_program or _of_program(frame)):
            return
        code = frame.f_code
        self.codes.add(code)
        if code.co_argcount:
            first = frame.f_locals.get(code.co_varnames[0])
            self.methods.add((first if isinstance(first, type) else type(first), code.co_name))

    def reach(self, name: Name) -> bool:
        """Return whether ``name`` has been called; for a class, whether any of its methods has."""
        module = import_module(name.module.replace("pyflink", "flintstream", 1))
        what = attrgetter(name.path)(module)
        if inspect.isclass(what):
            return any(issubclass(of, what) for of, _ in self.methods) or any(
                code in self.codes for code in _codes_of(vars(what).values())
            )
        owner_path, _, method = name.path.rpartition(".")
        owner = attrgetter(owner_path)(module) if owner_path else None
        if owner is None or isinstance(inspect.getattr_static(owner, method), staticmethod | classmethod):
            return any(code in self.codes for code in _codes_of([what]))
        return any(called == method and issubclass(of, owner) for of, called in self.methods)


def _of_program(frame: FrameType) -> bool:
    return frame.f_code.co_filename.startswith(PROGRAMS)


def _codes_of(functions: Any) -> Iterator[CodeType]:
    for function in functions:
        code = getattr(inspect.unwrap(getattr(function, "__func__", function)), "__code__", None)
        if code is not None:
            yield code


def surface() -> list[Name]:
    """Return all methods, functions and classes of PyFlink's release that are possible here.

    Connectors are not among them: programs here have no other system to connect to.
    """
    return [
        name
        for name in names()
        if name.in_release
        and name.parameters is not None
        and not name.module.startswith("pyflink.datastream.connectors")
        and status(name)[0] != "impossible here"
    ]


def run_all(directory: Path) -> Calls:
    """Run every program once, with its highest parallelism, on the inline engine; return the calls."""
    calls = Calls()
    with calls.watched(), ours.alias():
        for program in harness.load_programs().values():
            empty = directory / program.name
            empty.mkdir()
            # A deliberately different result may be an error: the methods called until then have been reached.
            with contextlib.suppress(OverflowError):
                ours.run_program(program, harness.runs_of(program)[-1], "inline", empty)
    return calls
