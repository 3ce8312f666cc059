"""Errors for messages and values that do not fit their schema."""

from __future__ import annotations

from flintstream.errors import FlintstreamError, shorten


class FormatError(FlintstreamError, ValueError):
    """A message cannot be read, or a value cannot be written.

    The message names the schema, the field if there is one, and the beginning of the input.

    >>> error = ValueError("no JSON")
    >>> FormatError.reading("JsonRowDeserializationSchema", b"{be", error)
    FormatError("JsonRowDeserializationSchema cannot read b'{be': ValueError: no JSON")
    >>> FormatError.writing("JsonRowSerializationSchema", {"be"}, error)
    FormatError("JsonRowSerializationSchema cannot write {'be'}: ValueError: no JSON")
    """

    @classmethod
    def reading(cls, schema: str, message: bytes, error: Exception) -> FormatError:
        """Return the error for a message."""
        return cls(f"{schema} cannot read {shorten(message)}: {reason(error)}")

    @classmethod
    def writing(cls, schema: str, value: object, error: Exception) -> FormatError:
        """Return the error for a value."""
        return cls(f"{schema} cannot write {shorten(value)}: {reason(error)}")


class Misfit(ValueError):  # noqa: N818 - it becomes a FormatError
    """A part of a message does not fit its type; ``path`` names the part."""

    def __init__(self, text: str, path: str = "") -> None:
        super().__init__(text)
        self.text = text
        self.path = path

    def within(self, part: str) -> Misfit:
        """Return the same error as seen one level further out."""
        between = "." if self.path and not self.path.startswith("[") else ""
        return Misfit(self.text, f"{part}{between}{self.path}")

    def __str__(self) -> str:
        return f"field '{self.path}': {self.text}" if self.path else self.text


def reason(error: Exception) -> str:
    """Return an error's text for users, with the class of the error unless it is internal."""
    return str(error) if isinstance(error, Misfit) and str(error) else f"{type(error).__name__}: {error}"
