"""Kinds of results; mirrors ``pyflink.table.result_kind``."""

from __future__ import annotations

from enum import Enum

__all__ = ["ResultKind"]


class ResultKind(Enum):
    """Whether a result has rows.

    >>> ResultKind.SUCCESS
    <ResultKind.SUCCESS: 0>
    """

    SUCCESS = 0
    SUCCESS_WITH_CONTENT = 1
