"""Avro data is read by the fields of its records, whatever the records are called."""

import io
import json
from itertools import count

import fastavro
from hypothesis import given
from hypothesis import strategies as st

from flintstream.connectors.files.avro import AvroReader
from flintstream.connectors.files.reader import FileSplit
from flintstream.connectors.formats.avro_schema import reader_schema
from flintstream.connectors.source import Fetch

LEAVES = {
    "int": st.integers(-(2**31), 2**31 - 1),
    "string": st.text(max_size=3),
    "boolean": st.booleans(),
}
SHAPES = st.recursive(
    st.sampled_from(sorted(LEAVES)),
    lambda inner: st.one_of(
        st.tuples(st.just("array"), inner),
        st.tuples(st.just("map"), inner),
        st.tuples(st.just("optional"), inner),
        st.tuples(st.just("record"), st.lists(inner, min_size=1, max_size=3)),
    ),
    max_leaves=6,
)


def schema_of(shape, names):
    """Return the Avro schema of a shape, whose records have the next names."""
    if isinstance(shape, str):
        return shape
    kind, inner = shape
    if kind == "array":
        return {"type": "array", "items": schema_of(inner, names)}
    if kind == "map":
        return {"type": "map", "values": schema_of(inner, names)}
    if kind == "optional":
        part = schema_of(inner, names)
        return part if isinstance(part, list) else ["null", part]
    name = next(names)
    fields = [{"name": f"f{index}", "type": schema_of(part, names)} for index, part in enumerate(inner)]
    return {"type": "record", "name": name, "fields": fields}


def values_of(shape):
    """Return a strategy for the values of a shape."""
    if isinstance(shape, str):
        return LEAVES[shape]
    kind, inner = shape
    if kind == "array":
        return st.lists(values_of(inner), max_size=2)
    if kind == "map":
        return st.dictionaries(st.text(max_size=2), values_of(inner), max_size=2)
    if kind == "optional":
        return st.none() | values_of(inner)
    return st.fixed_dictionaries({f"f{index}": values_of(part) for index, part in enumerate(inner)})


@given(data=st.data(), inner=st.lists(SHAPES, min_size=1, max_size=4))
def test_records_of_other_names_are_read(data, inner, tmp_path_factory):
    shape = ("record", inner)
    written = schema_of(shape, (f"org.they{n}.Theirs{n}" for n in count()))
    wanted = json.dumps(schema_of(shape, (f"Own{n}" for n in count())))
    records = data.draw(st.lists(values_of(shape), max_size=3))
    path = tmp_path_factory.mktemp("avro") / "a.avro"
    with path.open("wb") as file:
        fastavro.writer(file, fastavro.parse_schema(written), records)
    reader = AvroReader(wanted)
    read = [record for batch in reader.read(FileSplit("a", str(path)), Fetch(100)) for record in batch]
    reader.close()
    assert read == records


def test_a_record_that_is_used_twice_is_read_as_two_types():
    inner = {
        "type": "record",
        "name": "N",
        "namespace": "x",
        "fields": [{"name": "a", "type": "int"}, {"name": "b", "type": "string"}],
    }
    written = fastavro.parse_schema(
        {
            "type": "record",
            "name": "R",
            "fields": [{"name": "n", "type": inner}, {"name": "again", "type": ["null", "x.N"]}],
        }
    )

    def own(name, *fields):
        return {"type": "record", "name": name, "fields": [{"name": field, "type": kind} for field, kind in fields]}

    wanted = json.dumps(own("T", ("again", ["null", own("P", ("b", "string"))]), ("n", own("Q", ("a", "long")))))
    message = io.BytesIO()
    fastavro.schemaless_writer(message, written, {"n": {"a": 1, "b": "x"}, "again": {"a": 2, "b": "y"}})
    message.seek(0)
    read = fastavro.schemaless_reader(message, written, reader_schema(wanted, written))
    assert read == {"n": {"a": 1}, "again": {"b": "y"}}
