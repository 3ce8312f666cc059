"""Messages of Protobuf in tables. What NULL and unknown values become follows the documentation of Flink's format."""

from __future__ import annotations

import pickle
import re
import sys
import types as python_types

import pytest

pytest.importorskip("sqlglot", reason="the extra 'table' is not installed: make setup")
pytest.importorskip("google.protobuf", reason="the extra 'protobuf' is not installed: make setup")

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from hypothesis import given
from hypothesis import strategies as st

from flintstream.common import Row
from flintstream.connectors.formats.protobuf_messages import MessageClass
from flintstream.errors import PlanError
from flintstream.table import DataTypes as T
from flintstream.table._connectors.messages import decoder, encoder
from flintstream.table._connectors.options import Options
from flintstream.table._errors import SqlError

F = descriptor_pb2.FieldDescriptorProto
ONE, MANY = F.LABEL_OPTIONAL, F.LABEL_REPEATED


def described(syntax="proto2", java=None):
    """Return the file of the message in Flink's documentation, with some more fields."""
    file = descriptor_pb2.FileDescriptorProto(name="shop/simple_test.proto", package="com.example", syntax=syntax)
    if java:
        file.options.MergeFrom(descriptor_pb2.FileOptions(**java))
    test = file.message_type.add(name="SimpleTest")
    inner = test.nested_type.add(name="Inner")
    inner.field.add(name="v1", number=1, type=F.TYPE_INT64, label=ONE)
    inner.field.add(name="v2", number=2, type=F.TYPE_INT32, label=ONE)
    corpus = test.enum_type.add(name="Corpus")
    for number, name in ((0, "UNIVERSAL"), (1, "WEB"), (7, "VIDEO")):
        corpus.value.add(name=name, number=number)
    entry = test.nested_type.add(name="ValueMapEntry")
    entry.options.map_entry = True
    entry.field.add(name="key", number=1, type=F.TYPE_INT64, label=ONE)
    entry.field.add(name="value", number=2, type=F.TYPE_MESSAGE, label=ONE, type_name=".com.example.SimpleTest.Inner")
    kinds = [
        ("uid", F.TYPE_INT64, ONE, ""), ("name", F.TYPE_STRING, ONE, ""), ("category", F.TYPE_INT32, ONE, ""),
        ("content", F.TYPE_BYTES, ONE, ""), ("price", F.TYPE_DOUBLE, ONE, ""),
        ("value_map", F.TYPE_MESSAGE, MANY, ".com.example.SimpleTest.ValueMapEntry"),
        ("value_arr", F.TYPE_MESSAGE, MANY, ".com.example.SimpleTest.Inner"),
        ("corpus_int", F.TYPE_ENUM, ONE, ".com.example.SimpleTest.Corpus"),
        ("corpus_str", F.TYPE_ENUM, ONE, ".com.example.SimpleTest.Corpus"),
        ("texts", F.TYPE_STRING, MANY, ""), ("small", F.TYPE_UINT32, ONE, ""), ("large", F.TYPE_FIXED64, ONE, ""),
        ("yes", F.TYPE_BOOL, ONE, ""), ("ratio", F.TYPE_FLOAT, ONE, ""),
        ("one", F.TYPE_MESSAGE, ONE, ".com.example.SimpleTest.Inner"),
    ]  # fmt: skip
    for number, (name, kind, label, type_name) in enumerate(kinds, 1):
        test.field.add(name=name, number=number, type=kind, label=label, type_name=type_name or None)
    return file


INNER = T.ROW([T.FIELD("v1", T.BIGINT()), T.FIELD("v2", T.INT())])
COLUMNS = {
    "uid": T.BIGINT(), "name": T.STRING(), "category": T.INT(), "content": T.BYTES(), "price": T.DOUBLE(),
    "value_map": T.MAP(T.BIGINT(), INNER), "value_arr": T.ARRAY(INNER), "corpus_int": T.INT(),
    "corpus_str": T.STRING(), "texts": T.ARRAY(T.STRING()), "small": T.INT(), "large": T.BIGINT(), "yes": T.BOOLEAN(),
    "ratio": T.FLOAT(), "one": INNER,
}  # fmt: skip
EMPTY = (None,) * len(COLUMNS)


def stored(folder, **how):
    """Return the path of a file with the descriptors."""
    path = folder / "descriptors.pb"
    path.write_bytes(descriptor_pb2.FileDescriptorSet(file=[described(**how)]).SerializeToString())
    return str(path)


def class_of(**how):
    pool = descriptor_pool.DescriptorPool()
    pool.Add(described(**how))
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("com.example.SimpleTest"))


def options(path, name="com.example.SimpleTest", **more):
    given_options = {"connector": "kafka", "protobuf.message-class-name": name, "protobuf.descriptor-set": path}
    return Options("t", {**given_options, **{f"protobuf.{key}": value for key, value in more.items()}})


def both(path, columns=COLUMNS, **more):
    arguments = list(columns), list(columns.values()), options(path, **more)
    made = [pickle.loads(pickle.dumps(make("protobuf", *arguments))) for make in (encoder, decoder)]
    return made[0].encode(), made[1].decode()


FULL = (
    1, "pen", 2, b"\0a", 1.5, {3: Row(v1=4, v2=None)}, [Row(v1=5, v2=6)], 7, "WEB", ["a", ""], -1, -2, False, 0.5,
    Row(v1=None, v2=None),
)  # fmt: skip


@pytest.mark.parametrize("syntax", ["proto2", "proto3"])
def test_a_row_of_each_type_is_written_and_read_back(tmp_path, syntax):
    encode, decode = both(stored(tmp_path, syntax=syntax))
    message = class_of(syntax=syntax).FromString(encode(FULL))
    assert (message.name, message.corpus_str, message.small, message.large) == ("pen", 1, 2**32 - 1, 2**64 - 2)
    found = decode(encode(FULL))
    if syntax == "proto3":  # whose numbers are there in any message
        assert found[5] == {3: Row(v1=4, v2=0)}
        assert found[-1] == Row(v1=0, v2=0)
        found = (*found[:5], FULL[5], *found[6:-1], FULL[-1])
    assert found == FULL


def test_fields_that_a_message_lacks_are_null_or_defaults_by_option(tmp_path):
    path = stored(tmp_path)
    encode, decode = both(path)
    assert encode(EMPTY) == b""
    assert decode(b"") == EMPTY
    _, with_defaults = both(path, **{"read-default-values": "true"})
    assert with_defaults(b"") == (
        0, "", 0, b"", 0.0, {}, [], 0, "UNIVERSAL", [], 0, 0, False, 0.0, Row(v1=0, v2=0),
    )  # fmt: skip
    _, of_proto3 = both(stored(tmp_path, syntax="proto3"))
    assert of_proto3(b"") == (0, "", 0, b"", 0.0, None, None, 0, "UNIVERSAL", None, 0, 0, False, 0.0, None)


def test_null_within_collections_is_written_as_the_default_of_the_type(tmp_path):
    columns = {"texts": COLUMNS["texts"], "value_arr": COLUMNS["value_arr"], "value_map": COLUMNS["value_map"]}
    encode, _ = both(stored(tmp_path), columns, **{"write-null-string-literal": "n/a"})
    message = class_of().FromString(encode((["a", None], [None], {1: None})))
    assert list(message.texts) == ["a", "n/a"]
    assert [item.ListFields() for item in message.value_arr] == [[]]
    assert message.value_map[1].ListFields() == []


def test_values_that_an_enum_lacks_are_written_as_its_first_one(tmp_path):
    encode, decode = both(stored(tmp_path), {"corpus_int": T.BIGINT(), "corpus_str": T.STRING()})
    assert decode(encode((5, "NEWS"))) == (0, "UNIVERSAL")
    _, of_names = both(stored(tmp_path, syntax="proto3"), {"corpus_str": T.STRING()})
    with pytest.raises(ValueError, match=r"9 is not a value of com.example.SimpleTest.corpus_str"):
        of_names(class_of(syntax="proto3")(corpus_str=9).SerializeToString())


def test_damaged_messages_are_errors_or_skipped_by_option(tmp_path):
    _, decode = both(stored(tmp_path))
    with pytest.raises(ValueError, match=re.escape("not a message of the type com.example.SimpleTest: b'\\x08'")):
        decode(b"\x08")
    _, skipping = both(stored(tmp_path), **{"ignore-parse-errors": "true"})
    assert skipping(b"\x08") is None


@pytest.mark.parametrize(
    ("name", "java"),
    [
        ("com.example.SimpleTest", None),
        ("com.example.SimpleTestOuterClass$SimpleTest", None),
        ("org.shop.SimpleTest", {"java_package": "org.shop", "java_multiple_files": True}),
        ("org.shop.Tests$SimpleTest", {"java_package": "org.shop", "java_outer_classname": "Tests"}),
        ("shop.simple_test_pb2.SimpleTest", None),
    ],
)
def test_a_message_is_found_by_its_name_and_those_of_its_classes(tmp_path, name, java):
    assert MessageClass(name, stored(tmp_path, java=java)).name == "com.example.SimpleTest"


def test_messages_within_messages_follow_a_dollar_sign(tmp_path):
    assert MessageClass("com.example.SimpleTest$Inner", stored(tmp_path)).name == "com.example.SimpleTest.Inner"


def test_a_message_of_an_imported_module_needs_no_file(monkeypatch):
    module = python_types.ModuleType("made_for_this_test_pb2")
    pool = descriptor_pool.DescriptorPool()
    pool.Add(described())
    vars(module)["DESCRIPTOR"] = pool.FindFileByName("shop/simple_test.proto")
    monkeypatch.setitem(sys.modules, "made_for_this_test_pb2", module)
    found = MessageClass("com.example.SimpleTest")
    monkeypatch.delitem(sys.modules, "made_for_this_test_pb2")
    assert pickle.loads(pickle.dumps(found)).create()(name="pen").name == "pen"


def test_a_missing_message_or_file_is_told_with_what_there_is(tmp_path):
    with pytest.raises(PlanError, match=r"no Protobuf message 'a.B': .* has 'com.example.SimpleTest"):
        MessageClass("a.B", stored(tmp_path))
    with pytest.raises(PlanError, match=r"import the module of its class, or name a file of descriptors"):
        MessageClass("a.B")
    with pytest.raises(PlanError, match=r"the module of the Protobuf message nowhere_pb2.B cannot be imported"):
        MessageClass("nowhere_pb2.B")
    with pytest.raises(PlanError, match="cannot be read"):
        MessageClass("a.B", str(tmp_path / "none"))
    (tmp_path / "text").write_text("syntax = 'proto3';")
    with pytest.raises(PlanError, match="--include_imports"):
        MessageClass("a.B", str(tmp_path / "text"))


@pytest.mark.parametrize(
    ("columns", "error"),
    [
        ({"nam": T.STRING()}, "has no field 'nam'; did you mean 'name'?"),
        ({"name": T.INT()}, "'name' has the type INT, which does not fit the field com.example.SimpleTest.name"),
        ({"uid": T.INT()}, "'uid' has the type INT"),
        ({"content": T.STRING()}, "'content' has the type STRING"),
        ({"texts": T.STRING()}, "'texts' has the type STRING"),
        ({"value_map": T.MAP(T.STRING(), INNER)}, "'value_map' has the type STRING"),
        ({"value_arr": T.ARRAY(T.INT())}, "'value_arr' has the type INT"),
        ({"one": T.ROW([T.FIELD("v2", T.STRING())])}, "'one.v2' has the type STRING"),
    ],
)
def test_columns_that_do_not_fit_the_message_are_refused_by_name(tmp_path, columns, error):
    with pytest.raises(SqlError, match=re.escape(error)):
        decoder("protobuf", list(columns), list(columns.values()), options(stored(tmp_path)))


@given(
    st.tuples(
        st.none() | st.integers(-(2**63), 2**63 - 1), st.none() | st.text(st.characters(codec="utf-8")),
        st.none() | st.integers(-(2**31), 2**31 - 1), st.none() | st.binary(), st.none() | st.floats(allow_nan=False),
        st.none() | st.lists(st.text(st.characters(codec="utf-8")), min_size=1),
        st.none() | st.integers(-(2**31), 2**31 - 1), st.none() | st.integers(-(2**63), 2**63 - 1),
    )
)  # fmt: skip
def test_what_is_written_is_read_back(tmp_path_factory, row):
    names = ("uid", "name", "category", "content", "price", "texts", "small", "large")
    encode, decode = both(stored(tmp_path_factory.getbasetemp()), {name: COLUMNS[name] for name in names})
    assert decode(encode(row)) == row
