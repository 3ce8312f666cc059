"""What a gateway says of errors: the message of each names what was wrong, in the form that Flink's clients read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.errors import FlintstreamError, message_of
from flintstream.table._errors import SqlError, UnsupportedClauseError

if TYPE_CHECKING:
    from typing_extensions import Self

_GATEWAY = "org.apache.flink.table.gateway.api.utils.SqlGatewayException"
_API = "org.apache.flink.table.api"


class GatewayError(FlintstreamError):
    """A session, an operation or a page of results is not there, or not in the right state."""


class Caught:
    """Keeps the exception of its block: functions of a program may raise anything.

    >>> with Caught() as caught:
    ...     int("x")
    >>> type(caught.error).__name__
    'ValueError'
    """

    error: BaseException | None = None

    def __enter__(self) -> Self:
        """Begin."""
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        """Keep the exception, unless it ends the process."""
        self.error = error
        return isinstance(error, Exception)


def error_texts(what: str, error: BaseException) -> tuple[str, ...]:
    """Return the texts that Flink's gateway sends: clients show what follows the last ``Caused by``.

    >>> error_texts("fetchResults", GatewayError("no such page"))[1].splitlines()[2]
    'Caused by: org.apache.flink.table.gateway.api.utils.SqlGatewayException: no such page'
    """
    lines = [
        "<Exception on server side:",
        f"{_GATEWAY}: Failed to {what}.",
        f"Caused by: {java_text(error)}",
        "\tat flintstream(Unknown Source)",  # clients read up to the first frame
        "",
        "End of exception on server side>",
    ]
    return "Internal server error.", "\n".join(lines)


def java_text(error: BaseException) -> str:
    """Return the class and the message of an error: Flink's class for a wrong statement, else that of Python.

    >>> java_text(ValueError("no price"))
    'ValueError: no price'
    """
    name = type(error).__name__
    if isinstance(error, SqlError):
        name = f"{_API}.ValidationException"
    elif isinstance(error, UnsupportedClauseError):
        name = f"{_API}.TableException"
    elif isinstance(error, GatewayError):
        name = _GATEWAY
    return f"{name}: {message_of(error)}"
