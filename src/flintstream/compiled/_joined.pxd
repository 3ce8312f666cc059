# The types of flintstream/compiled/joined.py, with which it is compiled.

cimport cython

from flintstream.compiled._base cimport lookup, select


@cython.locals(
    position=Py_ssize_t, count=Py_ssize_t, partners=Py_ssize_t, entry=tuple, known=tuple,
    pair=tuple, other=tuple, row=object, place=object,
)
cpdef join_each(
    object rows, list times, object selector, Py_ssize_t field, bint several, object mine, object others,
    object dirty, object holds, bint first, object freeze, list results, list stamps,
)
