# mypy: disable-error-code="import-not-found,import-untyped"
"""Run PyFlink's schemas in its JVM on a message or a value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from py4j.java_gateway import JavaObject
from pyflink.common import Instant, Row, Types
from pyflink.common.typeinfo import LocalTimeTypeInfo
from pyflink.datastream.formats.csv import CsvRowDeserializationSchema, CsvRowSerializationSchema
from pyflink.datastream.formats.json import JsonRowDeserializationSchema, JsonRowSerializationSchema
from pyflink.fn_execution import coders
from pyflink.java_gateway import get_gateway
from tests.formats.notation import value_of

if TYPE_CHECKING:
    from tests.formats.cases import Case

NAMES = {"Types": Types, "Row": Row, "Instant": Instant, "LocalTimeTypeInfo": LocalTimeTypeInfo}
JVM = get_gateway().jvm


def answer(case: Case) -> dict[str, str]:
    """Return the result: ``gives`` a value or a message, or ``fails`` with an error."""
    try:
        return {"gives": _ask(case)}
    except Exception as error:  # noqa: BLE001 - the error is the result
        return {"fails": _reason(error)}


def _ask(case: Case) -> str:
    if case.does == "type":
        return str(JsonRowDeserializationSchema.builder().json_schema(case.settings[0][1])._type_info)
    type_info = value_of(case.type or "None", NAMES)
    if case.does == "read":
        return described(_reader(case, type_info).deserialize(case.given.encode("latin-1")))
    value = _value(case, type_info)
    written_as = value_of(case.written_as, NAMES) if case.written_as else type_info
    return bytes(_writer(case, written_as).serialize(value)).decode("latin-1")


def _reader(case: Case, type_info: Any) -> Any:
    if case.schema == "avro":
        from pyflink.datastream.formats.avro import AvroRowDeserializationSchema

        schema = AvroRowDeserializationSchema(avro_schema_string=case.settings[0][1])
    elif case.schema == "json":
        schema = _built(JsonRowDeserializationSchema.builder().type_info(type_info), case)
    else:
        schema = _built(CsvRowDeserializationSchema.Builder(type_info), case)
    schema._j_deserialization_schema.open(None)
    return schema._j_deserialization_schema


def _writer(case: Case, type_info: Any) -> Any:
    if case.schema == "avro":
        from pyflink.datastream.formats.avro import AvroRowSerializationSchema

        schema = AvroRowSerializationSchema(avro_schema_string=case.settings[0][1])
    elif case.schema == "json":
        schema = _built(JsonRowSerializationSchema.builder().with_type_info(type_info), case)
    else:
        schema = _built(CsvRowSerializationSchema.Builder(type_info), case)
    schema._j_serialization_schema.open(None)
    return schema._j_serialization_schema


def _built(builder: Any, case: Case) -> Any:
    for method, *arguments in case.settings:
        builder = getattr(builder, method)(*arguments)
    return builder.build()


def _value(case: Case, type_info: Any) -> Any:
    if case.via is not None:
        schema = JsonRowDeserializationSchema.builder().type_info(type_info).build()._j_deserialization_schema
        schema.open(None)
        return schema.deserialize(case.via.encode())
    value = value_of(case.given, NAMES)
    if value is None:
        return None
    encoded = coders.from_type_info(type_info).get_impl().encode(value)
    converter = JVM.org.apache.flink.streaming.api.utils.PythonTypeUtils.TypeInfoToSerializerConverter
    serializer = converter.typeInfoSerializerConverter(type_info.get_java_type_info())
    stream = JVM.java.io.ByteArrayInputStream(encoded)
    return serializer.deserialize(JVM.org.apache.flink.core.memory.DataInputViewStreamWrapper(stream))


def described(value: Any) -> str:
    """Return a Java value in Python's notation."""
    if not isinstance(value, JavaObject):
        return _described_part(value)
    name = value.getClass().getName()
    if name == "org.apache.flink.types.Row":
        return f"Row({', '.join(described(value.getField(i)) for i in range(value.getArity()))})"
    if name.startswith("org.apache.flink.api.java.tuple."):
        return f"({''.join(described(value.getField(i)) + ', ' for i in range(value.getArity()))})"
    if name in {"java.sql.Date", "java.time.LocalDate"}:
        day = value.toLocalDate() if name == "java.sql.Date" else value
        return f"date({day.getYear()}, {day.getMonthValue()}, {day.getDayOfMonth()})"
    if name in {"java.sql.Time", "java.time.LocalTime"}:
        time = value.toLocalTime() if name == "java.sql.Time" else value
        return f"time({_clock(time)})"
    if name in {"java.sql.Timestamp", "java.time.LocalDateTime"}:
        time = value.toLocalDateTime() if name == "java.sql.Timestamp" else value
        return f"datetime({time.getYear()}, {time.getMonthValue()}, {time.getDayOfMonth()}, {_clock(time)})"
    if name == "java.time.Instant":
        return f"Instant({value.getEpochSecond()}, {value.getNano()})"
    if name == "java.math.BigInteger":
        return str(value.toString())
    return _described_part(value)


def _clock(time: Any) -> str:
    return f"{time.getHour()}, {time.getMinute()}, {time.getSecond()}, {time.getNano() // 1000}"


def _described_part(value: Any) -> str:
    kind = type(value).__name__
    if kind in {"JavaList", "JavaArray"}:
        return f"[{', '.join(described(part) for part in value)}]"
    if kind == "JavaMap":
        return f"{{{', '.join(f'{described(key)}: {described(value[key])}' for key in value)}}}"
    if kind == "JavaObject":
        return f"{value.getClass().getName()}:{value.toString()}"
    return repr(value)


def _reason(error: Exception) -> str:
    java = getattr(error, "java_exception", None)
    if java is None:
        return f"{type(error).__name__}: {error}".split("\n")[0][:160]
    while java.getCause() is not None:
        java = java.getCause()
    return f"{java.getClass().getSimpleName()}: {java.getMessage()}".split("\n")[0][:160]
