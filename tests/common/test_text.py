"""The text of typed tuples, with and without the short cut."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from flintstream.common import Types

LONG_AND_STRING = Types.TUPLE([Types.LONG(), Types.STRING()])


@given(st.tuples(st.integers(), st.none() | st.text()))
def test_a_tuple_is_the_texts_of_its_fields(value):
    fields = [kind.stringify(part) for kind, part in zip((Types.LONG(), Types.STRING()), value, strict=True)]
    assert LONG_AND_STRING.stringify(value) == f"({','.join(fields)})"


def test_fields_whose_text_is_not_pythons_are_written_as_java_does():
    assert Types.TUPLE([Types.DOUBLE(), Types.BOOLEAN()]).stringify((1e10, True)) == "(1.0E10,true)"
    assert Types.TUPLE([LONG_AND_STRING, Types.INT()]).stringify(((1, None), 3)) == "((1,null),3)"
