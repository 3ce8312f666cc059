# mypy: disable-error-code="import-not-found,import-untyped"
"""The conversion of a value on PyFlink between a function in a worker process and the next one, or a sink.

No job runs: PyFlink's own encoder writes the value, PyFlink's own serializer in the JVM reads it, and back.
"""

from __future__ import annotations

import json
import os
import sys
from functools import cache
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JError, Py4JJavaError
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.fn_execution import coders, flink_fn_execution_pb2
from pyflink.java_gateway import get_gateway
from tests.typing_matrix.cases import PLACES, VALUES, WRAPPED, declared, make, unmake
from tests.typing_matrix.judge import describe, survives

STATES = {"value state", "list state", "value of a map state", "key of a map state"}


class Java:
    """The serializers of a type; objects stay in Java lists, because py4j would convert them."""

    def __init__(self, place: str, type_name: str) -> None:
        jvm = get_gateway().jvm
        self.place, self.type_name, self.type_info = place, type_name, declared(place, type_name)
        java_type = self.type_info.get_java_type_info()
        converter = jvm.org.apache.flink.streaming.api.utils.PythonTypeUtils.TypeInfoToSerializerConverter
        self.list_serializer = jvm.org.apache.flink.api.common.typeutils.base.ListSerializer
        self.bytes_in = jvm.java.io.ByteArrayInputStream
        self.bytes_out = jvm.java.io.ByteArrayOutputStream
        self.view_in = jvm.org.apache.flink.core.memory.DataInputViewStreamWrapper
        self.view_out = jvm.org.apache.flink.core.memory.DataOutputViewStreamWrapper
        texts = self.list_serializer(jvm.org.apache.flink.api.common.typeutils.base.StringSerializer())
        one = jvm.java.util.ArrayList()
        one.add("a")
        self.prefix = self.write(texts, one)[:-2]
        utils = jvm.org.apache.flink.streaming.api.utils.PythonTypeUtils
        loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()
        self.proto = bytes(utils.TypeInfoToProtoConverter.toTypeInfoProto(java_type, loader).toByteArray())
        info = flink_fn_execution_pb2.TypeInfo()
        info.ParseFromString(self.proto)
        self.coder = coders.from_type_info_proto(info).get_impl()
        self.between = self.list_serializer(converter.typeInfoSerializerConverter(java_type))
        self.env = StreamExecutionEnvironment.get_execution_environment()
        config = self.env._j_stream_execution_environment.getConfig().getSerializerConfig()
        self.own = self.list_serializer(java_type.createSerializer(config))

    def write(self, serializer: Any, values: Any) -> bytes:
        stream = self.bytes_out()
        serializer.serialize(values, self.view_out(stream))
        return bytes(stream.toByteArray())

    def read(self, serializer: Any, encoded: bytes) -> Any:
        stream = self.bytes_in(encoded)
        values = serializer.deserialize(self.view_in(stream))
        if stream.available():
            raise RuntimeError(f"{stream.available()} bytes are left over")
        return values

    def collected(self, value_name: str) -> Any:
        """Return the result of from_collection for a value."""
        value = make(self.place, self.type_name, value_name)
        stream = self.env.from_collection([value], self.type_info)
        source = stream._j_data_stream.getTransformation().getOperator().getUserFunction().getFormat()
        field = source.getClass().getDeclaredField("dataSet")
        field.setAccessible(True)
        return field.get(source)

    def ask(self, value_name: str) -> list[Any]:
        """Return the answer for a value."""
        if self.place == "from_collection":
            values = self.collected(value_name)
        else:
            encoded = self.coder.encode(make(self.place, self.type_name, value_name))
            values = self.read(self.between, self.prefix + encoded)
        values = self.read(self.own, self.write(self.own, values))
        text = values.toString()[1:-1]
        got = self.coder.decode(self.write(self.between, values)[len(self.prefix) :])
        inner = unmake(self.place, self.type_name, got)
        return [describe(inner), survives(self.type_name, VALUES[value_name](), inner), text]


EMBEDDED = """
import json
from pyflink.fn_execution import flink_fn_execution_pb2
from pyflink.fn_execution.embedded.converters import from_type_info_proto
from tests.typing_matrix.cases import VALUES, make, unmake
from tests.typing_matrix.judge import describe, survives

converters = {}

def converter(proto):
    if proto not in converters:
        info = flink_fn_execution_pb2.TypeInfo()
        info.ParseFromString(bytes.fromhex(proto))
        converters[proto] = from_type_info_proto(info)
    return converters[proto]

class Operation:
    def produce(self, proto, place, type_name, value_name):
        return converter(proto).to_external(make(place, type_name, value_name))

    def consume(self, proto, place, type_name, value_name, value):
        inner = unmake(place, type_name, converter(proto).to_internal(value))
        return json.dumps([describe(inner), survives(type_name, VALUES[value_name](), inner)])

operation = Operation()
"""


class Embedded(Java):
    """The conversions of the execution mode ``thread``: Python runs inside the JVM, and no bytes are written.

    Values in the JVM must not pass through Python in between, which would change them: method handles join the steps.
    """

    interpreter: Any = None

    def __init__(self, place: str, type_name: str) -> None:
        super().__init__(place, type_name)
        jvm = get_gateway().jvm
        if Embedded.interpreter is None:
            kind = jvm.java.lang.Class.forName("pemja.core.PythonInterpreterConfig$ExecType")
            multi = kind.getField("MULTI_THREAD").get(None)
            config = jvm.pemja.core.PythonInterpreterConfig.newBuilder().setPythonExec(sys.executable)
            config.setExcType(multi)
            config.getClass().getMethod("addPythonPaths", _classes(jvm, "java.lang.String")).invoke(
                config, _objects(os.environ["PYTHONPATH"])
            )
            Embedded.interpreter = jvm.pemja.core.PythonInterpreter(config.build())
            Embedded.interpreter.exec(EMBEDDED)
        self.handles = jvm.java.lang.invoke.MethodHandles
        self.array_list = jvm.java.util.ArrayList
        utils = jvm.org.apache.flink.streaming.api.utils.PythonTypeUtils
        java_type = self.type_info.get_java_type_info()
        self.converter = utils.TypeInfoToDataConverter.typeInfoDataConverter(java_type)
        find = jvm.java.lang.Class.forName
        thing = find("java.lang.Object")
        self.things = things = find("[Ljava.lang.Object;")
        lookup = jvm.java.lang.invoke.MethodHandles.publicLookup()

        def signature(result: Any, *arguments: Any) -> Any:
            kinds = jvm.java.util.ArrayList()
            for argument in arguments:
                kinds.add(argument)
            return jvm.java.lang.invoke.MethodType.methodType(result, kinds)

        convert = "org.apache.flink.streaming.api.utils.PythonTypeUtils$DataConverter"
        one = signature(thing, thing)
        self.to_internal = lookup.findVirtual(find(convert), "toInternal", one).bindTo(self.converter)
        self.to_external = lookup.findVirtual(find(convert), "toExternal", one).bindTo(self.converter)
        boolean = find("java.lang.Boolean").getField("TYPE").get(None)
        integer = find("java.lang.Integer").getField("TYPE").get(None)
        self.add = lookup.findVirtual(find("java.util.ArrayList"), "add", signature(boolean, thing))
        self.get = lookup.findVirtual(find("java.util.List"), "get", signature(thing, integer))
        invoke = signature(thing, find("java.lang.String"), find("java.lang.String"), things)
        owner = find("pemja.core.PythonInterpreter")
        self.invoke = lookup.findVirtual(owner, "invokeMethod", invoke).bindTo(Embedded.interpreter)

    def ask(self, value_name: str) -> list[Any]:
        """Return the answer for a value."""
        handles = self.handles
        if self.place == "from_collection":
            values = self.collected(value_name)
        else:
            values = self.array_list()
            who = _objects(self.proto.hex(), self.place, self.type_name, value_name)
            step = handles.insertArguments(self.invoke, 0, _objects("operation", "produce", who))
            step = handles.filterReturnValue(handles.filterReturnValue(step, self.to_internal), self.add.bindTo(values))
            step.invokeWithArguments(self.array_list())
        values = self.read(self.own, self.write(self.own, values))
        text = values.toString()[1:-1]
        consume = handles.insertArguments(self.invoke, 0, _objects("operation", "consume"))
        consume = consume.asCollector(self.things, 5)
        consume = handles.insertArguments(
            consume, 0, _objects(self.proto.hex(), self.place, self.type_name, value_name)
        )
        first = handles.insertArguments(self.get.bindTo(values), 0, _objects(0))
        first = handles.filterReturnValue(first, self.to_external)
        found = handles.collectArguments(consume, 0, first).invokeWithArguments(self.array_list())
        return [*json.loads(found), text]


@cache
def _object_class() -> Any:
    return get_gateway().jvm.java.lang.Object


def _objects(*values: Any) -> Any:
    array = get_gateway().new_array(_object_class(), len(values))
    for index, value in enumerate(values):
        array[index] = value
    return array


def _classes(jvm: Any, *names: str) -> Any:
    array = get_gateway().new_array(jvm.java.lang.Class, len(names))
    for index, name in enumerate(names):
        array[index] = jvm.java.lang.Class.forName(name)
    return array


def answer(java: Java | None, place: str, type_name: str, value_name: str) -> list[Any]:
    """Return the result: its description, whether it equals the sent value, and Java's text of it; or the error."""
    try:
        if java is not None:
            return java.ask(value_name)
        coder = coders.from_type_info(declared(place, type_name)).get_impl()
        got = coder.decode(coder.encode(make(place, type_name, value_name)))
        inner = got[0] if type_name in WRAPPED else got
        return [describe(inner), survives(type_name, VALUES[value_name](), inner), ""]
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # that is the answer
        if isinstance(error, Py4JError) and not isinstance(error, Py4JJavaError):
            raise  # the value has ended the JVM
        cause = getattr(error, "java_exception", None)
        while cause is not None and cause.getCause() is not None:
            cause = cause.getCause()
        message = cause.toString() if cause is not None else str(error)
        first = next(iter(message.strip().splitlines()), "")
        return [None, f"{type(error).__name__}: {first}"[:300]]


def main() -> None:
    """Append the result of each position to a file; a case that crashed this process is not tried again."""
    mode, path = sys.argv[1], Path(sys.argv[2])
    places = sys.argv[3:] or [place for place in PLACES if mode == "process" or place not in STATES]
    begun = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    done = {tuple(entry[:3]) for entry in begun}
    with path.open("a", encoding="utf-8") as file:
        for place in places:
            for type_name in PLACES[place].types:
                java = failed = None
                for value_name in PLACES[place].values:
                    if (place, type_name, value_name) in done:
                        continue
                    file.write(json.dumps([place, type_name, value_name]) + "\n")
                    file.flush()
                    if place not in STATES and java is None and failed is None:
                        try:
                            java = (Java if mode == "process" else Embedded)(place, type_name)
                        except Exception as error:  # there is no such type
                            if isinstance(error, Py4JError) and not isinstance(error, Py4JJavaError):
                                raise
                            failed = [None, f"{type(error).__name__}: {error}"[:300]]
                    found = failed or answer(java, place, type_name, value_name)
                    file.write(json.dumps([place, type_name, value_name, found]) + "\n")
            print(place, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
