"""Types of columns whose values are objects of a program's class."""

from __future__ import annotations

from abc import abstractmethod
from typing import Generic, TypeVar

from flintstream.common._types.columns import DataType

__all__ = ["UserDefinedType"]

T = TypeVar("T")


class UserDefinedType(DataType, Generic[T]):
    """The type of objects of a class: which type of SQL holds one, and how.

    ``from_elements()`` takes the objects, and the table has the type of SQL. A class whose attribute ``__UDT__`` is a
    type needs no schema.

    >>> from flintstream.table import DataTypes
    >>> class Vector:
    ...     def __init__(self, *numbers):
    ...         self.numbers = numbers
    >>> class VectorType(UserDefinedType):
    ...     @classmethod
    ...     def sql_type(cls):
    ...         return DataTypes.ARRAY(DataTypes.DOUBLE())
    ...
    ...     def serialize(self, obj):
    ...         return list(obj.numbers)
    ...
    ...     def deserialize(self, datum):
    ...         return Vector(*datum)
    >>> kind = VectorType()
    >>> kind.to_sql_type(Vector(1.0, 2.0)), kind.from_sql_type([3.0]).numbers
    ([1.0, 2.0], (3.0,))
    >>> VectorType.type_name(), VectorType.sql_type(), kind.need_conversion()
    ('vectortype', ArrayType(DoubleType(true), true), True)
    >>> VectorType.module(), VectorType.java_udt(), kind == VectorType()
    ('', '', True)
    """

    @classmethod
    def type_name(cls) -> str:
        """Return the name of the class in lower case."""
        return cls.__name__.lower()

    @classmethod
    @abstractmethod
    def sql_type(cls) -> DataType:
        """Return the type of SQL that holds an object."""

    @classmethod
    def module(cls) -> str:
        """Return the module of the class, for tables of Java."""
        return ""

    @classmethod
    def java_udt(cls) -> str:
        """Return the class in Java, if there is one."""
        return ""

    @abstractmethod
    def serialize(self, obj: T) -> object:
        """Return an object as a value of SQL."""

    @abstractmethod
    def deserialize(self, datum: object) -> T:
        """Return the object that a value of SQL holds."""

    def need_conversion(self) -> bool:
        """Return True: objects are not values of SQL."""
        return True

    def to_sql_type(self, obj: T | None) -> object:
        """Return an object as a value of SQL; None stays."""
        return None if obj is None else self.serialize(obj)

    def from_sql_type(self, obj: object) -> T | None:
        """Return the object that a value of SQL holds; None stays."""
        return None if obj is None else self.deserialize(obj)
