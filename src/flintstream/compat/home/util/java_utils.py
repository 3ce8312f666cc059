"""Helpers for Java objects (``pyflink.util.java_utils``), which are views of Python objects here."""

from __future__ import annotations

import warnings
from datetime import timedelta
from functools import reduce
from typing import TYPE_CHECKING, Any

from flintstream.common._java_view import NO_JVM, JavaView, behind
from flintstream.common.time import Duration, Time
from flintstream.compat.home.java_gateway import get_gateway
from flintstream.errors import UnsupportedByDesignError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_FIELDS = {"checkpointCfg": "_checkpoint_config", "config": "_config", "configuration": "_configuration"}
"""Fields of Java's environment that programs read -> the attributes of ours."""


def get_j_env_configuration(j_env: JavaView) -> Any:
    """Return the configuration of an environment, to set options with Java's methods.

    Raises:
        TypeError: ``j_env`` is not the ``_j_stream_execution_environment`` of an environment.

    >>> from flintstream.datastream import StreamExecutionEnvironment
    >>> env = StreamExecutionEnvironment.get_execution_environment()
    >>> _ = get_j_env_configuration(env._j_stream_execution_environment).setInteger("parallelism.default", 3)
    >>> env.get_parallelism()
    3
    """
    if not isinstance(j_env, JavaView) or not hasattr(behind(j_env), "_configuration"):
        raise TypeError(f"get_j_env_configuration() needs env._j_stream_execution_environment, but got {j_env!r}")
    return j_env.getConfiguration()


def to_jarray(j_type: object, arr: Iterable[Any]) -> list[Any]:  # noqa: ARG001 - elements are of any type
    """Return the elements as a list, which replaces a Java array."""
    return list(arr)


def to_j_duration(time_delta: timedelta | int) -> JavaView:
    """Convert a duration to Java's ``Duration``; a number is in milliseconds."""
    return JavaView(Duration.of_millis(_milliseconds(time_delta)))


def from_j_duration(j_duration: Any) -> timedelta:
    """Convert a Java ``Duration`` to a timedelta."""
    return timedelta(milliseconds=j_duration.toMillis())


def to_j_flink_time(time_delta: timedelta | int) -> JavaView:
    """Convert a duration to the ``Time`` of older Flink releases; a number is in milliseconds."""
    return JavaView(Time.milliseconds(_milliseconds(time_delta)))


def from_j_flink_time(j_flink_time: Any) -> timedelta:
    """Convert a Flink ``Time`` to a timedelta."""
    return timedelta(milliseconds=j_flink_time.toMilliseconds())


def _milliseconds(time_delta: timedelta | int) -> int:
    return round(time_delta.total_seconds() * 1000) if isinstance(time_delta, timedelta) else time_delta


def load_java_class(class_name: str) -> Any:
    """Return the replacement for a Java class."""
    return reduce(getattr, class_name.split("."), get_gateway().jvm)


def is_instance_of(java_object: Any, java_class: Any) -> bool:
    """Tell whether an object is an instance of a Java class, given as a name or a replacement."""
    kind = type(behind(java_object))
    wanted = behind(java_class)
    if isinstance(wanted, type):
        return issubclass(kind, wanted)
    return isinstance(wanted, str) and kind.__name__ == wanted.rpartition(".")[2]


def get_field(cls: Any, field_name: str) -> Any:
    """Raise an error: there are no Java fields.

    Raises:
        UnsupportedByDesignError: Always.
    """
    raise UnsupportedByDesignError(f"get_field({cls!r}, {field_name!r}): {NO_JVM}")


def get_field_value(java_obj: Any, field_name: str) -> Any:
    """Return the configuration, execution or checkpoint configuration of an environment.

    Raises:
        UnsupportedByDesignError: The field is any other.
    """
    found = getattr(behind(java_obj), _FIELDS.get(field_name, ""), None)
    if found is None:
        raise UnsupportedByDesignError(f"get_field_value({java_obj!r}, {field_name!r}): {NO_JVM}")
    return JavaView(found)


def invoke_method(
    obj: Any,
    object_type: str,  # noqa: ARG001 - the object knows its class
    method_name: str,
    args: Sequence[Any] | None = None,
    arg_types: Sequence[str] | None = None,  # noqa: ARG001 - methods are not overloaded
) -> Any:
    """Call a method by its Java name."""
    return getattr(obj, method_name)(*(args or ()))


def is_local_deployment(j_configuration: Any) -> bool:
    """Tell whether ``execution.target`` in the configuration is this machine."""
    return j_configuration.getString("execution.target", None) in {"local", "minicluster"}


def add_jars_to_context_class_loader(jar_urls: Iterable[str]) -> None:
    """Emit a warning: jars have no effect, because connectors are Python packages."""
    warnings.warn(f"{', '.join(jar_urls)}: jars have no effect; connectors are Python packages", stacklevel=2)


def create_url_class_loader(urls: Iterable[str], parent_class_loader: object) -> Any:  # noqa: ARG001
    """Raise an error: there are no class loaders.

    Raises:
        UnsupportedByDesignError: Always.
    """
    raise UnsupportedByDesignError(f"create_url_class_loader({', '.join(urls)}): {NO_JVM}")


def to_j_explain_detail_arr(p_extra_details: Iterable[Any] | None) -> list[Any]:
    """Return the details as a list."""
    return list(p_extra_details or ())
