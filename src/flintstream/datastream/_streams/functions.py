"""Check the arguments of stream operations and adapt them to the interfaces of operators."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flintstream.common.typeinfo import PickledBytesTypeInfo, RowTypeInfo, TypeInformation
from flintstream.datastream.functions import KeySelector
from flintstream.errors import UnpicklableError
from flintstream.graph.frozen import freeze
from flintstream.runtime.operators.adapters import PlainFunction

if TYPE_CHECKING:
    from collections.abc import Callable


def is_plain(function: object, base: type) -> bool:
    """Return whether ``function`` is a plain callable rather than an object of class ``base``."""
    return not isinstance(function, base)


class StaysInProgram:
    """Base class of objects that build programs and must not be part of functions that run in tasks."""

    def __reduce__(self) -> Any:
        """Raise an error, because the object must not be pickled.

        Raises:
            TypeError: Always.
        """
        raise TypeError(
            f"a {type(self).__name__} cannot be used inside a function: functions run in tasks, but it "
            "belongs to the program that builds the job. Copy the needed values to a variable",
        )


def as_function(function: Any, base: type, method: str, operation: str) -> Any:
    """Return an object with ``open``, ``close`` and ``method``.

    Raises:
        TypeError: ``function`` is neither callable nor a ``base``.
    """
    if isinstance(function, base):
        return function
    if isinstance(function, type) and issubclass(function, base):
        raise TypeError(
            f"The input of {operation}() must be an object: {function.__name__}(...), but got the class itself"
        )
    if callable(function):
        return PlainFunction(method, function)
    raise TypeError(
        f"The input of {operation}() must be a {base.__name__} or a callable, but got {function!r} "
        f"of type {type(function).__name__}",
    )


def as_selector(selector: Any, operation: str = "key_by") -> Callable[[Any], Any]:
    """Return a key selector as a plain callable.

    Raises:
        TypeError: ``selector`` is neither callable nor a ``KeySelector``.
    """
    if isinstance(selector, KeySelector):
        return selector.get_key
    if callable(selector):
        return selector  # type: ignore[no-any-return]
    raise TypeError(
        f"Parameter key_selector of {operation}() should be a callable or a KeySelector, but got {selector!r} "
        f"of type {type(selector).__name__}",
    )


@dataclass(frozen=True)
class _PlainAssigner:
    """A plain function as an assigner."""

    extract_timestamp: Callable[[Any, int], int]


def as_assigner(assigner: Any, source_name: str) -> Any:
    """Return the timestamp assigner of a source's strategy; warn and return None if it is unusable.

    PyFlink ignores it here, so an unusable one must not fail the program.
    """
    if assigner is None or callable(getattr(assigner, "extract_timestamp", None)):
        usable = assigner
    elif callable(assigner):
        usable = _PlainAssigner(assigner)
    else:
        _warn_of(source_name, f"{assigner!r} is not a TimestampAssigner")
        return None
    try:
        freeze(source_name, usable)
    except UnpicklableError as error:
        _warn_of(source_name, str(error))
        return None
    return usable


def _warn_of(source_name: str, reason: str) -> None:
    warnings.warn(f"the TimestampAssigner of source '{source_name}' is ignored, as in PyFlink: {reason}", stacklevel=4)


def as_type(given: Any) -> TypeInformation | None:
    """Return a declared type; None for untyped streams. As in PyFlink, a list of types means a row.

    Raises:
        TypeError: ``given`` is not a ``TypeInformation``.
    """
    if given is None or isinstance(given, PickledBytesTypeInfo):
        return None
    if isinstance(given, (list, tuple)):
        return RowTypeInfo(list(given))
    if isinstance(given, TypeInformation):
        return given
    raise TypeError(f"output_type must be a TypeInformation such as Types.STRING(), but got {given!r}")
