"""The interactive client of ``flintstream sql``, by prompt_toolkit."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import click
from prompt_toolkit import PromptSession
from prompt_toolkit.completion import Completer, Completion
from prompt_toolkit.filters import is_done
from prompt_toolkit.history import FileHistory, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.lexers import PygmentsLexer
from prompt_toolkit.styles import Style
from pygments.lexers.sql import SqlLexer  # type: ignore[import-untyped]

from flintstream.cli.printable import printable
from flintstream.cli.sql.runner import QuitError, Runner, printable_lines
from flintstream.common._text.secrets import without_secrets
from flintstream.coordinator import registry
from flintstream.errors import FlintstreamError
from flintstream.options.execution import RUNTIME_MODE
from flintstream.sql_gateway.completion import candidates, word_before
from flintstream.sql_gateway.scripts import split_script
from flintstream.storage.private import make_private

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from prompt_toolkit.completion import CompleteEvent
    from prompt_toolkit.document import Document
    from prompt_toolkit.history import History
    from prompt_toolkit.key_binding import KeyPressEvent

    from flintstream.sql_gateway.sessions import Session

PROMPT, CONTINUED = "flintstream> ", "           | "
ALONE = {"QUIT", "EXIT", "HELP", "CLEAR"}
"""Statements that need no semicolon."""
_SECRET = re.compile("password|secret|token|credential", re.IGNORECASE)
_STYLE = Style.from_dict({"bottom-toolbar": "noreverse #888888"})


def run_shell(session: Session) -> None:
    """Read statements from the terminal, and run them until QUIT or Ctrl-D."""
    runner = Runner(session, write_paged)
    prompt: PromptSession[str] = PromptSession(
        history=_history(),
        completer=CatalogCompleter(session),
        complete_while_typing=False,
        lexer=PygmentsLexer(SqlLexer),
        multiline=True,
        key_bindings=_bindings(),
        prompt_continuation=CONTINUED,
        bottom_toolbar=lambda: _status(session),
        style=_STYLE,
    )
    click.echo("HELP shows help; Ctrl-D ends the client.")
    while True:
        try:
            runner.run_script(prompt.prompt(PROMPT))
        except KeyboardInterrupt:  # at the prompt: it forgets what was typed
            continue
        except (EOFError, QuitError):
            return


class CatalogCompleter(Completer):
    """Completes words of SQL, and the names of a session's catalog."""

    def __init__(self, session: Session) -> None:
        """Look into the catalog of a session."""
        self._session = session

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:
        """Yield what the word at the cursor may become."""
        statements = split_script(document.text_before_cursor)
        last = statements[-1] if statements else None
        text = (
            ""
            if last is None or last.ended
            else document.text_before_cursor[document.text_before_cursor.rfind(last.text) :]
        )
        word = word_before(text)
        for item in candidates(self._session.environment, text, len(text)):
            yield Completion(item, start_position=-len(word))


class PrivateHistory(FileHistory):
    """A history in a file that only its user can read, without statements that may have passwords."""

    def store_string(self, string: str) -> None:
        """Append a statement to the file."""
        if not _SECRET.search(string) and without_secrets(string) == string:
            super().store_string(string)


def _history() -> History:
    state = os.environ.get("XDG_STATE_HOME")
    directory = (Path(state) if state else Path.home() / ".local" / "state") / "flintstream"
    path = directory / "sql-history"
    try:
        make_private(directory)
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600))
        path.chmod(0o600)
    except OSError as error:
        click.echo(printable(f"the history cannot be saved: {error}"), err=True)
        return InMemoryHistory()
    return PrivateHistory(str(path))


def _bindings() -> KeyBindings:
    bindings = KeyBindings()

    @bindings.add("enter", filter=~is_done)
    def _(event: KeyPressEvent) -> None:
        """Run the statements if the last one has ended, else begin another line."""
        buffer = event.current_buffer
        if is_complete(buffer.text):
            buffer.validate_and_handle()
        else:
            buffer.insert_text("\n")

    return bindings


def is_complete(text: str) -> bool:
    """Tell whether a text can run: its last statement has a semicolon, or needs none.

    >>> is_complete("SELECT 1"), is_complete("SELECT 1;"), is_complete("help"), is_complete("")
    (False, True, True, True)
    """
    statements = split_script(text)
    return not statements or statements[-1].ended or statements[-1].text.upper() in ALONE


def _status(session: Session) -> str:
    environment = session.environment
    jobs = len(registry.entries())
    try:
        place = f"{environment.get_current_catalog()}.{environment.get_current_database()}"
    except FlintstreamError:  # it has been dropped
        place = "no catalog"
    mode = environment.get_config().get(RUNTIME_MODE.key, RUNTIME_MODE.default).lower()
    return f"{printable(place)} | {mode} | {jobs} running job{'' if jobs == 1 else 's'}"


def write_paged(lines: Iterable[str]) -> None:
    """Write lines as they come, or a list that is longer than the screen with a pager."""
    height = shutil.get_terminal_size().lines
    if isinstance(lines, list) and len(lines) >= height:
        click.echo_via_pager("\n".join(map(printable_lines, lines)) + "\n")
        return
    for line in lines:
        click.echo(printable_lines(line))
