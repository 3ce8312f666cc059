from __future__ import annotations

import pickle
from io import BytesIO

import pytest
from tests.calls import calls_of

from flintstream import common
from flintstream.common import ByteArraySchema, Encoder, Row, SimpleStringSchema, Types, TypeSerializer
from flintstream.common.serialization import RowDataBulkWriterFactory, RowFieldExtractorSchema
from flintstream.common.serializer import VoidNamespaceSerializer, void


def test_texts_are_encoded_in_the_given_charset():
    schema = SimpleStringSchema("ISO-8859-1")
    assert schema.serialize("é") == b"\xe9"
    assert schema.deserialize(b"\xe9") == "é"
    assert SimpleStringSchema().serialize("é") == b"\xc3\xa9"
    assert SimpleStringSchema().get_produced_type() == Types.STRING()
    assert not SimpleStringSchema().is_end_of_stream("x")


@pytest.mark.parametrize("charset", ["UTF-8", "ISO-8859-1", "UTF-16", "Shift_JIS"])
def test_several_texts_are_encoded_and_decoded_like_single_ones(charset):
    schema = SimpleStringSchema(charset)
    texts = ["", "be", "é", "語", "\ud800", "😀"]
    messages = [*map(schema.serialize, texts), b"\xff", b"\xc3("]
    assert schema.serialize_all(texts) == messages[: len(texts)]
    assert schema.deserialize_all(messages) == list(map(schema.deserialize, messages))


@pytest.mark.parametrize("other", [None, 17, b"be", type("Text", (str,), {})("be")])
def test_only_plain_texts_are_encoded_together(other):
    assert SimpleStringSchema().serialize_all(["to", other]) is None
    assert SimpleStringSchema().serialize_all([]) == []


# What Java's new String(bytes, UTF_8) gives.
@pytest.mark.parametrize(
    ("message", "text"),
    [
        (b"\xff", "\ufffd"),
        (b"\xc3", "\ufffd"),
        (b"\xc3(", "\ufffd("),
        (b"\xe2\x82a", "\ufffda"),
        (b"\xf0\x9f\x98a", "\ufffda"),
        (b"\xc0\xaf", "\ufffd\ufffd"),
        (b"\xf8\x88\x80\x80", "\ufffd\ufffd\ufffd\ufffd"),
        (b"abc\xffdef", "abc\ufffddef"),
        (b"\x00\xef\xbf\xbf", "\x00\uffff"),
    ],
)
def test_malformed_bytes_are_replaced_as_in_java(message, text):
    assert SimpleStringSchema().deserialize(message) == text


def test_characters_that_a_charset_lacks_are_replaced_as_in_java():
    assert SimpleStringSchema("ISO-8859-1").serialize("a\u20acb") == b"a?b"
    assert SimpleStringSchema().serialize("a\ud800b") == b"a?b"


def test_bytes_stay_as_they_are():
    assert ByteArraySchema().serialize(bytearray(b"ab")) == b"ab"
    assert ByteArraySchema().deserialize(b"ab") == b"ab"
    assert ByteArraySchema().get_produced_type() == Types.PRIMITIVE_ARRAY(Types.BYTE())


def test_one_field_of_a_row_can_be_the_message():
    assert RowFieldExtractorSchema(1).serialize(Row(1, b"x")) == b"x"
    assert RowFieldExtractorSchema(0).serialize(Row(bytearray(b"x"))) == b"x"
    assert RowFieldExtractorSchema(0).serialize(Row(None)) is None


@pytest.mark.parametrize(
    ("act", "error"),
    [
        (lambda: SimpleStringSchema().serialize(5), TypeError),
        (lambda: SimpleStringSchema("no-such-charset"), LookupError),
        (lambda: ByteArraySchema().serialize("a"), TypeError),
        (lambda: RowFieldExtractorSchema(-1), ValueError),
        (lambda: RowFieldExtractorSchema(0).serialize(Row("a")), TypeError),
        (lambda: RowFieldExtractorSchema(1).serialize(Row(b"a")), IndexError),
        (lambda: Encoder.simple_string_encoder("no-such-charset"), LookupError),
    ],
)
def test_what_a_schema_refuses(act, error):
    with pytest.raises(error):
        act()


def test_the_simple_encoder_writes_a_line_of_java_text():
    encoder = pickle.loads(pickle.dumps(Encoder.simple_string_encoder()))
    assert encoder.encode(Row("be", 2), Types.ROW([Types.STRING(), Types.INT()])) == b"+I[be, 2]\n"
    assert encoder.encode(("be", 2), None) == b"('be', 2)\n"
    assert Encoder.simple_string_encoder("UTF-16LE").encode("a", Types.STRING()) == b"a\0\n\0"


@pytest.mark.parametrize(
    ("type_info", "values"),
    [
        (None, ["é", None, 5, True]),
        (Types.STRING(), ["é", "", "b"]),
        (Types.STRING(), ["a", None]),
        (Types.STRING(), []),
        (Types.LONG(), [1, 2**62]),
        (Types.DOUBLE(), [1.0, 1e10]),
        (Types.BOOLEAN(), [True, False]),
        (Types.TUPLE([Types.STRING(), Types.LONG()]), [("a", 1), ("b", 2)]),
        (Types.ROW([Types.STRING()]), [Row("a"), Row(None)]),
    ],
)
@pytest.mark.parametrize("charset", ["UTF-8", "ISO-8859-1", "UTF-16", "ISO-2022-KR"])
def test_lines_of_a_block_are_those_of_its_records(type_info, values, charset):
    encoder = Encoder.simple_string_encoder(charset)
    if charset == "ISO-2022-KR":
        values = ["\uac00" if value == "é" else value for value in values]
    assert encoder.encode_all(values, type_info) == b"".join(encoder.encode(value, type_info) for value in values)


def test_a_text_of_a_block_takes_no_call():
    encoder = Encoder.simple_string_encoder()
    assert calls_of(lambda: encoder.encode_all(["a"] * 1000, Types.STRING())) < 20


def test_a_bulk_writer_factory_of_rows_knows_their_type():
    class Factory(RowDataBulkWriterFactory):
        def create(self, stream):
            raise NotImplementedError

    assert Factory(Types.ROW([Types.INT()])).get_row_type() == Types.ROW([Types.INT()])


class Doubler(TypeSerializer[int]):
    def __init__(self, factor: int) -> None:
        self.factor = factor

    def serialize(self, element: int, stream: BytesIO) -> None:
        stream.write(bytes([element * self.factor]))

    def deserialize(self, stream: BytesIO) -> int:
        return stream.read(1)[0] // self.factor


def test_serializers_with_the_same_attributes_are_equal():
    assert Doubler(2) == Doubler(2)
    assert Doubler(2) != Doubler(3)
    assert Doubler(2) != VoidNamespaceSerializer()
    assert hash(Doubler(2)) == hash(Doubler(2))
    assert repr(Doubler(2)) == "Doubler()"


def test_the_void_namespace_takes_no_bytes():
    stream = BytesIO()
    VoidNamespaceSerializer().serialize(void, stream)
    assert stream.getvalue() == b""
    assert VoidNamespaceSerializer().deserialize(stream) == void


def test_the_package_offers_no_name_that_is_not_there():
    assert all(hasattr(common, name) for name in common.__all__)
    with pytest.raises(AttributeError, match="NoSuchName"):
        _ = common.NoSuchName
