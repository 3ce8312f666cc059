"""What the builders of MongoDB's source and sink have in common: the collection, and how to reach it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from flintstream.connectors.mongodb.client import MongoAccess

if TYPE_CHECKING:
    from typing_extensions import Self


class PlaceBuilder:
    """Collects the names of a collection."""

    def __init__(self) -> None:
        """Start without names."""
        self._access = MongoAccess("", "", "")

    def set_uri(self, uri: str) -> Self:
        """Set the connection string of MongoDB."""
        self._access = replace(self._access, uri=uri)
        return self

    def set_database(self, database: str) -> Self:
        """Set the name of the database."""
        self._access = replace(self._access, database=database)
        return self

    def set_collection(self, collection: str) -> Self:
        """Set the name of the collection."""
        self._access = replace(self._access, collection=collection)
        return self
