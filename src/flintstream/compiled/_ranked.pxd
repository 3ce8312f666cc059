# The types of flintstream/compiled/ranked.py, with which it is compiled.

cimport cython

from flintstream.compiled._base cimport leave_alone, lookup, select


cdef object INSERT, UPDATE_BEFORE, UPDATE_AFTER, DELETE


@cython.locals(made=tuple, tail=tuple)
cdef tuple extend(tuple row, object first, object second)

@cython.locals(position=Py_ssize_t, row=tuple, old=tuple, key=object)
cpdef keep_last(
    object rows, list times, object selector, Py_ssize_t field, object values, dict dirty, Py_ssize_t time,
    object number, list results, list stamps,
)

cdef bint is_before(object one, object other) except -1

@cython.locals(index=Py_ssize_t, descending=bint, none_first=bint)
cdef bint precedes(tuple one, tuple other, list order) except -1

@cython.locals(low=Py_ssize_t, high=Py_ssize_t, middle=Py_ssize_t)
cdef Py_ssize_t place_of(list rows, tuple row, list order, bint newest) except -1

cdef tuple result(tuple row, object number, object kind, bint changes)

@cython.locals(
    position=Py_ssize_t, size=Py_ssize_t, place=Py_ssize_t, row=tuple, old=list, new=list,
)
cpdef keep_first(
    object rows, list times, object selector, Py_ssize_t field, object values, dict dirty, list order, bint newest,
    Py_ssize_t start, Py_ssize_t end, bint numbered, bint changes, list results, list stamps,
)

@cython.locals(size=Py_ssize_t, now=Py_ssize_t, i=Py_ssize_t, one=tuple, other=tuple)
cdef change_numbers(
    list old, list new, Py_ssize_t place, Py_ssize_t start, Py_ssize_t end, bint changes, list results,
)

@cython.locals(size=Py_ssize_t, came=bint, single=bint)
cdef change_members(
    list old, list new, Py_ssize_t place, Py_ssize_t start, Py_ssize_t end, bint changes, list results,
)
