"""Exceptions that PyFlink makes of Java's (``pyflink.util.exceptions``), for programs that catch them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


class JavaException(Exception):  # noqa: N818 - PyFlink's name
    """An exception of Java."""

    def __init__(self, stack_trace: str) -> None:
        """Keep the text of it."""
        super().__init__(stack_trace)
        self.stack_trace = stack_trace

    def __str__(self) -> str:
        return self.stack_trace


class TableException(JavaException):
    """Something is wrong with a table."""


class CatalogException(JavaException):
    """Something is wrong with a catalog."""


class DatabaseAlreadyExistException(JavaException):
    """A database of that name is there already."""


class DatabaseNotEmptyException(JavaException):
    """A database that is to be dropped has tables."""


class DatabaseNotExistException(JavaException):
    """There is no such database."""


class FunctionAlreadyExistException(JavaException):
    """A function of that name is there already."""


class FunctionNotExistException(JavaException):
    """There is no such function."""


class PartitionAlreadyExistsException(JavaException):
    """The partition is there already."""


class PartitionNotExistException(JavaException):
    """There is no such partition."""


class PartitionSpecInvalidException(JavaException):
    """The keys of a partition are not those of its table."""


class TableAlreadyExistException(JavaException):
    """A table of that name is there already."""


class TableNotExistException(JavaException):
    """There is no such table."""


class TableNotPartitionedException(JavaException):
    """The table has no partitions."""


class ModelAlreadyExistException(JavaException):
    """A model of that name is there already."""


class ModelNotExistException(JavaException):
    """There is no such model."""


_CATALOG = (
    CatalogException,
    DatabaseAlreadyExistException,
    DatabaseNotEmptyException,
    DatabaseNotExistException,
    FunctionAlreadyExistException,
    FunctionNotExistException,
    ModelAlreadyExistException,
    ModelNotExistException,
    PartitionAlreadyExistsException,
    PartitionNotExistException,
    PartitionSpecInvalidException,
    TableAlreadyExistException,
    TableNotExistException,
    TableNotPartitionedException,
)

exception_mapping: dict[str, type[JavaException]] = {"org.apache.flink.table.api.TableException": TableException} | {
    f"org.apache.flink.table.catalog.exceptions.{kind.__name__}": kind for kind in _CATALOG
}
"""The class for each of Java's."""


def convert_py4j_exception(e: Any) -> JavaException:
    """Return the exception that stands for one of Java's."""
    text = str(e).partition(": ")[2]
    named = str(e.java_exception.toString())
    kinds = [kind for name, kind in exception_mapping.items() if named.startswith(name)]
    return (kinds[0] if kinds else JavaException)(text)


def capture_java_exception(f: Callable[..., Any]) -> Callable[..., Any]:
    """Return ``f`` itself, as it reaches no Java."""
    return f


def install_exception_handler() -> None:
    """Do nothing: there are no exceptions of Java to convert."""


def install_py4j_hooks() -> None:
    """Do nothing: there is no gateway."""
