"""PyFlink's equivalents of Java exceptions (``pyflink.util.exceptions``), for programs that catch them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flintstream.common._java_exceptions import (
    CatalogException,
    DatabaseAlreadyExistException,
    DatabaseNotEmptyException,
    DatabaseNotExistException,
    FunctionAlreadyExistException,
    FunctionNotExistException,
    JavaException,
    ModelAlreadyExistException,
    ModelNotExistException,
    PartitionAlreadyExistsException,
    PartitionNotExistException,
    PartitionSpecInvalidException,
    TableAlreadyExistException,
    TableException,
    TableNotExistException,
    TableNotPartitionedException,
)

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "CatalogException",
    "DatabaseAlreadyExistException",
    "DatabaseNotEmptyException",
    "DatabaseNotExistException",
    "FunctionAlreadyExistException",
    "FunctionNotExistException",
    "JavaException",
    "ModelAlreadyExistException",
    "ModelNotExistException",
    "PartitionAlreadyExistsException",
    "PartitionNotExistException",
    "PartitionSpecInvalidException",
    "TableAlreadyExistException",
    "TableException",
    "TableNotExistException",
    "TableNotPartitionedException",
    "capture_java_exception",
    "convert_py4j_exception",
    "exception_mapping",
    "install_exception_handler",
    "install_py4j_hooks",
]

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
