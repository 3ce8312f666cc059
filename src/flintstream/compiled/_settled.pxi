# Tells which results may be emitted without a copy.

from cpython.bool cimport PyBool_Check
from cpython.bytes cimport PyBytes_CheckExact
from cpython.float cimport PyFloat_CheckExact
from cpython.long cimport PyLong_CheckExact
from cpython.set cimport PySet_Contains
from cpython.tuple cimport PyTuple_CheckExact, PyTuple_GET_ITEM, PyTuple_GET_SIZE
from cpython.unicode cimport PyUnicode_CheckExact

cdef extern from "Python.h":
    ctypedef struct PyTypeObject:
        pass
    PyTypeObject* Py_TYPE(object)


cdef bint _has_atoms(object result):
    """Tell whether all items of a tuple are numbers, strings or other atoms that never change."""
    cdef Py_ssize_t i
    for i in range(PyTuple_GET_SIZE(result)):
        item = <object>PyTuple_GET_ITEM(result, i)
        if not (
            PyLong_CheckExact(item) or PyUnicode_CheckExact(item) or PyFloat_CheckExact(item) or item is None
            or PyBool_Check(item) or PyBytes_CheckExact(item)
        ):
            return False
    return True


cdef class _Settled:
    """Tells which results need no copy. The class of the last one is remembered."""

    cdef object frozen, copied
    cdef PyTypeObject* last

    def __init__(self, frozen, copied):
        self.frozen, self.copied = frozen, copied

    cdef object of(self, object result):
        cdef PyTypeObject* kind = Py_TYPE(result)
        if kind == self.last or (PyTuple_CheckExact(result) and _has_atoms(result)):
            return result
        if PySet_Contains(self.frozen, <object>kind):
            self.last = kind
            return result
        return self.copied(result)
