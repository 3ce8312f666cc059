"""Emitted records do not change when the function changes the object later."""

from __future__ import annotations

from flintstream.common import Row
from flintstream.common.types import RowKind
from flintstream.runtime.copies import copy_mutable


def test_a_row_is_copied_with_what_can_change_in_it():
    row = Row(n=1, words=["a"], inner=Row("x"))
    row.set_row_kind(RowKind.DELETE)
    copy = copy_mutable(row)
    row["n"] = 2
    row["words"].append("b")
    row["inner"][0] = "y"
    assert copy == Row.of_kind(RowKind.DELETE, n=1, words=["a"], inner=Row("x"))
