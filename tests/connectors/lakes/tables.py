"""Tables as a second implementation reads them: their logs by JSON and Avro, and their data by DuckDB."""

from __future__ import annotations

import json
import urllib.parse
from pathlib import Path

import duckdb
import fastavro


def read_parquet(paths, columns):
    """Return the rows of files, sorted, read by DuckDB."""
    if not paths:
        return []
    with duckdb.connect() as database:
        return sorted(database.sql(f"SELECT {columns} FROM read_parquet({[*paths]!r})").fetchall())


class Delta:
    """A table of Delta Lake."""

    def __init__(self, directory):
        self.location = str(directory)

    def versions(self):
        """Return the actions of each version."""
        logs = sorted(Path(self.location, "_delta_log").glob("*.json"))
        return [[json.loads(line) for line in log.read_text().splitlines()] for log in logs]

    def files(self):
        adds = [action["add"] for version in self.versions() for action in version if "add" in action]
        return [f"{self.location}/{urllib.parse.unquote(add['path'])}" for add in adds]

    def commits(self):
        """Return the number of versions that have added something."""
        return sum(any("add" in action for action in version) for version in self.versions())

    def rows(self, columns="*"):
        return read_parquet(self.files(), columns)


class Iceberg:
    """A table of Iceberg in a catalog of SQLite."""

    def __init__(self, directory, name="shop.t"):
        self.catalog = {"type": "sql", "uri": f"sqlite:///{directory}/catalog.db", "warehouse": f"file://{directory}"}
        self.directory, self.name = Path(directory), name

    def metadata(self):
        """Return the newest metadata."""
        folder = self.directory.joinpath(*self.name.split("."), "metadata")
        newest = max(folder.glob("*.metadata.json"), key=lambda path: path.name)
        return json.loads(newest.read_text())

    def files(self):
        found = self.metadata()
        current = [item for item in found.get("snapshots", []) if item["snapshot-id"] == found["current-snapshot-id"]]
        paths = []
        for snapshot in current:
            for manifest in self._avro(snapshot["manifest-list"]):
                entries = self._avro(manifest["manifest_path"])
                paths += [entry["data_file"]["file_path"] for entry in entries if entry["status"] != 2]
        return [path.removeprefix("file://") for path in paths]

    @staticmethod
    def _avro(path):
        with Path(path.removeprefix("file://")).open("rb") as source:
            return list(fastavro.reader(source))

    def commits(self):
        """Return the number of snapshots."""
        return len(self.metadata().get("snapshots", []))

    def rows(self, columns="*"):
        return read_parquet(self.files(), columns)
