"""Iceberg's catalog of type ``hadoop``, which pyiceberg lacks: tables are directories below a warehouse.

A table's metadata is in ``metadata/v1.metadata.json``, ``v2.metadata.json`` and so on. A commit creates the next one,
which fails if another writer was faster, and then writes its number to ``version-hint.text``. Iceberg for Java, Spark
and Flink keep tables in the same form.
"""

from __future__ import annotations

import os
import re
import uuid
from contextlib import suppress
from typing import TYPE_CHECKING

from pyarrow import fs
from pyiceberg.catalog import MetastoreCatalog
from pyiceberg.exceptions import (
    CommitFailedException,
    NamespaceAlreadyExistsError,
    NamespaceNotEmptyError,
    NoSuchNamespaceError,
    NoSuchTableError,
    TableAlreadyExistsError,
)
from pyiceberg.io import load_file_io
from pyiceberg.io.pyarrow import PyArrowFileIO
from pyiceberg.partitioning import UNPARTITIONED_PARTITION_SPEC
from pyiceberg.serializers import FromInputFile, ToOutputFile
from pyiceberg.table import CommitTableResponse, Table, TableProperties
from pyiceberg.table.metadata import new_table_metadata
from pyiceberg.table.sorting import UNSORTED_SORT_ORDER
from pyiceberg.typedef import EMPTY_DICT

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import NoReturn

    import pyarrow as pa
    from pyiceberg.catalog import PropertiesUpdateSummary
    from pyiceberg.partitioning import PartitionSpec
    from pyiceberg.schema import Schema
    from pyiceberg.table.metadata import TableMetadata
    from pyiceberg.table.sorting import SortOrder
    from pyiceberg.table.update import TableRequirement, TableUpdate

    Name = str | tuple[str, ...]

_VERSION = re.compile(r"v(\d+)(?:\.gz)?\.metadata\.json")
_HINT = "version-hint.text"


class HadoopCatalog(MetastoreCatalog):
    """Tables below a directory, without a service that knows them.

    Two programs may commit to a table at the same time if the directory is local, or on a file system that refuses to
    rename a file to a name that is taken. On object stores, only one program may write.

    >>> from tempfile import TemporaryDirectory
    >>> from pyiceberg.types import LongType, NestedField
    >>> from pyiceberg.schema import Schema
    >>> directory = TemporaryDirectory()
    >>> catalog = HadoopCatalog("lake", warehouse=directory.name)
    >>> catalog.create_namespace("shop")
    >>> table = catalog.create_table("shop.orders", Schema(NestedField(1, "id", LongType())))
    >>> catalog.list_namespaces(), catalog.list_tables("shop"), catalog.table_exists("shop.orders")
    ([('shop',)], [('shop', 'orders')], True)
    >>> table.metadata_location.rpartition("/")[2]
    'v1.metadata.json'
    >>> with table.transaction() as changes:
    ...     _ = changes.set_properties({"a": "b"})
    >>> catalog.load_table("shop.orders").properties, table.metadata_location.rpartition("/")[2]
    ({'a': 'b'}, 'v2.metadata.json')
    >>> catalog.drop_table("shop.orders")
    >>> catalog.drop_namespace("shop")
    >>> catalog.list_namespaces()
    []
    >>> directory.cleanup()
    """

    def __init__(self, name: str, **properties: str) -> None:
        """Open a warehouse, given as the property ``warehouse``: a directory or its URI."""
        super().__init__(name, **properties)
        self._warehouse = properties["warehouse"].rstrip("/")
        scheme, place, self._root = PyArrowFileIO.parse_location(self._warehouse)
        self._files = PyArrowFileIO(self.properties).fs_by_scheme(scheme, place)  # with the options of the storage
        self._has_folders = self._files.type_name in {"local", "hdfs"}

    # -- files -------------------------------------------------------------------------------------------------------

    def _path(self, names: tuple[str, ...], *more: str) -> str:
        return "/".join([self._root.rstrip("/"), *names, *more])

    def _location(self, names: tuple[str, ...]) -> str:
        return "/".join([self._warehouse, *names])

    def _folders(self, path: str) -> list[str]:
        selector = fs.FileSelector(path, allow_not_found=True)
        return sorted(
            info.base_name for info in self._files.get_file_info(selector) if info.type == fs.FileType.Directory
        )

    def _has(self, path: str) -> bool:
        return bool(self._files.get_file_info(path).type != fs.FileType.NotFound)

    def _is_table(self, names: tuple[str, ...]) -> bool:
        return self._has(self._path(names, "metadata"))

    def _latest(self, names: tuple[str, ...]) -> int:
        """Return the number of the newest metadata of a table, 0 if it is not there."""
        number = 0
        with (
            suppress(FileNotFoundError, ValueError),
            self._files.open_input_stream(self._path(names, "metadata", _HINT)) as file,
        ):
            number = int(file.read())
        if not number or not self._has(self._metadata(names, number)):
            selector = fs.FileSelector(self._path(names, "metadata"), allow_not_found=True)
            found = [_VERSION.fullmatch(info.base_name) for info in self._files.get_file_info(selector)]
            number = max((int(match[1]) for match in found if match), default=0)
        while self._has(self._metadata(names, number + 1)):  # its writer has not told the hint yet
            number += 1
        return number

    def _metadata(self, names: tuple[str, ...], number: int) -> str:
        return self._path(names, "metadata", f"v{number}.metadata.json")

    def _publish(self, names: tuple[str, ...], number: int, metadata: TableMetadata) -> str:
        """Write the metadata with a number, and return its location.

        Raises:
            CommitFailedException: Another writer was faster.
        """
        folder = f"{self._location(names)}/metadata"
        io = load_file_io(self.properties, folder)
        taken = CommitFailedException(f"version {number} of {'.'.join(names)} is there already")
        hint = self._path(names, "metadata", _HINT)
        if not self._has_folders:  # an object appears with all its bytes, and a rename would copy it
            if self._has(self._metadata(names, number)):
                raise taken
            ToOutputFile.table_metadata(metadata, io.new_output(f"{folder}/v{number}.metadata.json"))
            self._write(hint, str(number))
            return f"{folder}/v{number}.metadata.json"
        own = f"{uuid.uuid4()}.metadata.json"
        self._files.create_dir(self._path(names, "metadata"))
        ToOutputFile.table_metadata(metadata, io.new_output(f"{folder}/{own}"))
        source, target = self._path(names, "metadata", own), self._metadata(names, number)
        if not self._rename(source, target):
            self._files.delete_file(source)
            raise taken
        new = self._path(names, "metadata", f"{uuid.uuid4()}-{_HINT}")
        self._write(new, str(number))
        self._files.move(new, hint)
        return f"{folder}/v{number}.metadata.json"

    def _write(self, path: str, text: str) -> None:
        with self._files.open_output_stream(path) as file:
            file.write(text.encode())

    def _rename(self, source: str, target: str) -> bool:
        """Give a file another name, unless that is taken."""
        if not isinstance(self._files, fs.LocalFileSystem):
            if self._has(target):
                return False
            self._files.move(source, target)
            return True
        try:
            os.link(source, target)  # unlike a rename, this fails if the name is taken
        except FileExistsError:
            return False
        self._files.delete_file(source)
        return True

    # -- namespaces --------------------------------------------------------------------------------------------------

    def create_namespace(self, namespace: Name, properties: Mapping[str, str] = EMPTY_DICT) -> None:
        """Create a directory; a namespace has no properties."""
        names = self.identifier_to_tuple(namespace)
        if self.namespace_exists(names):
            raise NamespaceAlreadyExistsError(f"Namespace {'.'.join(names)} already exists")
        self._files.create_dir(self._path(names))

    def drop_namespace(self, namespace: Name) -> None:
        """Remove an empty directory."""
        names = self._check_namespace(namespace)
        if self._folders(self._path(names)):
            raise NamespaceNotEmptyError(f"Namespace {'.'.join(names)} is not empty")
        self._files.delete_dir(self._path(names))

    def namespace_exists(self, namespace: Name) -> bool:
        """Return whether there is a directory that is not a table."""
        names = self.identifier_to_tuple(namespace)
        return self._has(self._path(names)) and not self._is_table(names)

    def list_namespaces(self, namespace: Name = ()) -> list[tuple[str, ...]]:
        """Return the directories other than tables."""
        above = self.identifier_to_tuple(namespace)
        found = [(*above, name) for name in self._folders(self._path(above))]
        return [names for names in found if not self._is_table(names)]

    def load_namespace_properties(self, namespace: Name) -> dict[str, str]:
        """Return the location."""
        return {"location": self._location(self._check_namespace(namespace))}

    def update_namespace_properties(
        self, namespace: Name, removals: set[str] | None = None, updates: Mapping[str, str] = EMPTY_DICT
    ) -> PropertiesUpdateSummary:
        """Refuse."""
        self._refuse("change properties of a namespace")

    def _check_namespace(self, namespace: Name) -> tuple[str, ...]:
        if not self.namespace_exists(namespace):
            raise NoSuchNamespaceError(f"Namespace {'.'.join(self.identifier_to_tuple(namespace))} does not exist")
        return self.identifier_to_tuple(namespace)

    # -- tables ------------------------------------------------------------------------------------------------------

    def list_tables(self, namespace: Name) -> list[tuple[str, ...]]:
        """Return the tables of a namespace."""
        above = self._check_namespace(namespace)
        return [names for name in self._folders(self._path(above)) if self._is_table(names := (*above, name))]

    def table_exists(self, identifier: Name) -> bool:
        """Return whether there is a table."""
        return self._latest(self.identifier_to_tuple(identifier)) > 0

    def load_table(self, identifier: Name) -> Table:
        """Return the newest version of a table."""
        names = self.identifier_to_tuple(identifier)
        number = self._latest(names)
        if not number:
            raise NoSuchTableError(f"Table {'.'.join(names)} does not exist")
        location = f"{self._location(names)}/metadata/v{number}.metadata.json"
        io = load_file_io(self.properties, location)
        metadata = FromInputFile.table_metadata(io.new_input(location))
        return Table(names, metadata, location, self._load_file_io(metadata.properties, location), self)

    def create_table(
        self,
        identifier: Name,
        schema: Schema | pa.Schema,
        location: str | None = None,
        partition_spec: PartitionSpec = UNPARTITIONED_PARTITION_SPEC,
        sort_order: SortOrder = UNSORTED_SORT_ORDER,
        properties: Mapping[str, str] = EMPTY_DICT,
    ) -> Table:
        """Create a table in its directory; another location is refused."""
        names = self.identifier_to_tuple(identifier)
        self._check_namespace(names[:-1])
        if location is not None and location.rstrip("/") != self._location(names):
            self._refuse(f"put the table {'.'.join(names)} at {location}")
        version = int(properties.get(TableProperties.FORMAT_VERSION, TableProperties.DEFAULT_FORMAT_VERSION))
        made = self._convert_schema_if_needed(schema, version)  # type: ignore[arg-type]
        metadata = new_table_metadata(made, partition_spec, sort_order, self._location(names), dict(properties))
        if self.table_exists(names):
            raise TableAlreadyExistsError(f"Table {'.'.join(names)} already exists")
        try:
            self._publish(names, 1, metadata)
        except CommitFailedException:
            raise TableAlreadyExistsError(f"Table {'.'.join(names)} already exists") from None
        return self.load_table(names)

    def commit_table(
        self, table: Table, requirements: tuple[TableRequirement, ...], updates: tuple[TableUpdate, ...]
    ) -> CommitTableResponse:
        """Commit changes of the newest version, which the table must be for most of them."""
        names = table.name()
        number = self._latest(names)
        current = self.load_table(names) if number else None
        staged = self._update_and_stage_table(current, names, requirements, updates)
        if current is not None and staged.metadata == current.metadata:
            return _response(current.metadata, current.metadata_location)
        location = self._publish(names, number + 1, staged.metadata)
        return _response(staged.metadata, location)

    def drop_table(self, identifier: Name) -> None:
        """Delete a table with its data."""
        names = self.identifier_to_tuple(identifier)
        if not self.table_exists(names):
            raise NoSuchTableError(f"Table {'.'.join(names)} does not exist")
        self._files.delete_dir(self._path(names))

    purge_table = drop_table

    def rename_table(self, from_identifier: Name, to_identifier: Name) -> Table:
        """Refuse: the name of a table is its directory."""
        self._refuse("rename a table")

    def register_table(self, identifier: Name, metadata_location: str, overwrite: bool = False) -> Table:
        """Refuse: the name of a table is its directory."""
        self._refuse("register a table")

    def supports_server_side_planning(self) -> bool:
        """Return False: there is no server."""
        return False

    # -- views -------------------------------------------------------------------------------------------------------

    def list_views(self, namespace: Name) -> list[tuple[str, ...]]:
        """Return none."""
        return []

    def view_exists(self, identifier: Name) -> bool:
        """Return False."""
        return False

    def _refuse_views(self, *_given: object, **_more: object) -> NoReturn:
        self._refuse("keep views")

    create_view = drop_view = load_view = register_view = _refuse_views

    def _refuse(self, what: str) -> NoReturn:
        raise NotImplementedError(f"a catalog of type 'hadoop' cannot {what}")


def _response(metadata: TableMetadata, location: str) -> CommitTableResponse:
    return CommitTableResponse(metadata=metadata, metadata_location=location)  # type: ignore[call-arg]
