"""Pointers to compiled plans; mirrors ``pyflink.table.plan_reference``."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path

from flintstream.table._compiled.contents import PlanFileError

__all__ = ["BytesContentPlanReference", "FilePlanReference", "JsonContentPlanReference", "PlanReference"]


class PlanReference(ABC):
    """Says where a compiled plan is: ``TableEnvironment.load_plan`` reads it.

    >>> PlanReference.from_file("plan.json") == PlanReference.from_file("plan.json")
    True
    >>> PlanReference.from_json_string("{}").get_content()
    '{}'
    """

    def __init__(self, place: str | bytes) -> None:
        """Keep a path or the content; programs call the methods below."""
        self._place = place

    def __str__(self) -> str:
        """Return the file or the content."""
        return f"Plan:\n{self._place!s}"

    def __hash__(self) -> int:
        """Return a hash of the place."""
        return hash((type(self), self._place))

    def __eq__(self, other: object) -> bool:
        """Return whether the other one has the same place."""
        return isinstance(other, PlanReference) and type(other) is type(self) and other._place == self._place

    @staticmethod
    def from_file(path: str | Path) -> FilePlanReference:
        """Return a reference to a file."""
        return FilePlanReference(str(path))

    @staticmethod
    def from_json_string(json_string: str) -> JsonContentPlanReference:
        """Return a reference to the JSON of a plan."""
        return JsonContentPlanReference(json_string)

    @staticmethod
    def from_smile_bytes(smile_bytes: bytes) -> BytesContentPlanReference:
        """Return a reference to the binary form of a plan.

        >>> PlanReference.from_smile_bytes(b"{}").get_content()
        b'{}'
        """
        return BytesContentPlanReference(smile_bytes)

    @abstractmethod
    def read_json(self) -> str:
        """Return the JSON of the plan.

        Raises:
            PlanFileError: It cannot be read.

        >>> PlanReference.from_json_string("{}").read_json()
        '{}'
        """


class FilePlanReference(PlanReference):
    """A reference to a file on this machine.

    >>> type(PlanReference.from_file("plan.json")).__name__
    'FilePlanReference'
    """

    _place: str

    def __str__(self) -> str:
        """Return the file."""
        return f"Plan from file '{self._place}'"

    def get_file(self) -> Path:
        """Return the path, without links and dots.

        >>> PlanReference.from_file("/tmp/../plan.json").get_file().name
        'plan.json'
        """
        return Path(self._place).resolve()

    def read_json(self) -> str:
        """Return what the file has."""
        try:
            return Path(self._place).read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise PlanFileError(f"Cannot load Plan from file '{self._place}': {error}") from error


class JsonContentPlanReference(PlanReference):
    """A reference to JSON.

    >>> PlanReference.from_json_string("{}").get_content()
    '{}'
    """

    _place: str

    def get_content(self) -> str:
        """Return the JSON.

        >>> PlanReference.from_json_string("{}").get_content()
        '{}'
        """
        return self._place

    def read_json(self) -> str:
        """Return the JSON."""
        return self._place


class BytesContentPlanReference(PlanReference):
    """A reference to the binary form.

    >>> type(PlanReference.from_smile_bytes(b"{}")).__name__
    'BytesContentPlanReference'
    """

    _place: bytes

    def get_content(self) -> bytes:
        """Return the bytes.

        >>> PlanReference.from_smile_bytes(b"{}").get_content()
        b'{}'
        """
        return self._place

    def read_json(self) -> str:
        """Return the bytes as text."""
        try:
            return self._place.decode()
        except UnicodeDecodeError as error:
            raise PlanFileError("the bytes of the compiled plan are not what as_smile_bytes() returns") from error
