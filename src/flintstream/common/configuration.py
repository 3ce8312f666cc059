"""Settings by the keys of Flink's configuration, such as ``parallelism.default``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, overload

from flintstream.common._java_view import JavaView, behind
from flintstream.common._text.java import double_text
from flintstream.common._text.secrets import hide_secrets
from flintstream.common.time import Duration
from flintstream.options.option import Option

if TYPE_CHECKING:
    from collections.abc import Mapping
    from collections.abc import Set as AbstractSet

    from typing_extensions import Self

    from flintstream.common.config_options import ConfigOption

__all__ = ["Configuration"]

T = TypeVar("T")


class Configuration:
    """A mapping of keys to values. A value keeps its type, and is converted when it is read as another type.

    >>> config = Configuration().set_string("parallelism.default", "4").set_boolean("pipeline.object-reuse", True)
    >>> config.get_integer("parallelism.default", 1)
    4
    >>> config.to_dict()
    {'parallelism.default': '4', 'pipeline.object-reuse': 'true'}

    Each type has a setter and a getter, and a getter takes a default:

    >>> config.set_integer("retries", 3).set_float("share", 0.5).set_bytearray("salt", bytearray(b"ab"))
    Configuration({parallelism.default=4, pipeline.object-reuse=true, retries=3, salt=6162, share=0.5})
    >>> config.get_string("retries", "none"), config.get_float("share", 1.0), config.get_bytearray("salt", bytearray())
    ('3', 0.5, bytearray(b'ab'))
    >>> config.get_boolean("verbose", False), config.get_duration("pause", Duration.of_seconds(5))
    (False, Duration('5000 ms'))
    >>> config.contains_key("share"), config.remove_config("share"), config.contains_key("share")
    (True, True, False)

    Options know their type and default, and configurations can be merged:

    >>> from flintstream.common import ConfigOptions
    >>> workers = ConfigOptions.key("workers").int_type().default_value(2)
    >>> more = Configuration.from_dict({"color": "blue"}).set(workers, 4)
    >>> more.get(workers), Configuration().get(workers)
    (4, 2)
    >>> sorted(Configuration().add_all(more, prefix="my.").key_set())
    ['my.color', 'my.workers']
    >>> entries = {}
    >>> more.add_all_to_dict(entries)
    >>> entries
    {'color': 'blue', 'workers': 4}
    """

    def __init__(self, other: Configuration | None = None, j_configuration: JavaView | None = None) -> None:
        """Copy the entries of ``other``, or share those of ``j_configuration``.

        Raises:
            TypeError: ``j_configuration`` is not a result of ``_j_configuration`` or ``get_j_env_configuration()``.
        """
        self._values: dict[str, Any] = {}
        if j_configuration is not None:
            shared = behind(j_configuration)
            if not isinstance(shared, Configuration):
                raise TypeError(
                    "j_configuration must come from get_j_env_configuration() or from the _j_configuration of "
                    f"another configuration, got {j_configuration!r}"
                )
            vars(self).update(vars(shared))
        if other is not None:
            other.add_all_to_dict(self._values)

    @property
    def _j_configuration(self) -> JavaView:
        """A view with Java's methods, for programs that set options through these."""
        return JavaView(self)

    @classmethod
    def from_dict(cls, map: Mapping[str, str]) -> Configuration:
        """Return a configuration with the entries of ``map``."""
        configuration = cls()
        for key, value in map.items():
            configuration.set(key, value)
        return configuration

    @overload
    def get(self, option: Option[T]) -> T: ...

    @overload
    def get(self, option: ConfigOption[T], default: T | None = None) -> T | None: ...

    def get(self, option: Option[Any] | ConfigOption[Any], default: Any = None) -> Any:
        """Return the value of ``option``, or else ``default``, or else the option's own default.

        The older keys of an :class:`~flintstream.options.option.Option` are also read. PyFlink has no such method.

        Raises:
            ValueError: the value does not have the option's type.
        """
        if isinstance(option, Option):
            return option.read(self._values)
        if option.key in self._values:
            return self._read(option.key, option.value_type)
        return option.default if default is None else default

    def set(self, option: ConfigOption[Any] | Option[Any] | str, value: Any) -> Self:
        """Set the value of an option or key. PyFlink has no such method.

        Raises:
            TypeError: the key is not a string.
            ValueError: the value is None.
        """
        key = option if isinstance(option, str) else option.key
        if not isinstance(key, str):
            raise TypeError(f"a configuration key must be a string, got {key!r}")
        if value is None:
            raise ValueError(f"the value of '{key}' is None: use remove_config('{key}') to unset it")
        self._values[key] = value
        return self

    def _set_as(self, key: str, value: Any, *types: type) -> Self:
        if isinstance(value, types) and not (isinstance(value, bool) and bool not in types):
            return self.set(key, value)
        names = " or ".join(t.__name__ for t in types)
        raise TypeError(
            f"the value of '{key}' must be {names}, got {_describe(key, repr(value))} of type {type(value).__name__}"
        )

    def _read(self, key: str, value_type: type[Any]) -> Any:
        value = self._values[key]
        try:
            return _CONVERT[value_type](value)
        except (ValueError, TypeError) as error:
            raise ValueError(
                f"the value of '{key}', {_describe(key, repr(value))}, does not have the type "
                f"{value_type.__name__}: {_describe(key, str(error))}"
            ) from None

    def get_string(self, key: str, default_value: str) -> str:
        """Return the value as text, or the default."""
        return self._read(key, str) if key in self._values else default_value

    def set_string(self, key: str, value: str) -> Self:
        """Set a string."""
        return self._set_as(key, value, str)

    def get_integer(self, key: str, default_value: int) -> int:
        """Return the value as integer, or the default.

        Raises:
            ValueError: the value is not an integer.
        """
        return self._read(key, int) if key in self._values else default_value

    def set_integer(self, key: str, value: int) -> Self:
        """Set an integer."""
        return self._set_as(key, value, int)

    def get_boolean(self, key: str, default_value: bool) -> bool:
        """Return the value as boolean (``true`` and ``false`` in any case), or the default.

        Raises:
            ValueError: the value is neither.
        """
        return self._read(key, bool) if key in self._values else default_value

    def set_boolean(self, key: str, value: bool) -> Self:
        """Set a boolean."""
        return self._set_as(key, value, bool)

    def get_float(self, key: str, default_value: float) -> float:
        """Return the value as floating point number, or the default.

        Raises:
            ValueError: the value is not a number.
        """
        return self._read(key, float) if key in self._values else default_value

    def set_float(self, key: str, value: float) -> Self:
        """Set a floating point number."""
        return self._set_as(key, value, float, int)

    def get_bytearray(self, key: str, default_value: bytearray) -> bytearray:
        """Return a value set by :meth:`set_bytearray`, or the default.

        Raises:
            ValueError: the value has another type.
        """
        return self._read(key, bytearray) if key in self._values else default_value

    def set_bytearray(self, key: str, value: bytearray) -> Self:
        """Set bytes."""
        return self._set_as(key, value, bytearray, bytes)

    def get_duration(self, key: str, default_value: Duration) -> Duration:
        """Return the value as a duration (``10 s``; a bare number is ms), or the default.

        PyFlink has no such method.

        Raises:
            ValueError: the value is not a duration.
        """
        return self._read(key, Duration) if key in self._values else default_value

    @staticmethod
    def parse_list_value(value: str) -> list[str]:
        """Return the items of a list: ``a;b``, or ``[a, b]`` as in YAML.

        >>> Configuration.parse_list_value("a;b"), Configuration.parse_list_value("['a', b]")
        (['a', 'b'], ['a', 'b'])
        """
        if not value:
            return []
        stripped = value.strip()
        if stripped.startswith("[") and stripped.endswith("]"):
            items = [item.strip() for item in stripped[1:-1].split(",")]
            return [item[1:-1] if item[:1] in {"'", '"'} and item[-1:] == item[:1] else item for item in items if item]
        return value.split(";")

    def key_set(self) -> AbstractSet[str]:
        """Return the keys."""
        return set(self._values)

    def add_all_to_dict(self, target_dict: dict[str, Any]) -> None:
        """Put all entries into ``target_dict``, with the values as they were set."""
        target_dict.update(self._values)

    def add_all(self, other: Configuration, prefix: str | None = None) -> Self:
        """Add all entries of ``other``, with ``prefix`` before each key."""
        for key, value in other._values.items():
            self._values[(prefix or "") + key] = value
        return self

    def contains_key(self, key: str) -> bool:
        """Return whether the key is set."""
        return key in self._values

    def to_dict(self) -> dict[str, str]:
        """Return all entries as strings."""
        return {key: _to_text(value) for key, value in self._values.items()}

    def find(self, option: Option[Any]) -> tuple[str, str] | None:
        """Return the key under which ``option`` is set and its value as text, or None if it is not set.

        PyFlink has no such method.

        >>> from flintstream.options.checkpointing import INTERVAL
        >>> Configuration.from_dict({"execution.checkpointing.interval": "3 min"}).find(INTERVAL)
        ('execution.checkpointing.interval', '3 min')
        """
        key = option.key_in(self._values)
        return None if key is None else (key, _to_text(self._values[key]).strip())

    def remove_config(self, key: str) -> bool:
        """Unset the key, and return whether it was set."""
        return self._values.pop(key, None) is not None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Configuration):
            return NotImplemented
        return self._values == other._values

    def __hash__(self) -> int:
        return hash(frozenset(self._values))

    def __str__(self) -> str:
        return f"{{{', '.join(f'{key}={text}' for key, text in sorted(hide_secrets(self.to_dict()).items()))}}}"

    def __repr__(self) -> str:
        return f"Configuration({self})"


def _describe(key: str, text: str) -> str:
    """Return a text about the value of a key as errors show it."""
    return hide_secrets({key: text})[key]


def _to_text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return double_text(value)
    if isinstance(value, (bytes, bytearray)):
        return value.hex()
    return str(value)


def _to_bool(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    text = str(value).lower()
    if text not in {"true", "false"}:
        raise ValueError("neither true nor false")
    return text == "true"


def _to_int(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, str)):
        raise TypeError("not an integer")
    if isinstance(value, str) and value != value.strip():
        raise ValueError("spaces around a number")
    return int(value)


def _to_float(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise TypeError("not a number")
    return float(value)


def _to_bytes(value: Any) -> bytearray:
    if not isinstance(value, (bytes, bytearray)):
        raise TypeError("not bytes")
    return bytearray(value)


_CONVERT = {
    str: _to_text,
    bool: _to_bool,
    int: _to_int,
    float: _to_float,
    bytearray: _to_bytes,
    Duration: Duration.of,
}
