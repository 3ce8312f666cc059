"""Schemas of Protobuf as texts, in the language of ``.proto`` files, as registries keep them."""

from __future__ import annotations

import re
from ast import literal_eval
from importlib import import_module
from typing import TYPE_CHECKING

from flintstream.connectors.formats.protobuf_messages import messages_of, protobuf, with_imports
from flintstream.errors import shorten

if TYPE_CHECKING:
    from google.protobuf.descriptor import Descriptor
    from google.protobuf.descriptor_pb2 import (
        DescriptorProto,
        EnumDescriptorProto,
        FieldDescriptorProto,
        FileDescriptorProto,
    )

_TOKEN = re.compile(
    r"""(?:\s+|//[^\n]*|/\*.*?\*/)*
    (?P<token>\.?[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*|[-+]?[0-9][\w.+-]*|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|\S|\Z)""",
    re.VERBOSE | re.DOTALL,
)
_BITS = ("int32", "int64", "uint32", "uint64", "sint32", "sint64", "fixed32", "fixed64", "sfixed32", "sfixed64")
_SCALARS = frozenset({*_BITS, "double", "float", "bool", "string", "bytes"})
_LABELS = {"optional": 1, "required": 2, "repeated": 3}
_OPENING, _CLOSING = "{[(<", "}])>"
_MOST_LEVELS = 50
_KNOWN_IMPORT = re.compile(r"google/(?:protobuf|type)/[a-z_]+\.proto")


def parse_messages(text: str) -> list[Descriptor]:
    """Return the messages of a schema, with those within them, in the order of their full names.

    Options other than ``json_name`` and ``allow_alias``, services and extensions are left out. Imports can be those of
    ``google.protobuf`` and ``google.type``.

    Raises:
        ValueError: The text is not a schema.
        MissingDependencyError: protobuf is not installed.

    >>> text = "message Order { repeated Item items = 1; message Item { string name = 1; } } message Buyer {}"
    >>> [message.full_name for message in parse_messages(text)]
    ['Buyer', 'Order', 'Order.Item']
    """
    pool = protobuf("descriptor_pool").DescriptorPool()
    made = _Parser(text).file()
    known: set[str] = set()
    for name in made.dependency:
        for file in with_imports(import_module(_module_of(name)).DESCRIPTOR, known):
            pool.AddSerializedFile(file.serialized_pb)
    try:
        pool.Add(made)
        found = pool.FindFileByName(made.name)
    except (TypeError, KeyError) as error:
        raise ValueError(f"the schema of Protobuf {shorten(text)} is wrong: {error}") from None
    return sorted(messages_of(found), key=lambda message: str(message.full_name))


def _module_of(name: str) -> str:
    """Return the module that has the descriptor of an imported file.

    Raises:
        ValueError: It is not one of Google's.
    """
    if not _KNOWN_IMPORT.fullmatch(name):
        raise ValueError(f"a schema of Protobuf imports {shorten(name)}, which no registry of schemas has")
    module = f"{name.removesuffix('.proto').replace('/', '.')}_pb2"
    try:
        import_module(module)
    except ImportError:
        raise ValueError(f"a schema of Protobuf imports {shorten(name)}, but {module} is not installed") from None
    return module


class _Parser:
    """Reads the language by recursive descent."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = [found["token"] for found in _TOKEN.finditer(text)]
        self.position, self.proto3 = 0, False

    # -- tokens ------------------------------------------------------------------------------------------------------

    def peek(self) -> str:
        return self.tokens[self.position] if self.position < len(self.tokens) else ""

    def next(self) -> str:
        found = self.peek()
        self.position += 1
        return found

    def take(self, token: str) -> bool:
        if self.peek() != token:
            return False
        self.position += 1
        return True

    def expect(self, token: str) -> None:
        if not self.take(token):
            raise self.wrong(f"'{token}'")

    def wrong(self, wanted: str) -> ValueError:
        found = shorten(self.peek()) if self.peek() else "the end"
        return ValueError(f"the schema of Protobuf {shorten(self.text)} is wrong: expected {wanted}, got {found}")

    def name(self) -> str:
        if not re.match(r"\.?[A-Za-z_]", self.peek()):
            raise self.wrong("a name")
        return self.next()

    def number(self) -> int:
        sign = -1 if self.take("-") else 1
        found = self.peek()
        try:
            octal = re.fullmatch(r"[-+]?0[0-7]+", found) is not None
            value = int(found, 8 if octal else 0)
        except ValueError:
            raise self.wrong("a number") from None
        if not -(1 << 31) <= value < 1 << 31:
            raise self.wrong("a number of 32 bits")
        self.position += 1
        return sign * value

    def string(self) -> str:
        if self.peek()[:1] not in {'"', "'"}:
            raise self.wrong("a text")
        found = ""
        while self.peek()[:1] in {'"', "'"}:
            try:
                found += literal_eval(self.peek())
            except (ValueError, SyntaxError):
                raise self.wrong("a text") from None
            self.position += 1
        return found

    def skip(self, *ends: str) -> None:
        """Skip to one of some tokens, over everything in brackets."""
        depth = 0
        while depth or self.peek() not in ends:
            token = self.next()
            if not token:
                raise self.wrong(f"'{ends[0]}'")
            depth += (token in _OPENING) - (token in _CLOSING)

    def skip_block(self) -> None:
        self.skip("{")
        self.position += 1
        self.skip("}")
        self.position += 1

    def skip_statement(self) -> None:
        self.skip(";")
        self.position += 1

    # -- declarations ------------------------------------------------------------------------------------------------

    def file(self) -> FileDescriptorProto:
        """Return the description of the file."""
        made: FileDescriptorProto = protobuf("descriptor_pb2").FileDescriptorProto(name="schema.proto")
        while self.peek():
            word = self.next()
            if word == "syntax":
                self.expect("=")
                made.syntax = self.string()
                self.proto3 = made.syntax == "proto3"
                self.expect(";")
            elif word == "package":
                made.package = self.name()
                self.expect(";")
            elif word == "import":
                if self.peek() in {"public", "weak"}:
                    self.position += 1
                made.dependency.append(self.string())
                self.expect(";")
            elif word == "message":
                self.message(made.message_type.add(), 0)
            elif word == "enum":
                self.enum(made.enum_type.add())
            elif word in {"service", "extend"}:
                self.skip_block()
            elif word == "option":
                self.skip_statement()
            elif word != ";":
                self.position -= 1
                raise self.wrong("a declaration")
        return made

    def message(self, made: DescriptorProto, level: int) -> None:
        """Read a message after its first word."""
        if level > _MOST_LEVELS:
            raise self.wrong(f"at most {_MOST_LEVELS} levels of messages")
        made.name = self.name()
        self.expect("{")
        while not self.take("}"):
            word = self.peek()
            if word == "message":
                self.position += 1
                self.message(made.nested_type.add(), level + 1)
            elif word == "enum":
                self.position += 1
                self.enum(made.enum_type.add())
            elif word == "oneof":
                self.position += 1
                self.one_of(made)
            elif word == "extend":
                self.skip_block()
            elif word in {"option", "reserved", "extensions"}:
                self.skip_statement()
            elif not self.take(";"):
                self.field(made)
        for field in made.field:
            if field.proto3_optional:  # it has a oneof of its own, after those of the text
                field.oneof_index = len(made.oneof_decl)
                made.oneof_decl.add(name=f"_{field.name}")

    def one_of(self, made: DescriptorProto) -> None:
        made.oneof_decl.add(name=self.name())
        index = len(made.oneof_decl) - 1
        self.expect("{")
        while not self.take("}"):
            if self.peek() == "option":
                self.skip_statement()
            elif not self.take(";"):
                self.field(made).oneof_index = index

    def field(self, made: DescriptorProto) -> FieldDescriptorProto:
        label = self.next() if self.peek() in _LABELS else ""
        if self.peek() == "group":
            raise self.wrong("a field that is not a group")
        if self.peek() == "map" and not label:
            return self.map(made)
        found = made.field.add(label=_LABELS[label or "optional"])
        self.set_type(found, self.name())
        found.proto3_optional = self.proto3 and label == "optional"
        self.end_field(found)
        return found

    def map(self, made: DescriptorProto) -> FieldDescriptorProto:
        self.position += 1
        self.expect("<")
        key = self.name()
        self.expect(",")
        value = self.name()
        self.expect(">")
        found = made.field.add(label=_LABELS["repeated"])
        self.end_field(found)
        camel = "".join(part[:1].upper() + part[1:] for part in found.name.split("_"))
        entry = made.nested_type.add(name=f"{camel}Entry")
        entry.options.map_entry = True
        self.set_type(entry.field.add(name="key", number=1, label=1), key)
        self.set_type(entry.field.add(name="value", number=2, label=1), value)
        found.type_name = entry.name
        return found

    def set_type(self, field: FieldDescriptorProto, name: str) -> None:
        """Set the type: a scalar, or the name of a message or enum, which the pool finds."""
        if name in _SCALARS:
            field.type = getattr(field, f"TYPE_{name.upper()}")
        else:
            field.type_name = name

    def end_field(self, field: FieldDescriptorProto) -> None:
        field.name = self.name()
        self.expect("=")
        field.number = self.number()
        if self.take("["):
            while not self.take("]"):
                if self.take("json_name"):
                    self.expect("=")
                    field.json_name = self.string()
                else:
                    self.skip(",", "]")
                self.take(",")
        self.expect(";")

    def enum(self, made: EnumDescriptorProto) -> None:
        made.name = self.name()
        self.expect("{")
        while not self.take("}"):
            word = self.peek()
            if word == "option":
                begin = self.position
                self.skip_statement()
                made.options.allow_alias |= self.tokens[begin + 1 : self.position - 1] == ["allow_alias", "=", "true"]
            elif word == "reserved":
                self.skip_statement()
            elif not self.take(";"):
                value = made.value.add(name=self.name())
                self.expect("=")
                value.number = self.number()
                if self.take("["):
                    self.skip("]")
                    self.position += 1
                self.expect(";")
