"""Views of flintstream objects with the Java method names of PyFlink's objects.

PyFlink's objects wrap Java objects. Programs reach those through attributes such as ``_j_configuration`` to set
options. A :class:`JavaView` replaces the Java object and passes each call on to a Python object.
"""

from __future__ import annotations

import re
from abc import ABCMeta
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from flintstream.common.config_options import ConfigOption
from flintstream.errors import AbsentNameError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["NO_JVM", "JavaOption", "JavaOptional", "JavaView", "Wrapper", "behind"]

T = TypeVar("T")

NO_JVM = "flintstream has no Flink JVM"

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_OTHERWISE = {
    "contains": "contains_key",
    "from_map": "from_dict",
    "get_bytes": "get_bytearray",
    "get_double": "get_float",
    "get_long": "get_integer",
    "remove_key": "remove_config",
    "set_bytes": "set_bytearray",
    "set_double": "set_float",
    "set_long": "set_integer",
    "to_map": "to_dict",
}
"""Methods whose Java and Python names differ in more than spelling."""

_JAVA_DEFAULTS = {"get_string": "", "get_integer": 0, "get_float": 0.0, "get_boolean": False, "get_bytearray": b""}


class Wrapper(ABCMeta):
    """Metaclass of classes that wrap Java objects in PyFlink. Called with a view, such a class returns its target.

    >>> class Encoder(metaclass=Wrapper): ...
    >>> encoder = Encoder()
    >>> Encoder(JavaView(encoder)) is encoder
    True
    """

    if not TYPE_CHECKING:  # a type checker goes by the class's own constructor

        def __call__(cls, *args: object, **kwargs: object) -> Any:
            """Create an object, or return the target of a view that is the only argument."""
            given = (*args, *kwargs.values())
            if len(given) == 1 and isinstance(given[0], JavaView) and isinstance(behind(given[0]), cls):
                return behind(given[0])
            return super().__call__(*args, **kwargs)


class JavaOption:
    """A ``ConfigOption`` with Java's methods.

    >>> JavaOption("parallelism.default").key()
    'parallelism.default'
    """

    def __init__(self, key: str) -> None:
        self._key = key

    def key(self) -> str:
        """Return the key."""
        return self._key


class JavaOptional(Generic[T]):
    """An ``Optional`` with Java's methods.

    >>> JavaOptional("a").orElse("b"), JavaOptional(None).orElse("b")
    ('a', 'b')
    """

    def __init__(self, value: T | None) -> None:
        """Hold ``value``; None means empty."""
        self._value = value

    def isPresent(self) -> bool:  # noqa: N802 - Java's name
        """Tell whether there is a value."""
        return self._value is not None

    def get(self) -> T:
        """Return the value.

        Raises:
            ValueError: It is empty.
        """
        if self._value is None:
            raise ValueError("No value present")
        return self._value

    def orElse(self, other: T) -> T:  # noqa: N802 - Java's name
        """Return the value, or ``other`` if empty."""
        return other if self._value is None else self._value


class JavaView:
    """A view of ``target`` with Java's method names.

    >>> from flintstream.common import Configuration
    >>> configuration = Configuration()
    >>> _ = JavaView(configuration).setString("pipeline.name", "words")
    >>> configuration.to_dict()
    {'pipeline.name': 'words'}
    >>> JavaView(configuration).freeze()
    Traceback (most recent call last):
    flintstream.errors.AbsentNameError: Configuration.freeze: flintstream has no Flink JVM, and Configuration has
    no method freeze()
    """

    def __init__(self, target: object) -> None:
        self._target = target

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("_"):
            raise AttributeError(name)
        if name == "getConfiguration" and "_configuration" in vars(self._target):
            return lambda: JavaView(vars(self._target)["_configuration"])
        if name in _OF_CONFIGURATIONS and hasattr(self._target, "add_all_to_dict"):
            return lambda *arguments: _OF_CONFIGURATIONS[name](self._target, *arguments)
        python_name = _HUMP.sub("_", name).lower()
        python_name = _OTHERWISE.get(python_name, python_name)
        method = getattr(self._target, python_name, None)
        if not callable(method):
            owner = type(self._target).__name__
            raise AbsentNameError(f"{owner}.{name}: {NO_JVM}, and {owner} has no method {python_name}()")

        def call(*arguments: Any) -> Any:
            given = [_plain(argument) for argument in arguments]
            if len(given) == 1 and python_name in _JAVA_DEFAULTS:
                given.append(_JAVA_DEFAULTS[python_name])
            elif python_name in _JAVA_DEFAULTS and given[1] is None and not self._target.contains_key(given[0]):  # type: ignore[attr-defined]
                return None
            return _as_java(method(*given))

        return call

    def equals(self, other: object) -> bool:
        """Compare the targets of two views."""
        return isinstance(other, JavaView) and bool(self._target == behind(other))

    def hashCode(self) -> int:  # noqa: N802 - Java's name
        """Return the hash of the target."""
        return hash(self._target)

    def toString(self) -> str:  # noqa: N802 - Java's name
        """Return the text of the target."""
        return str(self._target)

    __eq__ = equals
    __hash__ = hashCode
    __str__ = toString

    def __repr__(self) -> str:
        return f"JavaView({self._target!r})"


def behind(value: object) -> Any:
    """Return the target of a view, or any other value unchanged.

    >>> behind(JavaView("a")), behind("b")
    ('a', 'b')
    """
    return vars(value)["_target"] if isinstance(value, JavaView) else value


def _plain(argument: object) -> Any:
    argument = behind(argument)
    if isinstance(argument, JavaOption):
        return argument.key()
    return argument.key if isinstance(argument, ConfigOption) else argument


def _as_java(value: object) -> Any:
    return JavaView(value) if type(value).__module__.startswith("flintstream.") else value


def _get(configuration: Any, option: object, default: object = None) -> Any:
    entries: dict[str, Any] = {}
    configuration.add_all_to_dict(entries)
    return entries.get(_plain(option), default)


def _get_value(configuration: Any, option: object) -> Any:
    return configuration.to_dict().get(_plain(option))


_OF_CONFIGURATIONS: dict[str, Callable[..., Any]] = {
    "clone": lambda configuration: JavaView(type(configuration)(configuration)),
    "get": _get,
    "getOptional": lambda configuration, option: JavaOptional(_get_value(configuration, option)),
    "getValue": _get_value,
    "set": lambda configuration, option, value: JavaView(configuration.set(_plain(option), value)),
}
"""Configuration methods that Python lacks or that differ from Java."""
