"""Descriptions of Protobuf messages, from generated modules and from files of descriptors."""

from __future__ import annotations

import re
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from flintstream.errors import PlanError, optional_module, shorten

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import ModuleType

    from google.protobuf.descriptor import Descriptor, FileDescriptor
    from google.protobuf.message import Message

_GENERATED = "_pb2"
"""What the names of modules end with that ``protoc --python_out`` makes."""


class MessageClass:
    """The class of a Protobuf message, found by name. It travels to workers, which need no generated module.

    Args:
        name: the name of the message in its package, such as ``shop.Order``, or that of a generated class: of Python
            (``order_pb2.Order``), or of Java (``com.shop.Orders$Order``). A message within another follows a dot or $.
        path: a file of descriptors, as ``protoc --include_imports --descriptor_set_out`` writes it; without it,
            messages are those of imported modules.

    Raises:
        PlanError: The message is missing, or the file does not have descriptors.
        MissingDependencyError: protobuf is not installed.

    >>> MessageClass("google.protobuf.timestamp_pb2.Timestamp").create().FromString(b"")
    <BLANKLINE>
    >>> MessageClass("com.google.protobuf.Timestamp").name
    'google.protobuf.Timestamp'
    """

    def __init__(self, name: str, path: str | None = None) -> None:
        files = list(_import_files(name) if path is None else _read_files(path))
        known = {alias: message for file in files for message in messages_of(file) for alias in _aliases(message, file)}
        found = known.get(name.replace("$", ".")) or known.get(name)
        if found is None:
            where = "the imported modules have" if path is None else f"{path} has"
            more = "" if path is not None else "; import the module of its class, or name a file of descriptors"
            names = ", ".join(sorted({message.full_name for message in known.values()})) or "none"
            raise PlanError(f"no Protobuf message {shorten(name)}: {where} {shorten(names, 300)}{more}")
        self.name: str = found.full_name
        self._files = [file.serialized_pb for file in with_imports(found.file, set())]

    def create(self) -> type[Message]:
        """Return the class."""
        pool_of, classes = protobuf("descriptor_pool"), protobuf("message_factory")
        pool = pool_of.DescriptorPool()
        for file in self._files:
            pool.AddSerializedFile(file)
        made: type[Message] = classes.GetMessageClass(pool.FindMessageTypeByName(self.name))
        return made


def protobuf(module: str) -> ModuleType:
    """Return a module of ``google.protobuf``.

    Raises:
        MissingDependencyError: protobuf is not installed.
    """
    return optional_module(f"google.protobuf.{module}", extra="protobuf", purpose="Protobuf")


def _import_files(name: str) -> Iterator[FileDescriptor]:
    """Yield the files of all imported modules, and of the one that the name begins with."""
    protobuf("message")
    parts = name.split(".")
    for end, part in enumerate(parts, 1):
        if part.endswith(_GENERATED):
            try:
                import_module(".".join(parts[:end]))
            except ImportError as error:
                raise PlanError(f"the module of the Protobuf message {name} cannot be imported: {error}") from error
    for key, module in list(sys.modules.items()):
        if key.endswith(_GENERATED) and hasattr(module, "DESCRIPTOR"):
            yield module.DESCRIPTOR


def _read_files(path: str) -> Iterator[FileDescriptor]:
    """Yield the files of a file of descriptors."""
    descriptors, errors, pool_of = protobuf("descriptor_pb2"), protobuf("message"), protobuf("descriptor_pool")
    pool = pool_of.DescriptorPool()
    try:
        found = descriptors.FileDescriptorSet.FromString(Path(path).read_bytes())
        for file in found.file:
            pool.Add(file)
    except OSError as error:
        raise PlanError(f"the file of Protobuf descriptors cannot be read: {error}") from error
    except (errors.DecodeError, TypeError) as error:
        raise PlanError(
            f"{path} does not have Protobuf descriptors with all that they import, as protoc --include_imports "
            f"--descriptor_set_out writes it: {error}"
        ) from error
    for file in found.file:
        yield pool.FindFileByName(file.name)


def messages_of(file: FileDescriptor) -> Iterator[Descriptor]:
    """Yield the messages of a file, with those within them."""
    waiting = list(file.message_types_by_name.values())
    while waiting:
        message = waiting.pop()
        yield message
        waiting += message.nested_types


def _aliases(message: Descriptor, file: FileDescriptor) -> Iterator[str]:
    """Yield the names of a message: in its package, in Python and in Java."""
    options = protobuf("descriptor_pb2").FileDescriptorProto.FromString(file.serialized_pb).options
    inner = message.full_name.removeprefix(f"{file.package}.") if file.package else message.full_name
    yield message.full_name
    yield f"{file.name.removesuffix('.proto').replace('/', '.').replace('-', '_')}{_GENERATED}.{inner}"
    package = options.java_package or file.package
    outer = [] if options.java_multiple_files else [options.java_outer_classname or _outer_class(file)]
    yield ".".join([*([package] if package else []), *outer, inner])


def _outer_class(file: FileDescriptor) -> str:
    """Return the name of the class that Java has around those of a file without options."""
    stem = file.name.rpartition("/")[2].removesuffix(".proto")
    name = re.sub(r"(?:^|[^A-Za-z0-9]+|(?<=[0-9]))([a-z]?)", lambda found: found[1].upper(), stem)
    inner = {*file.message_types_by_name, *file.enum_types_by_name, *file.services_by_name}
    return f"{name}OuterClass" if name in inner else name


def with_imports(file: FileDescriptor, known: set[str]) -> Iterable[FileDescriptor]:
    """Yield what a file imports, before the file."""
    if file.name not in known:
        known.add(file.name)
        for imported in file.dependencies:
            yield from with_imports(imported, known)
        yield file
