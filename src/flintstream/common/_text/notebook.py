"""What IPython and Jupyter show of a program. IPython is imported only where a program runs in it."""

from __future__ import annotations

import sys
import threading
from html import escape
from importlib import import_module
from typing import TYPE_CHECKING, Any

from flintstream.common._user_code.tracebacks import shorten_tracebacks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

__all__ = ["FIRST", "PATIENCE_SECONDS", "follow", "running_shell", "shorten_tracebacks_in_ipython", "table_html"]

HINT = "(%tb shows the full traceback)"
FIRST = 20
"""How many records of a result are shown."""
PATIENCE_SECONDS = 10.0
"""How long to wait for them."""
_REFRESH_SECONDS = 0.5


def running_shell() -> Any:
    """Return the shell of IPython that runs this program, or None."""
    module = sys.modules.get("IPython")
    get = getattr(module, "get_ipython", None)
    return None if get is None else get()


def shorten_tracebacks_in_ipython() -> None:
    """Reduce the tracebacks that IPython shows from now on to the program's own lines, unless it has another handler.

    ``%tb`` shows a whole one, and ``%debug`` has all of its frames.
    """
    shell = running_shell()
    if shell is not None and not getattr(shell, "custom_exceptions", True):
        shell.set_custom_exc((Exception, KeyboardInterrupt), _show_short)


def _show_short(
    shell: Any, kind: type[BaseException], error: BaseException, trace: Any, tb_offset: object = None
) -> None:
    whole = shorten_tracebacks(error)
    try:
        shell.showtraceback((kind, error, error.__traceback__), tb_offset=tb_offset)
    finally:
        for item, steps in whole:
            item.__traceback__ = steps
        sys.last_traceback = trace
    if whole:
        print(HINT, file=sys.stderr)  # noqa: T201 - below the traceback


def follow(html: Callable[[], str], text: str, ended: Callable[[], bool]) -> None:
    """Show ``html()`` in a notebook, and change it there until ``ended()``.

    Raises:
        NotImplementedError: This is not a notebook. IPython then shows an object as usual.
    """
    if not hasattr(running_shell(), "kernel"):
        raise NotImplementedError
    display = import_module("IPython.display").display  # it runs this program

    def now() -> dict[str, str]:
        return {"text/html": html(), "text/plain": text}

    over = ended()
    handle = display(now(), raw=True, display_id=True)

    def refresh() -> None:
        finished = over
        while not finished:
            pause.wait(_REFRESH_SECONDS)
            finished = ended()
            handle.update(now(), raw=True)

    pause = threading.Event()
    if not over:
        threading.Thread(target=refresh, name="notebook", daemon=True).start()


def table_html(heads: Sequence[str], rows: Iterable[Sequence[object]], caption: str = "") -> str:
    """Return a table in HTML.

    >>> table_html(["n"], [[1], ["<"]], "all")
    '<div>all</div><table><tr><th>n</th></tr><tr><td>1</td></tr><tr><td>&lt;</td></tr></table>'
    """
    above = f"<div>{escape(caption)}</div>" if caption else ""
    first = "".join(f"<th>{escape(head)}</th>" for head in heads)
    lines = ("".join(f"<td>{escape(str(cell))}</td>" for cell in row) for row in rows)
    return f"{above}<table><tr>{first}</tr>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>"
