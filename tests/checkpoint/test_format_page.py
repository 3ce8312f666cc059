"""The page on the format uses the same names as the code."""

from __future__ import annotations

import re
import sys
from dataclasses import fields
from pathlib import Path

import pytest

from flintstream.checkpoint import codec, state_file, values
from flintstream.checkpoint.metadata import KEYS_IN_FILE, Metadata, NativeFile, OperatorInfo, StatePiece
from flintstream.checkpoint.registry import BY_TAG, BY_TYPE
from flintstream.savepoint import records

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "state-format.md").read_text(encoding="utf-8")


def is_in_a_module(kind):
    """Tell whether a type is one of the package or of a library, and not of a test or of an example on a page."""
    if kind.__module__.startswith(("tests.", "flintstream.runtime")):
        return False
    return getattr(sys.modules.get(kind.__module__), kind.__qualname__.partition(".")[0], None) is not None


def test_every_tag_of_a_type_that_is_always_there_is_described():
    table = PAGE.split("| tag | content |")[1].split("\n\n")[0]
    described = {
        tag for line in table.splitlines() for tag in re.findall(r"`(\w+)`", line.split("|")[1:2][0] if line else "")
    }
    assert records.MODULES
    always = {e.tag for kind, e in BY_TYPE.items() if is_in_a_module(kind)}
    always |= BY_TAG.keys() - {e.tag for e in BY_TYPE.values()}
    assert described == always


def test_codes_and_forms_are_what_the_page_says():
    codes = [values.TUPLE, values.SET, values.FROZENSET, values.PAIRS, values.BIG_INT, values.BYTEARRAY]
    assert [*codes, values.TAGGED, values.ENUM, values.PICKLED] == list(range(1, 10))
    forms = [codec.PLAIN, codec.SAME, codec.TUPLES, codec.LISTS, codec.EXTENSION, codec.MIXED, codec.OPTIONAL]
    assert forms == list(range(7))
    for code in (*range(1, 10), *range(7)):
        assert f"\n| {code} |" in PAGE


def test_every_version_of_state_files_is_described():
    assert f"## State files (versions {' and '.join(map(str, state_file.VERSIONS))})" in PAGE


@pytest.mark.parametrize("kind", [Metadata, OperatorInfo, StatePiece, NativeFile])
def test_every_member_of_the_metadata_is_described(kind):
    text = PAGE.split("## `_metadata`")[1]
    keys = [KEYS_IN_FILE.get(field.name, field.name) for field in fields(kind)]
    assert [key for key in keys if f"`{key}`" not in text] == []
