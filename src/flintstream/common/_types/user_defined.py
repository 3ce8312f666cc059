"""Types of columns whose values are objects of a program's class."""

from __future__ import annotations

from abc import abstractmethod
from typing import Generic, TypeVar, cast

from flintstream.common._types.columns import ArrayType, DataType, MapType, RowField, RowType

__all__ = ["UserDefinedType", "sql_type_of"]

T = TypeVar("T")
K = TypeVar("K", bound=DataType)


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


def sql_type_of(kind: K) -> K:
    """Return a type with those of SQL for the classes of the program.

    >>> from flintstream.table import DataTypes
    >>> sql_type_of(DataTypes.ROW([DataTypes.FIELD("n", DataTypes.INT())]))
    RowType(RowField(n, IntType(true), ...))
    """
    found: DataType = kind
    if isinstance(kind, UserDefinedType):
        found = kind.sql_type()
    elif isinstance(kind, RowType):
        fields = [RowField(field.name, sql_type_of(field.data_type), field.description) for field in kind.fields]
        found = RowType(fields, kind._nullable)
    elif isinstance(kind, ArrayType):
        found = ArrayType(sql_type_of(kind.element_type), kind._nullable)
    elif isinstance(kind, MapType):
        found = MapType(sql_type_of(kind.key_type), sql_type_of(kind.value_type), kind._nullable)
    return cast("K", found)
