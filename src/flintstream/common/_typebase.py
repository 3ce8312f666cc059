"""What all types have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from flintstream.common._conversion import Inline
from flintstream.common._generic import Generic, T_co
from flintstream.errors import UnsupportedByDesignError

if TYPE_CHECKING:
    from flintstream.common._conversion import Converter, Scope


class TypeInformation(ABC, Generic[T_co]):
    """The type of the records of a stream, of a key or of a state; ``TypeInformation[int]`` has values of ``int``."""

    _converter: Converter | None

    @abstractmethod
    def _signature(self) -> tuple[object, ...]:
        """What makes two types of one class equal."""

    @abstractmethod
    def __repr__(self) -> str: ...

    def _convert(self, value: Any) -> Any:
        """Convert any value, or raise; the slow way that :meth:`converter` falls back to."""
        return value

    def _inline(self, scope: Scope) -> Inline:
        """How to convert a value of this type inside another one."""
        return Inline.call(scope, self.converter())

    def _compile(self) -> Converter | None:
        return self._convert

    def converter(self) -> Converter | None:
        """Return the function that gives a value the form it has after crossing a serializer of this type.

        The function returns the value itself where nothing changes. It narrows what the type narrows (32-bit floats,
        times to the millisecond, 2.7 to 2), makes a ``Row`` with the type's field names of whatever a ``ROW`` accepts,
        and raises ``OverflowError`` for a number out of range and ``TypeError`` for everything else that does not fit.
        None instead of a function means that any value is right. Compiled once per type object.

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
        """Return the text that Java's ``toString`` and the file sink give: ``(hi,4)``, ``+I[be, 2]``, ``1.0E10``."""
        return "null" if value is None else str(value)

    def is_plain_text(self) -> bool:
        """Return whether :meth:`stringify` is ``str`` for every value but None."""
        return False

    def to_text(self, value: Any) -> str:
        """Return the text the print sink shows.

        It is that of :meth:`stringify`, except that Python writes the fields of a row: ``+I[a,None]``.
        """
        return self.stringify(value)

    def need_conversion(self) -> bool:
        """Return whether PyFlink keeps values of this type in another form internally."""
        return False

    def to_internal_type(self, obj: Any) -> Any:
        """Return ``obj`` as the engine holds it: converted by :meth:`converter`, None unchanged."""
        converter = self.converter()
        return obj if obj is None or converter is None else converter(obj)

    def from_internal_type(self, obj: Any) -> Any:
        """Return what a user function sees of the engine's ``obj``: the same object."""
        return obj

    def get_java_type_info(self) -> Any:
        """Raise: there is no JVM behind a type.

        Raises:
            UnsupportedByDesignError: always.
        """
        raise UnsupportedByDesignError(f"{self} has no Java counterpart: types are pure Python here")

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if type(other) is not type(self):
            return NotImplemented
        return self._signature() == other._signature()

    def __hash__(self) -> int:
        return hash((type(self), self._signature()))

    def __getstate__(self) -> dict[str, Any]:
        # generated functions cannot be pickled, and need not be
        return {name: value for name, value in self.__dict__.items() if name != "_converter"}
