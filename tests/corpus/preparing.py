"""Files, topics and tables that a program expects."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import TYPE_CHECKING

from confluent_kafka.admin import NewTopic  # type: ignore[attr-defined]
from tests.corpus.recipes import Filler, contents

if TYPE_CHECKING:
    from tests.connectors.jdbc.servers import Server
    from tests.connectors.kafka.broker import Broker
    from tests.corpus.listing import Program


def create_files(program: Program, directory: Path, filler: Filler) -> list[Path]:
    """Create the files; return those outside the copy, which must be deleted later."""
    outside = []
    for name, recipe in program.files.items():
        path = directory / name
        if path.is_absolute() and not path.is_relative_to(directory) and path.exists():
            raise FileExistsError(f"{program.name} wants {path}, which is there already")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(contents(recipe, filler))
        if Path(name).is_absolute():
            outside.append(path)
    return outside


def create_topics(program: Program, broker: Broker) -> None:
    wanted = {*program.topics, *(name for name in program.written if ":" not in name and "*" not in name)}
    admin = broker.admin()
    there = set(admin.list_topics(timeout=10).topics)
    for deleted in admin.delete_topics([*(wanted & there)]).values() if wanted & there else ():
        deleted.result()
    until = time.monotonic() + 20
    while wanted & set(admin.list_topics(timeout=10).topics) and time.monotonic() < until:
        time.sleep(0.2)
    for name in wanted:
        recipe = program.topics.get(name)
        partitions = int(recipe.get("partitions", 1)) if isinstance(recipe, dict) else 1
        while True:
            try:
                admin.create_topics([NewTopic(name, partitions, 1)])[name].result()
                break
            except Exception:  # still being deleted
                if time.monotonic() > until:
                    raise
                time.sleep(0.5)


def create_tables(program: Program, database: Server) -> None:
    for statement in filter(None, program.sql.split(";")):
        made = re.match(r"\s*CREATE TABLE (\S+)", statement, re.IGNORECASE)
        if made:
            database.execute(f"DROP TABLE IF EXISTS {made.group(1)}")
        database.execute(statement)
