"""Base class of all types."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from flintstream.common._generic import Generic, T_co
from flintstream.common._types.conversion import Inline
from flintstream.errors import UnsupportedByDesignError

if TYPE_CHECKING:
    from flintstream.common._types.conversion import Converter, Scope


class TypeInformation(ABC, Generic[T_co]):
    """The type of the records of a stream, a key or a state. Values of ``TypeInformation[int]`` are ``int``.

    >>> from flintstream.common import Types
    >>> pairs = Types.TUPLE([Types.STRING(), Types.DOUBLE()])
    >>> pairs.stringify(("be", 2.0)), pairs.to_text(("be", 2.0))
    ('(be,2.0)', '(be,2.0)')
    >>> Types.STRING().is_plain_text(), pairs.is_plain_text()
    (True, False)
    >>> Types.SQL_DATE().need_conversion(), Types.STRING().need_conversion()
    (True, False)
    >>> Types.FLOAT().to_internal_type(110.1), Types.FLOAT().from_internal_type(0.5)
    (110.0999984741211, 0.5)
    >>> Types.INT().get_java_type_info()
    Traceback (most recent call last):
    flintstream.errors.UnsupportedByDesignError: Integer has no Java counterpart: types are pure Python in
    flintstream
    """

    _converter: Converter | None

    @abstractmethod
    def _signature(self) -> tuple[object, ...]:
        """Return what determines equality of types of one class."""

    @abstractmethod
    def __repr__(self) -> str: ...

    def _convert(self, value: Any) -> Any:
        """Convert any value, or raise an error: the slow path of :meth:`converter`."""
        return value

    def _inline(self, scope: Scope) -> Inline:
        """Return the code that converts a value of this type inside another one."""
        return Inline.call(scope, self.converter())

    def _compile(self) -> Converter | None:
        return self._convert

    def converter(self) -> Converter | None:
        """Return a function that gives a value the form it has after crossing a serializer of this type.

        The function returns the value itself if nothing changes. It narrows values like the type (32-bit floats, times
        to the millisecond, 2.7 to 2) and converts everything that a ``ROW`` accepts to a ``Row`` with the type's field
        names. It raises ``OverflowError`` for a number out of range and ``TypeError`` for other values that do not fit.
        None instead of a function means that all values are valid. Compiled once per type object.

        >>> from flintstream.common import Types
        >>> convert = Types.TUPLE([Types.STRING(), Types.FLOAT()]).converter()
        >>> convert(("a", 110.1))
        ('a', 110.0999984741211)
        >>> convert(("a", "b"))
        Traceback (most recent call last):
        TypeError: field 1: the declared type is Float, but the value is 'b' of type str
        """
        try:
            return self._converter
        except AttributeError:
            self._converter = self._compile()
            return self._converter

    def stringify(self, value: Any) -> str:
        """Return the text that Java's ``toString`` and the file sink produce: ``(hi,4)``, ``+I[be, 2]``, ``1.0E10``."""
        return "null" if value is None else str(value)

    def is_plain_text(self) -> bool:
        """Tell whether :meth:`stringify` equals ``str`` for every value but None."""
        return False

    def to_text(self, value: Any) -> str:
        """Return the text that the print sink shows.

        Same as :meth:`stringify`, except that fields of a row are formatted by Python: ``+I[a,None]``.
        """
        return self.stringify(value)

    def need_conversion(self) -> bool:
        """Tell whether PyFlink keeps values of this type in a different internal form."""
        return False

    def to_internal_type(self, obj: Any) -> Any:
        """Return ``obj`` in the engine's form: converted by :meth:`converter`, None unchanged."""
        converter = self.converter()
        return obj if obj is None or converter is None else converter(obj)

    def from_internal_type(self, obj: Any) -> Any:
        """Return the engine's ``obj`` as user functions see it: the same object."""
        return obj

    def get_java_type_info(self) -> Any:
        """Raise an error: types have no JVM object.

        Raises:
            UnsupportedByDesignError: Always.
        """
        raise UnsupportedByDesignError(f"{self} has no Java counterpart: types are pure Python in flintstream")

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if type(other) is not type(self):
            return NotImplemented
        return self._signature() == other._signature()

    def __hash__(self) -> int:
        return hash((type(self), self._signature()))

    def __getstate__(self) -> dict[str, Any]:
        # Generated functions cannot be pickled; the next process compiles them again.
        return {name: value for name, value in self.__dict__.items() if name != "_converter"}
