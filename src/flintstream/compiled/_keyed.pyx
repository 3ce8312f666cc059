# cython: language_level=3, binding=False, boundscheck=False, wraparound=False
"""Keyed state in memory, and the loops that call a function for each record; see the package for what they replace."""

cimport cython
from cpython.dict cimport PyDict_SetDefault
from cpython.list cimport PyList_Append, PyList_GET_ITEM, PyList_GET_SIZE
from cpython.mem cimport PyMem_Free, PyMem_Realloc
from cpython.ref cimport Py_DECREF, Py_INCREF
from libc.stdint cimport INT64_MIN, int64_t

from flintstream.compiled._base cimport Scope, key_of

include "_shared.pxi"
include "_formulas.pxi"
include "_settled.pxi"

cdef extern from "Python.h":
    long long PyLong_AsLongLongAndOverflow(object, int*) except? -1


# -- timers ---------------------------------------------------------------------------------------------------------

include "_timers.pxi"


# -- calls -----------------------------------------------------------------------------------------------------------

cdef class Stamped:
    """A context with the timestamp of a record."""

    cdef public object _timestamp

    def timestamp(self):
        """Return the record's timestamp in ms, or Long.MIN_VALUE if it has none."""
        return self._timestamp


cdef class KeyedStamped(Stamped):
    """A context with the current key and a timer service."""

    cdef public object _state, _service

    def get_current_key(self):
        """Return the record's key."""
        key = key_of(self._state)
        return key if PyLong_CheckExact(key) or PyUnicode_CheckExact(key) else self._thawed(key)

    def timer_service(self):
        """Return the timer service."""
        return self._service


def call_each(call, Stamped ctx, Scope state, selector, Py_ssize_t field, cursor, list timestamps, frozen, copied,
              list results, list stamps):
    """Call a function with each record and its context, and gather copies of the results and their timestamps.

    With a ``selector``, the key of each record becomes the current key of ``state``.
    """
    cdef Py_ssize_t position = 0, stamped = 0 if timestamps is None else PyList_GET_SIZE(timestamps)
    cdef _Settled settled = _Settled(frozen, copied)
    cdef object timestamp = None
    for value in cursor:
        if timestamps is not None and position >= stamped:
            break
        if selector is not None:
            state.key = _key(selector, field, value)
        if timestamps is not None:
            timestamp = ctx._timestamp = <object>PyList_GET_ITEM(timestamps, position)
            position += 1
        produced = call(value, ctx)
        if produced is not None and produced:
            for result in produced:
                PyList_Append(results, settled.of(result))
                if timestamps is not None:
                    PyList_Append(stamps, timestamp)


def reduce_each(call, formula, Scope state, selector, Py_ssize_t field, cursor, running, dirty, bint tracking, frozen,
                copied, list results):
    """Reduce each record into the value of its key, and gather copies of the values."""
    cdef _Settled settled = _Settled(frozen, copied)
    cdef _Formula formed = _Formula(formula)
    for value in cursor:
        current = state.key = _key(selector, field, value)
        before = _get(running, current)
        after = value if before is None else _called(formed, call, before, value)
        if after is None:
            running.pop(current, None)
        else:
            running[current] = after
        if tracking:
            dirty[current] = 0
        PyList_Append(results, settled.of(after))


def look_ahead(list tables, list values, Py_ssize_t field):
    """Look up the keys of a block in large dicts, so that the caches have the entries when records come.

    Look-ups that follow each other closely wait for the memory at the same time, those of single records one after the
    other. Keys other than whole numbers and strings are left out, as comparing them may run a user's code.
    """
    cdef Py_ssize_t row
    cdef PyObject* found
    cdef Py_ssize_t seen = 0
    for table in tables:
        for row in range(PyList_GET_SIZE(values)):
            value = <object>PyList_GET_ITEM(values, row)
            if not PyTuple_CheckExact(value) or field >= PyTuple_GET_SIZE(value):
                continue
            key = <object>PyTuple_GET_ITEM(value, field)
            if PyLong_CheckExact(key) or PyUnicode_CheckExact(key):
                found = PyDict_GetItemWithError(<dict>table, key)
                if found != NULL:
                    seen += found.ob_refcnt
    return seen
