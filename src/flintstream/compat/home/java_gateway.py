"""PyFlink's gateway to Java (``pyflink.java_gateway``), without a JVM.

Common uses of the gateway work: configurations, environments, durations and option keys. Other Java names resolve, but
raise an error with advice when used.
"""

from __future__ import annotations

import json
import warnings
from functools import cache
from importlib import import_module
from operator import attrgetter
from pkgutil import get_data
from threading import RLock
from typing import TYPE_CHECKING, Any

from flintstream.common._java_view import NO_JVM, JavaOption, JavaView, behind
from flintstream.common.configuration import Configuration
from flintstream.errors import AbsentNameError

if TYPE_CHECKING:
    from flintstream.datastream.stream_execution_environment import StreamExecutionEnvironment

__all__ = ["get_gateway", "import_flink_view", "is_launch_gateway_disabled", "java_import", "launch_gateway"]

_lock = RLock()

_OPTIONS = ("org.apache.flink.configuration.", "org.apache.flink.python.PythonOptions")

_ADVICE = (
    ("org.apache.flink.table", "use Spark SQL for tables"),
    ("org.apache.flink.connector", "use pyflink.datastream.connectors, whose sources and sinks are pure Python"),
    ("org.apache.flink.streaming.connectors", "use pyflink.datastream.connectors, which is pure Python"),
    ("org.apache.flink.formats", "use pyflink.datastream.formats, which is pure Python"),
    (_OPTIONS, "use the option's key as a string, such as 'parallelism.default'"),
    ("org.apache.flink.configuration", "use pyflink.common.Configuration"),
    ("org.apache.flink", "use the methods of PyFlink's Python API, or write the class in Python"),
    ("java.", "use its Python equivalent"),
)


@cache
def option_keys() -> dict[str, dict[str, str]]:
    """Return the keys of Flink 2.3's options, by Java class and constant."""
    found: dict[str, dict[str, str]] = json.loads(get_data(__name__, "option_keys.json") or b"")
    return found


def _absent_name(name: str) -> AbsentNameError:
    advice = next((text for prefix, text in _ADVICE if name.startswith(prefix)), "write the class in Python")
    return AbsentNameError(f"{name}: {NO_JVM}; {advice}")


class JavaType(JavaView):
    """A flintstream class, or a function that creates objects, presented as a Java class."""

    def __getattr__(self, name: str) -> Any:
        members = getattr(behind(self), "__members__", {})  # for enums
        if name == "valueOf" and members:
            return members.__getitem__
        return members[name] if name in members else super().__getattr__(name)

    def __call__(self, *arguments: Any) -> JavaView:
        """Return a view of a new object."""
        return JavaView(behind(self)(*map(behind, arguments)))


class AbsentClass:
    """A Java class without a counterpart: it can be named but not used."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if self._name.startswith(_OPTIONS):
            key = option_keys().get(self._name.rpartition(".")[2], {}).get(name)
            if key is not None:
                return JavaOption(key)
        full = f"{self._name}.{name}"
        if full in _CLASSES or (name[:1].isupper() and not name.isupper()):
            return _class_of(full)
        raise _absent_name(full)

    def __call__(self, *_: Any) -> Any:
        """Raise an error with advice.

        Raises:
            AbsentNameError: Always.
        """
        raise _absent_name(self._name)

    def __repr__(self) -> str:
        return f"<Java class {self._name}, not available>"


class _NoClient:
    """Receives the command of py4j's ``java_import``."""

    @staticmethod
    def send_command(command: str) -> str:  # noqa: ARG004 - there is no JVM process
        return "yv"  # success in py4j's protocol


class JavaPackage:
    """A Java package, with classes and subpackages as attributes."""

    _gateway_client = _NoClient
    _id = "0"

    def __init__(self, name: str = "") -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        full = f"{self._name}.{name}" if self._name else name
        if name[:1].islower():
            return JavaPackage(full)
        return _class_of(_SHORT.get(full, full))

    def __call__(self, *_: Any) -> Any:
        """Raise an error: packages are not callable.

        Raises:
            AbsentNameError: Always.
        """
        raise _absent_name(self._name)

    def __repr__(self) -> str:
        return f"<Java package {self._name}>"


class _Environments:
    """The static methods of Java's ``StreamExecutionEnvironment``."""

    @staticmethod
    def get_execution_environment(configuration: Configuration | None = None) -> StreamExecutionEnvironment:
        from flintstream.datastream import StreamExecutionEnvironment

        return StreamExecutionEnvironment.get_execution_environment(configuration)

    @classmethod
    def create_local_environment(cls, *arguments: int | Configuration) -> StreamExecutionEnvironment:
        configurations = [argument for argument in arguments if isinstance(argument, Configuration)]
        environment = cls.get_execution_environment(*configurations)
        for parallelism in arguments:
            if isinstance(parallelism, int):
                environment.set_parallelism(parallelism)
        return environment

    create_local_environment_with_web_ui = get_execution_environment

    @classmethod
    def create_remote_environment(cls, host: str, port: int, *arguments: Any) -> StreamExecutionEnvironment:
        warnings.warn(
            f"createRemoteEnvironment({host!r}, {port}): flintstream does not connect to Flink clusters, and runs "
            "on Spark instead: choose a Spark master with 'flintstream run --master'",
            stacklevel=4,
        )
        return cls.create_local_environment(*(a for a in arguments if isinstance(a, int | Configuration)))


def _charset(name: str) -> str:
    return name


_COMMON = "org.apache.flink.api.common."
_ENVIRONMENT = "org.apache.flink.streaming.api.environment."
_KAFKA = "org.apache.flink.connector.kafka."

_STREAMS = "org.apache.flink.streaming.api.functions.sink."
_BUCKETS = f"{_STREAMS}filesystem.bucketassigners."
_SINKS = {
    **dict.fromkeys(
        (f"{_STREAMS}DiscardingSink", f"{_STREAMS}legacy.DiscardingSink", f"{_STREAMS}v2.DiscardingSink"),
        "flintstream.connectors.discarding:DiscardingSink",
    ),
    **dict.fromkeys(
        (f"{_STREAMS}PrintSinkFunction", f"{_STREAMS}legacy.PrintSinkFunction"),
        "flintstream.runtime.operators.print_sink:PrintSink",
    ),
    f"{_BUCKETS}BasePathBucketAssigner": "flintstream.datastream.connectors:BucketAssigner.base_path_bucket_assigner",
    f"{_BUCKETS}DateTimeBucketAssigner": "flintstream.datastream.connectors:BucketAssigner.date_time_bucket_assigner",
}

_CLASSES = {
    **_SINKS,
    "java.lang.Boolean": "builtins:bool",
    "java.lang.Double": "builtins:float",
    "java.lang.Float": "builtins:float",
    "java.lang.Integer": "builtins:int",
    "java.lang.Long": "builtins:int",
    "java.lang.String": "builtins:str",
    "java.nio.charset.Charset.forName": f"{__name__}:_charset",
    "java.time.Duration": "flintstream.common:Duration",
    f"{_COMMON}RuntimeExecutionMode": "flintstream.datastream:RuntimeExecutionMode",
    f"{_COMMON}eventtime.WatermarkStrategy": "flintstream.common:WatermarkStrategy",
    f"{_COMMON}serialization.SimpleStringEncoder": "flintstream.common:Encoder.simple_string_encoder",
    f"{_COMMON}serialization.SimpleStringSchema": "flintstream.common:SimpleStringSchema",
    f"{_COMMON}time.Time": "flintstream.common:Time",
    "org.apache.flink.configuration.Configuration": "flintstream.common:Configuration",
    "org.apache.flink.connector.base.DeliveryGuarantee": "flintstream.datastream.connectors:DeliveryGuarantee",
    f"{_KAFKA}sink.KafkaRecordSerializationSchema": (
        "flintstream.datastream.connectors.kafka:KafkaRecordSerializationSchema"
    ),
    f"{_KAFKA}sink.KafkaSink": "flintstream.datastream.connectors.kafka:KafkaSink",
    f"{_KAFKA}source.KafkaSource": "flintstream.datastream.connectors.kafka:KafkaSource",
    f"{_KAFKA}source.enumerator.initializer.OffsetsInitializer": (
        "flintstream.datastream.connectors.kafka:KafkaOffsetsInitializer"
    ),
    "org.apache.flink.core.execution.CheckpointingMode": "flintstream.datastream:CheckpointingMode",
    "org.apache.flink.streaming.api.CheckpointingMode": "flintstream.datastream:CheckpointingMode",
    f"{_ENVIRONMENT}CheckpointConfig.ExternalizedCheckpointCleanup": (
        "flintstream.datastream:ExternalizedCheckpointCleanup"
    ),
    f"{_ENVIRONMENT}LocalStreamEnvironment": f"{__name__}:_Environments.create_local_environment",
    f"{_ENVIRONMENT}RemoteStreamEnvironment": f"{__name__}:_Environments.create_remote_environment",
    f"{_ENVIRONMENT}StreamExecutionEnvironment": f"{__name__}:_Environments",
    "org.apache.flink.table.api.EnvironmentSettings": "flintstream.table:EnvironmentSettings",
    "org.apache.flink.table.catalog.GenericInMemoryCatalog": "flintstream.table._catalog.store:Store",
    "org.apache.flink.table.runtime.arrow.ArrowUtils.collectAsPandasDataFrame": (
        "flintstream.table._results.arrow:collect_as_batches"
    ),
    "org.apache.kafka.clients.consumer.OffsetResetStrategy": (
        "flintstream.datastream.connectors.kafka:KafkaOffsetResetStrategy"
    ),
}
"""Implementations of Java names."""


def _class_of(name: str) -> Any:
    if name not in _CLASSES:
        return AbsentClass(name)
    module, _, path = _CLASSES[name].partition(":")
    found = attrgetter(path)(import_module(module))
    return found if module == "builtins" else JavaType(found)


_SHORT = {
    **{name.rpartition(".")[2]: name for name in _CLASSES if name.startswith("java.lang.")},
    "GenericInMemoryCatalog": "org.apache.flink.table.catalog.GenericInMemoryCatalog",
    "PythonOptions": "org.apache.flink.python.PythonOptions",
    "StreamExecutionEnvironment": f"{_ENVIRONMENT}StreamExecutionEnvironment",
}
"""Names that the gateway offers without their package."""


class Gateway:
    """The gateway that :func:`get_gateway` returns.

    >>> configuration = Gateway().jvm.org.apache.flink.configuration.Configuration()
    >>> _ = configuration.setInteger("parallelism.default", 4)
    >>> configuration.toMap()
    {'parallelism.default': '4'}
    >>> Gateway().jvm.org.apache.flink.runtime.minicluster.MiniCluster(configuration)
    Traceback (most recent call last):
    flintstream.errors.AbsentNameError: org.apache.flink.runtime.minicluster.MiniCluster: flintstream has no Flink JVM;
    use the methods of PyFlink's Python API, or write the class in Python
    """

    jvm = JavaPackage()
    """The packages of Java."""

    def new_array(self, java_class: object, *dimensions: int) -> list[Any]:
        """Return a list of None with the given length; nested lists for several dimensions."""
        first, *rest = dimensions
        return [self.new_array(java_class, *rest) if rest else None for _ in range(first)]

    def close(self, *_: Any, **__: Any) -> None:
        """Do nothing: there is no connection to close."""

    shutdown = close_callback_server = shutdown_callback_server = close

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise AbsentNameError(f"get_gateway().{name}: {NO_JVM}")


_gateway = Gateway()


def get_gateway() -> Gateway:
    """Return the replacement for PyFlink's gateway to Java."""
    return _gateway


launch_gateway = get_gateway


def is_launch_gateway_disabled() -> bool:
    """Return False: the gateway costs nothing."""
    return False


def import_flink_view(gateway: Gateway) -> None:
    """Do nothing: the short names of Flink's classes already resolve."""


def java_import(jvm_view: JavaPackage, import_str: str) -> None:
    """Do nothing: classes without a counterpart cannot be used by short name either."""
