"""``pyflink.fn_execution.state_impl``: a class of PyFlink's worker that a test names in an annotation."""

from __future__ import annotations


class RemovableConcatIterator:
    """Iterates over a view of a map."""
