"""Follows a tutorial by copying only: writes its files, types its commands, and compares what they print.

Blocks with a caption are files. Of a ``console`` block, lines after ``$`` are commands of one shell, and the
lines below are what they print, where ``...`` stands for any text. Other blocks are only there to be read.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

SECONDS = 300
END = "-- end of the command, exit code"
SUBMITTED = re.compile(r"Job has been submitted with JobID (\w+)")
BLOCK = re.compile(
    r"^```\{code-block\} \w+\n:caption: (?P<file>\S+)\n\n?(?P<text>.*?)^```$|^```console\n(?P<shell>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


@contextmanager
def reader_in(directory: Path) -> Iterator[Reader]:
    """Return a reader who works in a directory, with commands of this installation and an own home."""
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    environment |= {"HOME": str(directory / "home"), "XDG_STATE_HOME": str(directory / "home")}
    (directory / "home").mkdir()
    (directory / "tutorial").mkdir()
    reader = Reader(directory / "tutorial", environment)
    try:
        yield reader
    finally:
        reader.leave()


@dataclass
class File:
    """A file of a tutorial."""

    path: str
    text: str


@dataclass
class Command:
    """A command of a tutorial, and what it prints."""

    line: str
    output: list[str] = field(default_factory=list)

    def prints(self, output: str) -> bool:
        """Tell whether this is what the tutorial shows."""
        shown = r"\n".join(".*".join(map(re.escape, line.split("..."))) for line in self.output)
        return re.fullmatch(shown, output.strip("\n")) is not None

    @property
    def only_looks(self) -> bool:
        """Tell whether a reader would type it again after a while."""
        return self.line.startswith(("cat ", "flintstream list", "python show"))


def steps(page: Path) -> list[File | Command]:
    """Return what a page tells its reader to do."""
    found: list[File | Command] = []
    for block in BLOCK.finditer(page.read_text(encoding="utf-8")):
        if block["file"]:
            found.append(File(block["file"], block["text"]))
            continue
        for line in block["shell"].splitlines():
            if line.startswith("$ "):
                found.append(Command(line[2:]))
            else:
                command = found[-1]
                assert isinstance(command, Command), f"{page.name}: output of no command: {line}"
                command.output.append(line)
    return found


class Reader:
    """A shell in a directory, and somebody who copies a tutorial into it."""

    def __init__(self, directory: Path, environment: Mapping[str, str]) -> None:
        """Start the shell."""
        self.directory = directory
        self.detached: list[str] = []
        self.shell = subprocess.Popen(
            ["/bin/bash"],
            cwd=directory,
            env=dict(environment),
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def follow(self, page: Path, servers: str = "") -> None:
        """Do all steps of a page, except those that install flintstream, or start and end a server.

        Args:
            page: The page.
            servers: The address of the server that runs instead of the one on ``localhost:9092``.

        Raises:
            AssertionError: A command fails, or prints something else.
        """
        for step in steps(page):
            if isinstance(step, File):
                self.write(replace(step, text=step.text.replace("localhost:9092", servers)) if servers else step)
            elif not re.match(r"mkdir|python3 -m venv|pip install|docker ", step.line):
                self.do(step)

    def write(self, file: File) -> None:
        """Write a file."""
        path = self.directory / file.path
        path.parent.mkdir(exist_ok=True)
        path.write_text(file.text, encoding="utf-8")

    def do(self, command: Command) -> None:
        """Type a command until it prints what it should."""
        end = time.monotonic() + SECONDS
        while True:
            code, output = self.type(command.line)
            if code == 0 and (not command.output or command.prints(output)):
                return
            if not command.only_looks or time.monotonic() > end:
                shown = "\n".join(command.output)
                raise AssertionError(f"'{command.line}' ended with {code} and printed\n{output}\ninstead of\n{shown}")
            time.sleep(1)

    def type(self, line: str) -> tuple[int, str]:
        """Run a line, and return its exit code and output."""
        assert self.shell.stdin is not None
        assert self.shell.stdout is not None
        self.shell.stdin.write(f"{line}\nprintf '\\n{END} %s\\n' $?\n")
        self.shell.stdin.flush()
        output = ""
        for text in self.shell.stdout:
            if text.startswith(END):
                return int(text.removeprefix(END)), output
            if found := SUBMITTED.match(text):
                self.detached.append(found[1])
            output += text
        raise AssertionError(f"the shell ended with '{line}', after it had printed\n{output}")

    def leave(self) -> None:
        """End the shell, and what it left in the background."""
        assert self.shell.stdin is not None
        for job in self.detached:  # most have ended, but not if a step failed
            self.shell.stdin.write(f"flintstream cancel {job} >/dev/null 2>&1\n")
        self.shell.stdin.write("kill $(jobs -p) 2>/dev/null; wait; exit\n")
        self.shell.stdin.close()
        if self.shell.stdout is not None:
            self.shell.stdout.close()
        self.shell.wait()
