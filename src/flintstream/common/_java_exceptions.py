"""The errors of catalogs, by the names that programs catch them with; ``pyflink.util.exceptions`` exports them."""

from __future__ import annotations

from flintstream.errors import FlintstreamError

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
]


class JavaException(FlintstreamError):
    """What is an exception of Java in PyFlink."""

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


class ModelAlreadyExistException(JavaException):
    """The model already exists."""


class ModelNotExistException(JavaException):
    """The model does not exist."""


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
