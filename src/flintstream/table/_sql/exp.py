"""The classes of sqlglot's trees, which are loaded when the first statement comes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.errors import optional_module

if TYPE_CHECKING:
    from sqlglot.expressions import *  # noqa: F403 - all that a statement consists of
else:

    def __getattr__(name: str) -> object:
        found = globals()[name] = getattr(optional_module("sqlglot.expressions", extra="table", purpose="SQL"), name)
        return found
