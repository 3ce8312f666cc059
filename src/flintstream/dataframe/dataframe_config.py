"""The settings of the environment of DataFrames; mirrors ``pyflink.dataframe.dataframe_config``."""

from __future__ import annotations

from flintstream.dataframe._buffered import BUFFER
from flintstream.dataframe.context import get_table_environment

__all__ = ["config"]


class _DataFrameConfig:
    """Takes any key of Flink and flintstream, until the environment is created; the environment starts with them.

    >>> import flintstream.dataframe as pf
    >>> pf.set_table_environment(None)
    >>> pf.config.set("parallelism.default", "4").get("parallelism.default")
    '4'
    >>> pf.config.get("pipeline.name", "unnamed")
    'unnamed'
    """

    @property
    def _buffered(self) -> dict[str, str]:
        return BUFFER.values

    def set(self, key: str, value: str) -> _DataFrameConfig:
        """Keep a setting for the next environment, and return this object. Settings survive the environment.

        Raises:
            TypeError: A key or value is not a text.
            RuntimeError: There is an environment; use its ``get_config()``.
        """
        if not isinstance(key, str):
            raise TypeError("key must be a string")
        if not isinstance(value, str):
            raise TypeError("value must be a string")
        if get_table_environment() is not None:
            raise RuntimeError(
                "DataFrame configuration must be set before the table environment exists: call get_config() of "
                "get_table_environment(), or set_table_environment(None) first"
            )
        BUFFER.values[key] = value
        return self

    def get(self, key: str, default: str | None = None) -> str | None:
        """Return a setting, of the environment if there is one.

        Raises:
            TypeError: The key or default is not a text.
        """
        if not isinstance(key, str):
            raise TypeError("key must be a string")
        if default is not None and not isinstance(default, str):
            raise TypeError("default must be a string or None")
        environment = get_table_environment()
        if environment is None:
            return BUFFER.values.get(key, default)
        found: str | None = environment.get_config().get(key, default)  # type: ignore[arg-type]  # as in PyFlink
        return found


config = _DataFrameConfig()
"""The settings of this process.

>>> import flintstream.dataframe as pf
>>> pf.config.get("no.such.key") is None
True
"""
