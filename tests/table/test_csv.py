"""Messages of CSV become rows, and rows messages, as in PyFlink; files are in the conformance cases."""

from __future__ import annotations

import datetime as dt

import pytest

pytest.importorskip("sqlglot", reason="the extra 'table' is not installed: make setup")

from flintstream.table import DataTypes
from flintstream.table._connectors.messages import decoder, encoder
from flintstream.table._connectors.options import Options

TEXT = DataTypes.STRING()


def read(message, kind, **options):
    given = {f"csv.{key.replace('_', '-')}": value for key, value in options.items()}
    return decoder("csv", ["v", "z"], [kind, TEXT], Options("t", given)).decode()(message)


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (TEXT, ""),
        (DataTypes.BOOLEAN(), False),
        (DataTypes.BYTES(), b""),
        (DataTypes.ARRAY(DataTypes.INT()), []),
        (DataTypes.ROW([DataTypes.FIELD("a", DataTypes.INT())]), None),
    ],
)
def test_an_empty_field_is_not_null(kind, value):
    assert read(b",", kind) == (value, "")


NUMBERS = [DataTypes.INT(), DataTypes.DOUBLE(), DataTypes.DECIMAL(5, 2), DataTypes.DATE(), DataTypes.TIME()]
NUMBERS += [DataTypes.TIMESTAMP(3), DataTypes.TIMESTAMP_LTZ(3)]


@pytest.mark.parametrize("kind", NUMBERS, ids=str)
def test_an_empty_number_or_time_is_an_error_or_null_if_errors_are_ignored(kind):
    with pytest.raises(ValueError, match="Failed to deserialize CSV row"):
        read(b",y", kind)
    assert read(b",y", kind, ignore_parse_errors="true") == (None, "y")


@pytest.mark.parametrize("kind", [TEXT, DataTypes.BOOLEAN(), DataTypes.BYTES(), *NUMBERS], ids=str)
def test_a_null_literal_is_null(kind):
    assert read(b",y", kind, null_literal="") == (None, "y")
    assert read(b"NULL,y", kind, null_literal="NULL") == (None, "y")


@pytest.mark.parametrize(
    ("kind", "field"),
    [
        (DataTypes.INT(), b"1.5"),
        (DataTypes.DOUBLE(), b"1_000"),
        (DataTypes.DECIMAL(5, 2), b" 1 "),
        (DataTypes.TIME(), b"1:2:3"),
        (DataTypes.TIMESTAMP_LTZ(3), b"2020-01-02 03:04:05"),
        (DataTypes.TIMESTAMP(3), b"2020-01-02T03:04:05"),
        (DataTypes.BYTES(), b"x"),
    ],
    ids=str,
)
def test_what_java_does_not_read_is_an_error(kind, field):
    with pytest.raises(ValueError, match="Failed to deserialize CSV row"):
        read(field + b",y", kind)


def test_lines_may_be_too_short_or_end_with_a_delimiter():
    with pytest.raises(ValueError, match="2 fields expected but was 1"):
        read(b"1", DataTypes.INT())
    assert read(b"1", DataTypes.INT(), ignore_parse_errors="true") == (1, None)
    assert read(b"1,y,", DataTypes.INT()) == (1, "y")
    assert read(b"1,y,z", DataTypes.INT(), ignore_parse_errors="true") is None
    assert read(b"", DataTypes.INT(), ignore_parse_errors="true") is None


def test_messages_have_the_quotes_that_flink_writes():
    kinds = [DataTypes.INT(), TEXT, DataTypes.TIMESTAMP_LTZ(3), DataTypes.ARRAY(DataTypes.INT())]
    write = encoder("csv", ["i", "s", "l", "a"], kinds, Options("t", {"csv.null-literal": "n"})).encode()
    moment = dt.datetime(2020, 1, 2, 3, 4, 5)
    assert write((1, "a b", moment, [1, 2])) == b'1,"a b","2020-01-02 03:04:05Z",1;2'
    assert write((None, "", None, None)) == b"n,,n,n"
    assert write((1, "x" * 25, moment, []))[:29] == b'1,"' + b"x" * 25 + b'"'
