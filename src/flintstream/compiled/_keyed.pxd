# The types of flintstream/compiled/keyed.py, with which it is compiled.

cimport cython
from libc.stdint cimport int64_t

from flintstream.compiled._base cimport (
    Formula, Heap, Scope, Settled, apply_binary, is_long, key_of, lookup, select, set_key, settle,
)

cdef Py_ssize_t FEW


cdef class TimerQueue:
    cdef readonly dict registered
    cdef readonly set removed
    cdef public bint closing
    cdef object whole_time
    cdef int64_t last, marked
    cdef readonly Py_ssize_t fresh
    cdef Heap heap

    cpdef register(self, object timestamp, object key, object namespace=*)
    @cython.locals(number=object, timer=tuple)
    cpdef add(self, object timestamp, object key, object namespace=*)
    @cython.locals(heap=Heap)
    cpdef delete(self, object timestamp, object key, object namespace=*)
    cdef note_gone(self, object timer, int64_t number)
    @cython.locals(known=object, found=int64_t)
    cdef bint has(self, tuple timer, int64_t number) except -1


cdef class TimerAccess:
    cdef public object _state, _timers
    cdef TimerQueue event, processing


cdef class Stamped:
    cdef public object _timestamp


cdef class KeyedStamped(Stamped):
    cdef public object _state, _service


@cython.locals(position=Py_ssize_t, stamped=Py_ssize_t, settled=Settled, timestamp=object)
cpdef call_each(
    object call, Stamped ctx, object state, object selector, Py_ssize_t field, object cursor, list timestamps,
    object frozen, object copied, list results, list stamps,
)


@cython.locals(settled=Settled, formed=Formula)
cpdef reduce_each(
    object call, object formula, object state, object selector, Py_ssize_t field, object cursor, object running,
    object dirty, bint tracking, object frozen, object copied, list results,
)
