"""Messages of JSON: digits, numbers that are not JSON, NULLs and the options of the formats."""

from __future__ import annotations

import json
from decimal import Decimal
from math import isnan

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("sqlglot", reason="the extra 'table' is not installed: make setup")

from flintstream.common._types.data_types import DataTypes
from flintstream.table._connectors.changes import FORMATS, ChangeDecoder, ChangeEncoder
from flintstream.table._connectors.formats import JsonDecoder, JsonEncoder
from flintstream.table._connectors.options import Options
from flintstream.table._errors import SqlError

D = DataTypes
DECIMALS = st.decimals(-(10**18), 10**18, places=18).map(lambda value: value + 0)
"""Without a sign on zero, which Java's decimals do not have."""


def options(**given_):
    return Options("t", {"connector": "filesystem", **{f"json.{key}": value for key, value in given_.items()}})


def written(kind, value, **given_):
    return JsonEncoder(["v"], [kind], options(**given_), "json.").encode()((value,)).decode()


def read(kind, text):
    found = JsonDecoder(["v"], [kind], options(), "json.").decode()(text.encode())
    return found and found[0]


@given(DECIMALS)
def test_a_decimal_keeps_all_its_digits(value):
    kind = D.DECIMAL(38, 18)
    for plain in ("true", "false"):
        assert read(kind, written(kind, value, **{"encode.decimal-as-plain-number": plain})) == value
    assert read(D.ARRAY(kind), f'{{"v":[{value},"{value}"]}}') == [value, value]
    assert read(D.ROW([D.FIELD("d", kind)]), f'{{"v":{{"d":{value}}}}}')[0] == value
    assert read(D.MAP(D.STRING(), kind), f'{{"v":{{"k":{value}}}}}') == {"k": value}


@given(DECIMALS)
def test_a_plain_decimal_has_no_exponent(value):
    text = written(D.DECIMAL(38, 18), value, **{"encode.decimal-as-plain-number": "true"})
    assert "E" not in text
    assert Decimal(text[5:-1]) == value


@pytest.mark.parametrize("kind", FORMATS)
@given(value=DECIMALS)
def test_changes_keep_the_digits_of_decimals(kind, value):
    column, none = [D.DECIMAL(38, 18)], Options("t", {"connector": "kafka"})
    message = ChangeEncoder(kind, ["v"], column, none, "").encode()((value, 0))
    assert ChangeDecoder(kind, ["v"], column, none, "").decode()(message) == [((value,), 0)]


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("message", [b"", None])
def test_a_message_without_content_is_skipped(kind, message):
    decode = ChangeDecoder(kind, ["v"], [D.INT()], Options("t", {"connector": "kafka"}), "").decode()
    assert decode(message) is None


@given(st.floats())
def test_every_number_is_valid_json(value):
    text = written(D.DOUBLE(), value)
    json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    again = read(D.DOUBLE(), text)
    assert again == value or (isnan(again) and isnan(value))


def test_members_without_value_are_left_out_at_every_depth():
    inner = D.ROW([D.FIELD("a", D.INT()), D.FIELD("b", D.INT())])
    without = {"encode.ignore-null-fields": "true"}
    assert written(inner, (None, 1), **without) == '{"v":{"b":1}}'
    assert written(D.ARRAY(inner), [(1, None), None], **without) == '{"v":[{"a":1},null]}'
    assert written(D.MAP(D.STRING(), inner), {"k": (None, None), "l": None}, **without) == '{"v":{"k":{},"l":null}}'
    assert written(inner, None, **without) == "{}"
    assert written(inner, (None, 1)) == '{"v":{"a":null,"b":1}}'


@pytest.mark.parametrize(
    ("given_", "text"),
    [
        ({"map-null-key.mode": "DROP"}, '{"v":{"k":1}}'),
        ({"map-null-key.mode": "LITERAL"}, '{"v":{"null":2,"k":1}}'),
        ({"map-null-key.mode": "literal", "map-null-key.literal": 'n"'}, '{"v":{"n\\"":2,"k":1}}'),
    ],
)
def test_null_as_the_key_of_a_map_is_written_as_the_option_says(given_, text):
    assert written(D.MAP(D.STRING(), D.INT()), {None: 2, "k": 1}, **given_) == text


def test_null_as_the_key_of_a_map_fails_without_the_option():
    with pytest.raises(ValueError, match=r"set 'json.map-null-key.mode' to DROP or LITERAL"):
        written(D.MAP(D.STRING(), D.INT()), {None: 1})
    with pytest.raises(SqlError, match="must be FAIL, DROP or LITERAL, but got 'SKIP'"):
        written(D.INT(), 1, **{"map-null-key.mode": "SKIP"})


def test_a_number_becomes_text_with_the_digits_that_it_has_beside_a_decimal():
    decoder = JsonDecoder(["d", "s"], [D.DECIMAL(10, 2), D.STRING()], options(), "json.").decode()
    assert decoder(b'{"d":1.005,"s":10.0000000}') == (Decimal("1.01"), "10.0000000")


@pytest.mark.parametrize("format_", ["json", "csv", "avro", "parquet", "orc"])
def test_points_in_time_are_read_back_from_files(t_env, tmp_path, format_):
    t_env.get_config().set("table.local-time-zone", "Asia/Tokyo")
    t_env.execute_sql(
        "CREATE TABLE o (z TIMESTAMP_LTZ(3), r ROW<z TIMESTAMP_LTZ(3)>, zs ARRAY<TIMESTAMP_LTZ(3)>) "
        f"WITH ('connector' = 'filesystem', 'path' = '{tmp_path}', 'format' = '{format_}')"
    )
    z = "CAST(TIMESTAMP '2018-11-04 00:30:00.5' AS TIMESTAMP_LTZ(3))"
    t_env.execute_sql(f"INSERT INTO o VALUES ({z}, ROW({z}), ARRAY[{z}, {z}])").wait()
    query = "SELECT CAST(z AS STRING), CAST(r.z AS STRING), CAST(zs[1] AS STRING), CAST(zs[2] AS STRING) FROM o"
    with t_env.execute_sql(query).collect() as found:
        assert [list(row) for row in found] == [["2018-11-04 00:30:00.500"] * 4]


@pytest.mark.parametrize(
    ("text", "tokens", "tree"),
    [
        ('[{"a":1},{"a":2}', [1, 2], None),
        ('[{"a":3},{"a":4}] x', [3, 4], [3, 4]),
        ('[{"a":5},{"b"', [5], None),
        ('[{"a":5.5},{"a":6', [5], None),
        ('[1,{"a":6}]', None, [6]),
        ('[{"a":16},7,{"a":17}]', [16], [16, 17]),
        ('[null,{"a":8}]', None, [8]),
        ('[{"a":"x"},{"a":7}]', [None, 7], [None, 7]),
        ('[{"a":14},]', [14], None),
        ('[{"a":20},nul', [20], None),
        ('[[{"a":13}]]', None, None),
        ("[", None, None),
        ('{"a":15', None, None),
    ],
)
def test_of_a_damaged_array_the_elements_before_the_damage_are_read_as_flink_2_3_does(text, tokens, tree):
    for parser, expected in (("true", tokens), ("false", tree)):
        more = {"ignore-parse-errors": "true", "decode.json-parser.enabled": parser}
        found = JsonDecoder(["a"], [D.INT()], options(**more), "json.").decode()(text.encode())
        assert (None if found is None else [row[0] for row in found]) == expected


def test_a_damaged_array_is_an_error_unless_errors_are_ignored():
    with pytest.raises(ValueError, match="Failed to deserialize JSON"):
        JsonDecoder(["a"], [D.INT()], options(), "json.").decode()(b'[{"a":1},{"a":2}')
