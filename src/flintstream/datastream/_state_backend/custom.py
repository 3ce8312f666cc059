"""Backends of one's own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flintstream.datastream._settings import is_java, load_callable
from flintstream.datastream._state_backend.base import StateBackend
from flintstream.errors import UnsupportedByDesignError
from flintstream.options.state import BACKEND
from flintstream.state.custom import CheckedFactory

if TYPE_CHECKING:
    from collections.abc import Callable

    from flintstream.common.configuration import Configuration
    from flintstream.state.backend import KeyedStateBackend


class CustomStateBackend(StateBackend):
    """Keeps state in a backend of one's own.

    PyFlink wraps a Java object. Here it is a Python class or function that is called in the workers, once for each
    keyed operator and subtask, with the operator's name and a function from keys to key groups. It returns a
    :class:`~flintstream.state.backend.KeyedStateBackend`.

    >>> from flintstream.state.hash_map import HashMapStateBackend as Keyed
    >>> class Counting(Keyed):
    ...     accesses = 0
    ...
    ...     def state(self, descriptor, scope=None):
    ...         Counting.accesses += 1
    ...         return super().state(descriptor, scope)
    >>> backend = CustomStateBackend(lambda operator, key_group: Counting(operator))

    A function that can be imported may also be named in the configuration: ``state.backend.type: my_module:make``.
    """

    kind = "custom"

    def __init__(self, custom_state_backend: Callable[[str, Callable[[Any], int]], KeyedStateBackend]) -> None:
        """Describe the backend that ``custom_state_backend(operator_name, key_group)`` returns.

        Raises:
            UnsupportedByDesignError: it is an object of Java, or nothing that can be called.
        """
        if is_java(custom_state_backend) or not callable(custom_state_backend):
            raise UnsupportedByDesignError(
                f"CustomStateBackend({custom_state_backend!r}) needs a Python class or function that is called with "
                "(operator_name, key_group) and returns a KeyedStateBackend, not an object of Java; else use "
                "HashMapStateBackend or EmbeddedRocksDBStateBackend"
            )
        self._factory = custom_state_backend

    @staticmethod
    def named(name: str, key: str = BACKEND.key) -> CustomStateBackend:
        """Return the backend of a factory that is named as ``module:function``. PyFlink has no such method.

        Raises:
            UnsupportedByDesignError: there is nothing of that name that Python can call.
        """
        return CustomStateBackend(load_callable(name, f"'{key}'", "or use 'hashmap' or 'rocksdb'"))

    def get_factory(self) -> CheckedFactory:
        """Return the factory; it checks what it makes. PyFlink has no such method."""
        return CheckedFactory(self._factory)

    def write_to(self, configuration: Configuration) -> None:
        """Set the key that stands for a backend of one's own. PyFlink has no such method."""
        configuration.set_string(BACKEND.key, self.kind)
