"""PyFlink's equivalents of Java exceptions (``pyflink.util.exceptions``), for programs that catch them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


class JavaException(Exception):  # noqa: N818 - PyFlink's name
    """A Java exception."""

    def __init__(self, stack_trace: str) -> None:
        """Keep its text."""
        super().__init__(stack_trace)
        self.stack_trace = stack_trace

    def __str__(self) -> str:
        return self.stack_trace


class TableException(JavaException):
    """A table operation failed."""


class CatalogException(JavaException):
    """A catalog operation failed."""


class DatabaseAlreadyExistException(JavaException):
    """The database already exists."""


class DatabaseNotEmptyException(JavaException):
    """The database to drop contains tables."""


class DatabaseNotExistException(JavaException):
    """The database does not exist."""


class FunctionAlreadyExistException(JavaException):
    """The function already exists."""


class FunctionNotExistException(JavaException):
    """The function does not exist."""


class PartitionAlreadyExistsException(JavaException):
    """The partition already exists."""


class PartitionNotExistException(JavaException):
    """The partition does not exist."""


class PartitionSpecInvalidException(JavaException):
    """The partition keys do not match those of the table."""


class TableAlreadyExistException(JavaException):
    """The table already exists."""


class TableNotExistException(JavaException):
    """The table does not exist."""


class TableNotPartitionedException(JavaException):
    """The table is not partitioned."""


class ModelAlreadyExistException(JavaException):
    """The model already exists."""


class ModelNotExistException(JavaException):
    """The model does not exist."""


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
"""Java exception -> Python class."""


def convert_py4j_exception(e: Any) -> JavaException:
    """Return the Python exception for a Java exception."""
    text = str(e).partition(": ")[2]
    named = str(e.java_exception.toString())
    kinds = [kind for name, kind in exception_mapping.items() if named.startswith(name)]
    return (kinds[0] if kinds else JavaException)(text)


def capture_java_exception(f: Callable[..., Any]) -> Callable[..., Any]:
    """Return ``f`` unchanged: it never calls Java."""
    return f


def install_exception_handler() -> None:
    """Do nothing: there are no Java exceptions to convert."""


def install_py4j_hooks() -> None:
    """Do nothing: there is no gateway."""
