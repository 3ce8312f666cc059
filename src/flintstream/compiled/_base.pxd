# The forms in C of what flintstream/compiled/base.py has.

from cpython.dict cimport PyDict_CheckExact, PyDict_GetItemWithError
from cpython.object cimport PyObject
from libc.stdint cimport int64_t


cdef class WallClock:
    cdef object substitute, found, latest
    cdef int64_t ms


cdef object now(object clock)
cdef int64_t now_ms(object clock) except? -1


cdef class Scope:
    cdef public object key
    cdef public bint tracking
    cdef bint plain


cdef inline bint is_plain_scope(object scope):
    return isinstance(scope, Scope) and (<Scope>scope).plain


cdef inline object key_of(object scope):
    return (<Scope>scope).key if is_plain_scope(scope) else scope.key


cdef inline bint tracks(object backend) except -1:
    return (<Scope>backend).tracking if is_plain_scope(backend) else backend.tracking


cdef inline object lookup(object values, object key):
    cdef PyObject* found
    if not PyDict_CheckExact(values):
        return values.get(key)
    found = PyDict_GetItemWithError(values, key)
    return None if found == NULL else <object>found
