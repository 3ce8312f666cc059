# The forms in C of what flintstream/compiled/base.py has.

from cpython.dict cimport PyDict_CheckExact, PyDict_GetItemWithError
from cpython.bool cimport PyBool_Check
from cpython.bytes cimport PyBytes_CheckExact
from cpython.float cimport PyFloat_CheckExact
from cpython.long cimport PyLong_CheckExact
from cpython.object cimport PyObject
from cpython.set cimport PySet_Contains
from cpython.tuple cimport PyTuple_CheckExact, PyTuple_GET_ITEM, PyTuple_GET_SIZE
from cpython.unicode cimport PyUnicode_CheckExact
from libc.stdint cimport int64_t

cdef extern from "Python.h":
    long long PyLong_AsLongLongAndOverflow(object, int*) except? -1
    ctypedef struct PyTypeObject:
        pass
    PyTypeObject* Py_TYPE(object)
    bint PyObject_GC_IsTracked(object)
    void PyObject_GC_UnTrack(void*)


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


cdef inline object lookup_or(object values, object key, object absent):
    cdef PyObject* found
    if not PyDict_CheckExact(values):
        return values.get(key, absent)
    found = PyDict_GetItemWithError(values, key)
    return absent if found == NULL else <object>found


cdef inline int leave_alone(tuple made, object first, object second):
    if not PyObject_GC_IsTracked(first) and not PyObject_GC_IsTracked(second):
        PyObject_GC_UnTrack(<void*>made)
    return 0


cdef inline int set_key(object scope, object key) except -1:
    if is_plain_scope(scope):
        (<Scope>scope).key = key
    else:
        scope.key = key
    return 0


cdef inline object select(object selector, Py_ssize_t field, object value):
    """Return the key of a record: the field with this number of a tuple, else what the selector returns."""
    if field >= 0 and PyTuple_CheckExact(value) and field < PyTuple_GET_SIZE(value):
        return <object>PyTuple_GET_ITEM(value, field)
    return selector(value)


cdef class Settled:
    cdef object frozen, copied
    cdef PyTypeObject* last


cdef inline bint has_atoms(object result, object frozen) except -1:
    """Tell whether all items of a tuple are numbers, strings, or of other classes whose objects never change."""
    cdef Py_ssize_t i
    for i in range(PyTuple_GET_SIZE(result)):
        item = <object>PyTuple_GET_ITEM(result, i)
        if not (
            PyLong_CheckExact(item) or PyUnicode_CheckExact(item) or PyFloat_CheckExact(item) or item is None
            or PyBool_Check(item) or PyBytes_CheckExact(item)
            or (frozen is not None and PySet_Contains(frozen, <object>Py_TYPE(item)))
        ):
            return False
    return True


cdef inline object settle(Settled settled, object result):
    cdef PyTypeObject* kind = Py_TYPE(result)
    if kind == settled.last or (PyTuple_CheckExact(result) and has_atoms(result, settled.frozen)):
        return result
    if PySet_Contains(settled.frozen, <object>kind):
        settled.last = kind
        return result
    return settled.copied(result)


cdef inline bint is_long(object number) except -1:
    cdef int overflow = 0
    if not PyLong_CheckExact(number):
        return False
    PyLong_AsLongLongAndOverflow(number, &overflow)
    return not overflow


cdef enum:
    MOST_TERMS = 16

cdef struct Part:
    int argument
    bint whole
    Py_ssize_t field
    PyObject* constant


cdef class Formula:
    cdef object source
    cdef int terms
    cdef bint is_tuple
    cdef Part left[MOST_TERMS]
    cdef Part right[MOST_TERMS]
    cdef bint adds[MOST_TERMS]


cdef object apply_binary(Formula formula, object call, object first, object second)
cdef object apply_unary(Formula formula, object call, object record)


cdef struct Waiting:
    int64_t time
    int64_t number
    PyObject* timer


cdef class Heap:
    cdef Waiting* entries
    cdef readonly Py_ssize_t size
    cdef Py_ssize_t room

    cdef int push(self, int64_t number, tuple timer) except -1
    cdef bint is_due(self, int64_t limit)
    cdef int64_t first_number(self)
    cdef tuple first(self)
    cdef tuple pop(self)


cdef enum:  # of blocks as columns, see flintstream/runtime/exchange/columns.py
    MAGIC = 0xC1
    HEAD = 16
    MOST_FIELDS = 64
    SCALARS = 0
    TUPLES = 1
    LISTS = 2
