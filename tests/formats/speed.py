"""Measure the cost of a message: ``python -m tests.formats.speed``, in nanoseconds per record, best of five."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

from flintstream.common import Row, Types
from flintstream.datastream.formats.avro import AvroRowDeserializationSchema, AvroRowSerializationSchema
from flintstream.datastream.formats.csv import CsvRowDeserializationSchema, CsvRowSerializationSchema
from flintstream.datastream.formats.json import JsonRowDeserializationSchema, JsonRowSerializationSchema

if TYPE_CHECKING:
    from collections.abc import Callable

ORDER = Types.ROW_NAMED(
    ["id", "user", "price", "count", "paid"],
    [Types.LONG(), Types.STRING(), Types.DOUBLE(), Types.INT(), Types.BOOLEAN()],
)
AVRO = json.dumps(
    {
        "type": "record",
        "name": "order",
        "fields": [
            {"name": name, "type": kind}
            for name, kind in zip(ORDER.get_field_names(), ("long", "string", "double", "int", "boolean"), strict=True)
        ],
    }
)
ROW = ORDER.to_internal_type(Row(1_234_567, "user-4711", 99.95, 3, True))


def nanoseconds(function: Callable[[Any], Any], argument: Any, number: int = 20_000) -> float:
    best = float("inf")
    for _ in range(5):
        start = time.perf_counter()
        for _ in range(number):
            function(argument)
        best = min(best, time.perf_counter() - start)
    return best / number * 1e9


def main() -> None:
    schemas: dict[str, tuple[Any, Any]] = {
        "JSON": (
            JsonRowDeserializationSchema.builder().type_info(ORDER).build(),
            JsonRowSerializationSchema.builder().with_type_info(ORDER).build(),
        ),
        "CSV": (CsvRowDeserializationSchema.Builder(ORDER).build(), CsvRowSerializationSchema.Builder(ORDER).build()),
        "Avro": (AvroRowDeserializationSchema(None, AVRO), AvroRowSerializationSchema(None, AVRO)),
    }
    for name, (reader, writer) in schemas.items():
        message = writer.serialize(ROW)
        write, read = nanoseconds(writer.serialize, ROW), nanoseconds(reader.deserialize, message)
        print(f"{name:5} write {write:6.0f}  read {read:6.0f}")
    quoted = CsvRowSerializationSchema.Builder(ORDER).build().serialize(ROW).replace(b"user-4711", b'"user, 4711"')
    print(f"CSV, quoted       read {nanoseconds(schemas['CSV'][0].deserialize, quoted):6.0f}")
    message = schemas["JSON"][1].serialize(ROW)
    print(
        f"json alone  write {nanoseconds(json.dumps, ROW.as_dict()):6.0f}  read {nanoseconds(json.loads, message):6.0f}"
    )


if __name__ == "__main__":
    main()
