# cython: language_level=3, binding=False, boundscheck=False, wraparound=False
"""Keyed state in memory, and the loops that call a function for each record; see the package for what they replace."""

cimport cython
from cpython.dict cimport PyDict_SetDefault
from cpython.list cimport PyList_Append, PyList_GET_ITEM, PyList_GET_SIZE
from cpython.mem cimport PyMem_Free, PyMem_Realloc
from cpython.object cimport Py_EQ, PyObject_RichCompareBool
from cpython.ref cimport Py_DECREF, Py_INCREF
from libc.stdint cimport INT64_MIN, int64_t
from libc.time cimport time_t

include "_shared.pxi"
include "_formulas.pxi"
include "_settled.pxi"

cdef extern from "Python.h":
    long long PyLong_AsLongLongAndOverflow(object, int*) except? -1
    int PyContextVar_Get(object, PyObject*, PyObject**) except -1

cdef extern from "<time.h>" nogil:
    struct timespec:
        time_t tv_sec
        long tv_nsec
    int clock_gettime(int, timespec*)
    int CLOCK_REALTIME


# -- time ------------------------------------------------------------------------------------------------------------

cdef class WallClock:
    """The time in ms since the epoch, or what the function in a context variable returns."""

    cdef object substitute, found, latest
    cdef int64_t ms

    def __init__(self, substitute, found):
        """Ask the variable ``substitute``; ``found()`` returns this object, also in another process."""
        self.substitute, self.found, self.latest, self.ms = substitute, found, 0, 0

    def __reduce__(self):
        return self.found, ()

    def __call__(self):
        return _now(self)


cdef inline object _substitute(WallClock clock):
    cdef PyObject* variable = NULL
    PyContextVar_Get(clock.substitute, NULL, &variable)
    if variable == NULL:
        return None
    substitute = <object>variable
    Py_DECREF(substitute)
    return substitute


cdef inline int64_t _wall_ms() noexcept:
    cdef timespec time
    clock_gettime(CLOCK_REALTIME, &time)
    return <int64_t>time.tv_sec * 1000 + time.tv_nsec // 1000000


cdef object _now(object clock):
    cdef int64_t ms
    if type(clock) is not WallClock:
        return clock()
    own = <WallClock>clock
    substitute = _substitute(own)
    if substitute is not None:
        return substitute()
    ms = _wall_ms()
    if ms != own.ms:  # else values of the same time share its number
        own.ms, own.latest = ms, ms
    return own.latest


cdef int64_t _now_ms(object clock) except? -1:
    if type(clock) is not WallClock:
        return clock()
    substitute = _substitute(<WallClock>clock)
    return _wall_ms() if substitute is None else substitute()


# -- state and timers ------------------------------------------------------------------------------------------------

cdef class Scope:
    """The key that state objects use."""

    cdef public object key
    cdef public bint tracking
    cdef bint plain

    def __cinit__(self):
        cls = type(self)  # a subclass may have properties of these names, which only Python's access finds
        self.plain = cls is Scope or (
            cls.key is Scope.key and cls.tracking is Scope.tracking
            and cls.__setattr__ is object.__setattr__ and cls.__getattribute__ is object.__getattribute__
        )


cdef inline bint _is_plain(object scope):
    return isinstance(scope, Scope) and (<Scope>scope).plain


def is_plain(scope):
    """Tell whether compiled code may access the attributes of a scope without asking its class."""
    return _is_plain(scope)


cdef inline object _key_of(object scope):
    return (<Scope>scope).key if _is_plain(scope) else scope.key


include "_state.pxi"
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
        key = _key_of(self._state)
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
