"""Planning of deeply nested statements, on a thread whose stack has room for them.

Plans and expressions are trees, and the planner's functions are recursive. Python allows 1,000 nested calls,
which a statement with 60 parentheses needs in the parser alone. A function that runs out of them runs once more, on a
thread with a larger stack. So it must not change anything before it returns.
"""

from __future__ import annotations

import contextvars
import sys
import threading
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, TypeVar

from flintstream.table._errors import SqlError

if TYPE_CHECKING:
    from collections.abc import Callable

    Function = TypeVar("Function", bound=Callable[..., Any])
    Result = TypeVar("Result")

STACKS = ((512 << 20, 150_000), (64 << 20, 20_000))
"""Sizes of a stack in bytes, of which only what is used takes memory, and how many calls fit into it.

The smaller one is for systems that limit the address space of a process.
"""

_here = threading.local()
_lock = threading.Lock()
_running: list[int] = []
"""The limit of Python before the first of the deep threads that run now, and a number for each of the others."""


def deep(function: Function) -> Function:
    """Return a function that runs once more on a deep stack if this thread's stack is too small.

    Raises:
        SqlError: The deep stack is too small, too.
    """

    @wraps(function)
    def call(*arguments: Any, **named: Any) -> Any:
        try:
            return function(*arguments, **named)
        except RecursionError:
            if is_deep():
                raise
        return on_deep_stack(partial(function, *arguments, **named))

    return call  # type: ignore[return-value]


def is_deep() -> bool:
    """Return whether this thread has a deep stack."""
    return getattr(_here, "deep", False)


def on_deep_stack(call: Callable[[], Result]) -> Result:
    """Return the result of a call on a deep stack.

    Raises:
        SqlError: The call needs a larger stack.
    """
    if is_deep():
        return call()
    results: list[Result] = []
    errors: list[BaseException] = []
    context = contextvars.copy_context()

    def run() -> None:
        _here.deep = True
        try:
            results.append(context.run(call))
        except BaseException as error:  # noqa: BLE001 - the caller gets it
            errors.append(error)

    thread, calls = _start(run)
    try:
        thread.join()
    finally:
        _restore_limit()
    for error in errors:
        if isinstance(error, (RecursionError, MemoryError)):
            raise SqlError(
                f"the statement or expression is nested too deeply: planning it needs more than {calls:,} nested "
                f"calls. Split it, or use a shorter form, such as IN instead of OR"
            ) from None
        raise error
    return results[0]


def _start(run: Callable[[], None]) -> tuple[threading.Thread, int]:
    with _lock:
        _running.append(0 if _running else sys.getrecursionlimit())
        for size, calls in STACKS:
            before = threading.stack_size(size)
            try:
                sys.setrecursionlimit(max(calls, sys.getrecursionlimit()))
                thread = threading.Thread(target=run, name="flintstream-planning", daemon=True)
                thread.start()
            except RuntimeError:  # there is not as much address space
                continue
            else:
                return thread, calls
            finally:
                threading.stack_size(before)
    _restore_limit()
    raise SqlError("the statement needs a larger stack, and this process cannot start a thread with one")


def _restore_limit() -> None:
    with _lock:
        limit = _running[0]
        _running.pop()
        if not _running:
            sys.setrecursionlimit(limit)
