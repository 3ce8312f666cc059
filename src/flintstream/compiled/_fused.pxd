# The types of flintstream/compiled/fused.py, with which it is compiled.

cimport cython

from flintstream.compiled._base cimport Formula, Settled, apply_unary, settle

cdef int MAP, FILTER, FLAT_MAP


cdef class FusedLoop:
    cdef readonly int stage
    cdef readonly object record
    cdef int size
    cdef Py_ssize_t received[16]
    cdef int kinds[16]
    cdef list settled, calls, formulas, results

    @cython.locals(position=Py_ssize_t)
    cpdef run(self, object cursor, list timestamps, list calls, list formulas, list results, list stamps)
    @cython.locals(kind=int, ends=bint, settled=Settled)
    cdef int pass_on(self, int stage, object record) except -1
