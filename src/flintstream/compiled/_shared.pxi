# Helpers of several modules, which include this file.

from cpython.dict cimport PyDict_CheckExact, PyDict_GetItemWithError
from cpython.object cimport PyObject
from cpython.tuple cimport PyTuple_CheckExact, PyTuple_GET_ITEM, PyTuple_GET_SIZE


cdef inline object _key(object selector, Py_ssize_t field, object value):
    """Return the key of a record: the field with this number of a tuple, else what the selector returns."""
    if field >= 0 and PyTuple_CheckExact(value) and field < PyTuple_GET_SIZE(value):
        return <object>PyTuple_GET_ITEM(value, field)
    return selector(value)


cdef inline object _get(object values, object key):
    """Return what a dict has for a key, or None."""
    cdef PyObject* found
    if not PyDict_CheckExact(values):
        return values.get(key)
    found = PyDict_GetItemWithError(values, key)
    return None if found == NULL else <object>found
