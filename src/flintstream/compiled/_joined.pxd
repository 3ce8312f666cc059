# The types of flintstream/compiled/joined.py, with which it is compiled.

cimport cython

from flintstream.compiled._base cimport leave_alone, lookup, select
from flintstream.compiled._state cimport note


@cython.locals(
    position=Py_ssize_t, count=Py_ssize_t, partners=Py_ssize_t, entry=tuple, known=tuple,
    pair=tuple, other=tuple, row=object, place=object, found=tuple, own=dict,
)
cpdef join_each(
    object rows, list times, object selector, Py_ssize_t field, bint several, object mine, object others,
    dict noted, object holds, bint first, object freeze, list results, list stamps,
)
