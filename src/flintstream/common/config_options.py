"""Typed descriptions of settings."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from flintstream.common.time import Duration

__all__ = ["ConfigOption", "ConfigOptions"]

T = TypeVar("T")


class ConfigOption(Generic[T]):
    """A setting: its key, the type of its value and its default.

    Create it with :class:`ConfigOptions`, and read it with ``Configuration.get``.

    Attributes:
        key: the key in a configuration.
        default: the value if none is set; None for no default.
        value_type: the type of the value: bool, int, float, str or :class:`~flintstream.common.time.Duration`.

    >>> retries = ConfigOption("my.retries", int, 3)
    >>> retries.key, retries.default
    ('my.retries', 3)
    """

    def __init__(self, key: str, value_type: type[Any], default: T | None = None) -> None:
        self.key = key
        self.value_type = value_type
        self.default = default

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ConfigOption):
            return NotImplemented
        mine = (self.key, self.value_type, self.default)
        return mine == (other.key, other.value_type, other.default)

    def __hash__(self) -> int:
        return hash(self.key)

    def __repr__(self) -> str:
        return f"Key: '{self.key}' , default: {self.default}"


class ConfigOptions:
    """A builder of settings.

    >>> ConfigOptions.key("my.retries").int_type().default_value(3)
    Key: 'my.retries' , default: 3
    """

    @staticmethod
    def key(key: str) -> ConfigOptions.OptionBuilder:
        """Start with the key."""
        return ConfigOptions.OptionBuilder(key)

    class OptionBuilder:
        """The second step, which sets the type."""

        def __init__(self, key: str) -> None:
            self._key = key

        def boolean_type(self) -> ConfigOptions.TypedConfigOptionBuilder[bool]:
            """Set the type to boolean."""
            return ConfigOptions.TypedConfigOptionBuilder(self._key, bool)

        def int_type(self) -> ConfigOptions.TypedConfigOptionBuilder[int]:
            """Set the type to integer."""
            return ConfigOptions.TypedConfigOptionBuilder(self._key, int)

        def long_type(self) -> ConfigOptions.TypedConfigOptionBuilder[int]:
            """Set the type to integer, the same as :meth:`int_type` in Python."""
            return ConfigOptions.TypedConfigOptionBuilder(self._key, int)

        def float_type(self) -> ConfigOptions.TypedConfigOptionBuilder[float]:
            """Set the type to floating point number."""
            return ConfigOptions.TypedConfigOptionBuilder(self._key, float)

        def double_type(self) -> ConfigOptions.TypedConfigOptionBuilder[float]:
            """Set the type to floating point number, the same as :meth:`float_type` in Python."""
            return ConfigOptions.TypedConfigOptionBuilder(self._key, float)

        def string_type(self) -> ConfigOptions.TypedConfigOptionBuilder[str]:
            """Set the type to string."""
            return ConfigOptions.TypedConfigOptionBuilder(self._key, str)

        def duration_type(self) -> ConfigOptions.TypedConfigOptionBuilder[Duration]:
            """Set the type to duration, such as ``10 s``. PyFlink has no such type."""
            return ConfigOptions.TypedConfigOptionBuilder(self._key, Duration)

    class TypedConfigOptionBuilder(Generic[T]):
        """The last step, which sets the default."""

        def __init__(self, key: str, value_type: type[Any]) -> None:
            self._key = key
            self._value_type = value_type

        def default_value(self, value: T) -> ConfigOption[T]:
            """Return the setting, with a default."""
            return ConfigOption(self._key, self._value_type, value)

        def no_default_value(self) -> ConfigOption[T]:
            """Return the setting, without a default."""
            return ConfigOption(self._key, self._value_type)
