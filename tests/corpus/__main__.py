"""``python -m tests.corpus FOLDER``: run the programs of the list from a folder of checkouts, and judge them.

Real PyFlink: ``--pyflink /path/to/python --jars flink-sql-connector-kafka-5.0.0-2.2.jar``. Without a folder it writes
``docs/moving-over/compatibility.md`` from the list.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import signal
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from confluent_kafka import KafkaException
from tests.connectors.jdbc.servers import Mariadb, NoServerError, Postgresql
from tests.connectors.kafka.broker import Broker, NoBrokerError
from tests.corpus import checking, listing, page, running
from tests.corpus.running import Servers
from tests.corpus.stand_ins import Aws, Elasticsearch

if TYPE_CHECKING:
    from tests.connectors.jdbc.servers import Server
    from tests.corpus.listing import Program
    from tests.corpus.running import Outcome

ROOT = Path(__file__).parents[2]
SERVED = {"kafka", "jdbc", "aws", "elasticsearch"}
"""The needs for which a server runs."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.corpus", description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, help="holds a checkout OWNER+NAME of each repository")
    parser.add_argument("--only", default="", help="programs with this in their name; several by commas")
    parser.add_argument("--engine", default="spark", choices=["spark", "inline"])
    parser.add_argument("--source", type=Path, default=ROOT / "src", help="the flintstream to run")
    parser.add_argument("--note", choices=["before", "first", "after"], help="write the verdicts into the list")
    parser.add_argument("--apart", action="store_true", help="also run programs that are listed separately")
    parser.add_argument("--tables", action="store_true", help="only programs with tables")
    parser.add_argument("--new", action="store_true", help="only programs without a verdict so far")
    parser.add_argument("--failed", action="store_true", help="only programs without the verdict 'runs' so far")
    parser.add_argument("--check", action="store_true", help="run nothing: note the verdicts of flintstream check")
    parser.add_argument("--pyflink", metavar="PYTHON", help="run on the PyFlink of this Python instead, and note it")
    parser.add_argument(
        "--together", action="store_true", help="run those that end and need no server, all in one process"
    )
    parser.add_argument("--kafka", choices=["with", "without"], help="only programs that need a broker, or none")
    parser.add_argument("--jars", nargs="*", default=[], help="of PyFlink's connectors")
    parser.add_argument("--libraries", default="", help="a directory of packages that programs import")
    parser.add_argument("--patience", type=float, default=1, help="factor of the time limits, for a busy machine")
    parser.add_argument("--keep", type=Path, help="a directory for what the programs print")
    given = parser.parse_args()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in the background, which programs would inherit
    if given.check:
        programs = listing.read()
        checking.check_all(programs, given.folder)
        listing.write(programs)
        print(checking.shares(programs))
    elif given.folder is not None:
        _run_all(given)
    page.write(listing.read())
    return 0


def _run_all(given: argparse.Namespace) -> None:
    column = "pyflink" if given.pyflink else given.note or "after"
    way = (
        running.pyflink(given.pyflink, given.jars)
        if given.pyflink
        else running.flintstream(given.source.absolute(), given.engine)
    )
    chosen = [program for program in listing.read() if any(part in program.name for part in given.only.split(","))]
    if given.kafka:
        chosen = [program for program in chosen if ("kafka" in program.needs) == (given.kafka == "with")]
    if not given.apart and not given.pyflink:
        chosen = [program for program in chosen if program.counted in {"yes", "table", "older"}]
    if given.tables:
        chosen = [program for program in chosen if program.counted == "table"]
    if given.new:
        chosen = [program for program in chosen if not getattr(program, column)]
    if given.failed:
        chosen = [program for program in chosen if getattr(program, column) != "runs"]
    if given.together:
        chosen = [
            program for program in chosen if program.bounded and not program.env and not SERVED & {*program.needs}
        ]
    with contextlib.ExitStack() as stack:
        places = _Places(stack, given.libraries, given.patience)
        process = running.OneProcess(way, given.libraries) if given.together else None
        if process is not None:
            stack.callback(process.close)
        for program in chosen:
            if not program.checkout(given.folder).is_dir():
                print(f"no checkout: {program.name}", flush=True)
                continue
            try:
                servers = places.of(program, given.folder)
            except (NoBrokerError, NoServerError) as error:
                print(f"not run: {program.name}  {error}", flush=True)
                continue
            try:
                outcome = running.run(program, given.folder.absolute(), way, servers, process)
            except KafkaException as error:  # a name in the recipe that no topic can have
                print(f"not run: {program.name}  {error}", flush=True)
                continue
            outcome = _compared(program, outcome, pyflink=bool(given.pyflink))
            print(f"{outcome.verdict:8}{outcome.seconds:6.1f} s  {program.name}  {outcome.reason}", flush=True)
            if given.keep:
                _keep(given.keep, program, outcome)
            if given.note or given.pyflink:
                _note(program.name, column, outcome)


def _needs_no_own_process(program: Program) -> bool:
    return program.bounded and not program.env and not SERVED & {*program.needs}


class _Places:
    """Servers, each started for the first program that needs it."""

    def __init__(self, stack: contextlib.ExitStack, libraries: str, patience: float) -> None:
        self.stack = stack
        self.libraries = libraries
        self.patience = patience
        self.broker: Broker | None = None
        self.databases: dict[type[Server], Server] = {}
        self.aws: Aws | None = None
        self.elasticsearch: Elasticsearch | None = None

    def of(self, program: Program, folder: Path) -> Servers:
        """Return the environment that a program needs."""
        if self.broker is None and "kafka" in program.needs:
            self.broker = Broker(self.stack.enter_context(tempfile.TemporaryDirectory(prefix="corpus-broker-")))
            self.stack.callback(self.broker.close)
        database = None
        if "jdbc" in program.needs:
            text = (program.checkout(folder) / program.file).read_text("utf-8")
            kind = Mariadb if "jdbc:mysql" in text else Postgresql
            if kind not in self.databases:
                self.databases[kind] = kind()
                self.stack.callback(self.databases[kind].close)
            database = self.databases[kind]
        if self.aws is None and "aws" in program.needs:
            self.aws = Aws()
            self.stack.callback(self.aws.close)
        if self.elasticsearch is None and "elasticsearch" in program.needs:
            self.elasticsearch = Elasticsearch()
            self.stack.callback(self.elasticsearch.close)
        return Servers(
            self.broker if "kafka" in program.needs else None,
            database,
            self.libraries,
            self.patience,
            self.aws if "aws" in program.needs else None,
            self.elasticsearch if "elasticsearch" in program.needs else None,
        )


def _compared(program: Program, outcome: Outcome, *, pyflink: bool) -> Outcome:
    comparable = not pyflink and outcome.verdict == "runs" and program.compare and program.output
    if comparable and outcome.digest != program.output:
        outcome.verdict, outcome.reason = "differs", f"prints {outcome.digest}, PyFlink {program.output}"
    return outcome


def _keep(directory: Path, program: Program, outcome: Outcome) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    name = program.name.replace("/", "__")
    (directory / f"{name}.out").write_text(outcome.output, "utf-8")
    (directory / f"{name}.err").write_text(outcome.errors, "utf-8")


def _note(name: str, column: str, outcome: Outcome) -> None:
    """Write a verdict into the current list, which may have been edited meanwhile."""
    with Path(tempfile.gettempdir(), "corpus.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        programs = listing.read()
        for program in programs:
            if program.name == name:
                setattr(program, column, outcome.verdict)
                if column == "after":
                    program.error = outcome.reason
                if column == "pyflink" and outcome.verdict == "runs" and program.bounded and program.compare:
                    program.output = outcome.digest
        listing.write(programs)


if __name__ == "__main__":
    sys.exit(main())
