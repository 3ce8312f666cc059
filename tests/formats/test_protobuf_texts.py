"""Schemas of Protobuf that are texts: what a registry keeps becomes the descriptions of messages."""

from __future__ import annotations

import pytest

pytest.importorskip("google.protobuf", reason="the extra 'protobuf' is not installed: make setup")

from google.protobuf import struct_pb2
from hypothesis import given
from hypothesis import strategies as st

from flintstream.connectors.formats.protobuf_text import parse_messages

SHOP = r"""
// An example with most of the language.
syntax = "proto3";
package com.shop;
import "google/protobuf/timestamp.proto";
import public 'google/protobuf/wrappers.proto';
option java_package = "com.shop.messages";
option (com.own) = { name: "a;b" list: [1, 2] };

message Order {
  option deprecated = true;
  reserved 2, 9 to 11;
  reserved "old";
  /* the key */ optional string id = 1 [json_name = "the \"id\"", deprecated = true, (com.rule) = {min: 1; max: [2]}];
  map<string, Item.Size> my_sizes = 3;
  repeated sint64 counts = 0x4 [packed = false];
  oneof payment { option (com.own) = true; bytes card = 05; google.protobuf.BoolValue cash = 6; }
  google.protobuf.Timestamp at = 7;
  .com.shop.State state = 8;
  optional Item first = 12;
  message Item {
    enum Size { SMALL = 0; LARGE = 1; }
    message Part {}
    repeated Part parts = 1;
  };
}
enum State {
  option allow_alias = true;
  UNKNOWN = 0; GONE = -1; LOST = -1 [deprecated = true];
  reserved 5;
}
service Shop { rpc Sell(Order) returns (stream Order) { option (google.api.http) = { get: "/x" }; } }
extend Order { string note = 100; }
"""


def test_messages_have_the_order_of_their_names_and_those_within_them_count():
    assert [message.full_name for message in parse_messages(SHOP)] == [
        "com.shop.Order", "com.shop.Order.Item", "com.shop.Order.Item.Part", "com.shop.Order.MySizesEntry",
    ]  # fmt: skip
    nested = "message B { message C {} message A { message D {} } }"
    assert [message.full_name for message in parse_messages(nested)] == ["B", "B.A", "B.A.D", "B.C"]


def test_fields_have_their_types_numbers_and_presence():
    order = parse_messages(SHOP)[0]
    found = {field.name: field for field in order.fields}
    assert {name: field.number for name, field in found.items()} == {
        "id": 1, "my_sizes": 3, "counts": 4, "card": 5, "cash": 6, "at": 7, "state": 8, "first": 12,
    }  # fmt: skip
    assert found["id"].json_name == 'the "id"'
    assert found["card"].json_name == "card"
    assert [name for name, field in found.items() if field.is_repeated] == ["my_sizes", "counts"]
    assert [name for name, field in found.items() if field.has_presence] == ["id", "card", "cash", "at", "first"]
    assert {one.name: [field.name for field in one.fields] for one in order.oneofs} == {
        "payment": ["card", "cash"], "_id": ["id"], "_first": ["first"],
    }  # fmt: skip
    assert found["at"].message_type.full_name == "google.protobuf.Timestamp"
    assert found["my_sizes"].message_type.GetOptions().map_entry
    assert found["my_sizes"].message_type.fields_by_name["value"].enum_type.full_name == "com.shop.Order.Item.Size"
    assert {name: value.number for name, value in found["state"].enum_type.values_by_name.items()} == {
        "UNKNOWN": 0, "GONE": -1, "LOST": -1,
    }  # fmt: skip


def test_without_a_syntax_numbers_have_presence():
    (message,) = parse_messages("message A { required int32 a = 1; optional int32 b = 2; }")
    assert [field.has_presence for field in message.fields] == [True, True]
    (message,) = parse_messages('syntax = "proto3"; message A { int32 a = 1; }')
    assert [field.has_presence for field in message.fields] == [False]


def test_a_schema_may_have_no_message():
    assert parse_messages("") == []
    assert parse_messages("enum E { A = 0; } // the end") == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("message", "expected a name, got the end"),
        ("message A {", "expected a name, got the end"),
        ("message A { int32 a 1; }", "expected '=', got '1'"),
        ("message A { int32 a = 08; }", "expected a number, got '08'"),
        ("message A { int32 a = 99999999999; }", "expected a number of 32 bits"),
        ("message A { int32 a = 1 }", "expected ';', got '}'"),
        ("message A { repeated group B = 1 { } }", "expected a field that is not a group, got 'group'"),
        ("message A { B b = 1; }", "is wrong: .*B"),
        ("message A { int32 a = 1; int32 b = 1; }", "is wrong: .*1"),
        ("message A {} message A {}", "is wrong: .*A"),
        ("enum E { A = 1; A = 2; }", "is wrong: .*A"),
        ("/* no end", "expected a declaration, got '/'"),
        ("option a = {", "expected ';', got the end"),
        ("{ }", "expected a declaration, got '{'"),
        ('edition = "2023"; message A {}', "expected a declaration, got 'edition'"),
        ('import "other.proto";', "imports 'other.proto', which no registry of schemas has"),
        ('import "google/protobuf/../../os.proto";', "which no registry of schemas has"),
        ('import "google/protobuf/nothing.proto";', "google.protobuf.nothing_pb2 is not installed"),
        ('message A { string a = 1 [json_name = "\\x"]; }', "expected a text"),
        ("message A {" * 100 + "}" * 100, "expected at most 50 levels of messages"),
    ],
)
def test_what_is_no_schema_is_refused(text, message):
    with pytest.raises(ValueError, match=message):
        parse_messages(text)


TOKENS = 'message enum oneof map option reserved optional repeated int32 string A B c = 1 2 ; { } < > [ ] , "x" - /*'


@given(st.lists(st.sampled_from([*TOKENS.split(), "\n", "syntax", '"proto3"', "import", "."]), max_size=30))
def test_any_text_is_a_schema_or_refused(tokens):
    text = " ".join(tokens)
    try:
        found = parse_messages(text)
    except ValueError:  # any other error fails the test
        return
    assert len(found) <= text.count("message") + text.count("map")


def test_a_message_may_hold_itself():
    text = """syntax = "proto3"; message Struct { map<string, Value> fields = 1; }
        message Value { oneof kind { double number = 2; Struct struct = 5; List list = 6; } }
        message List { repeated Value values = 1; }"""
    names = [message.full_name for message in parse_messages(text)]
    assert names == ["List", "Struct", "Struct.FieldsEntry", "Value"]
    # The names of entries decide numbers of messages, and are those of protoc.
    assert list(struct_pb2.Struct.DESCRIPTOR.nested_types_by_name) == ["FieldsEntry"]
