"""Lines of workers on their way to the driver."""

from __future__ import annotations

import pytest

from flintstream.engine.spark.worker_lines import _MARK, CONTINUES, LONGEST_LINE, LinesInPieces


def shown(*pieces: bytes) -> bytes:
    lines = LinesInPieces()
    return b"".join(lines.feed(piece)[0] for piece in pieces)


def test_pieces_become_lines():
    assert shown(b"a", b"b\nc", b"\n", b"\nd") == b"ab\nc\n\n"


@pytest.mark.promise("S39")
@pytest.mark.parametrize("character", ["x", "\u00e9", "\u20ac", "\U0001f600"])
def test_a_line_without_end_is_shown_in_pieces_of_whole_characters(character):
    text = (character * (3 * LONGEST_LINE)).encode()
    pieces = [text[i : i + 4097] for i in range(0, len(text), 4097)]
    found = shown(*pieces, b"\nnext\n")
    lines = found.split(b"\n")
    assert found.replace(CONTINUES, b"") == text + b"\nnext\n"
    assert max(map(len, lines)) <= LONGEST_LINE + 4097 + len(CONTINUES)
    for line in lines:
        line.decode()


def test_a_line_that_has_an_end_in_time_is_whole():
    line = b"x" * LONGEST_LINE + b"\n"
    assert shown(line[:-1], b"\n") == line


def test_a_mark_after_a_long_line_is_found_although_it_comes_in_two_pieces():
    lines = LinesInPieces()
    mark = _MARK + b"7\n"
    first, none = lines.feed(b"x" * (LONGEST_LINE + 1) + mark[:5])
    rest, marks = lines.feed(mark[5:])
    assert (first, none, rest, marks) == (b"x" * (LONGEST_LINE + 1) + CONTINUES, [], b"", [b"7"])
