# cython: language_level=3, binding=False, boundscheck=False, wraparound=False
"""Keyed state in memory, and the loops that call a function for each record; see the package for what they replace."""

from cpython.dict cimport PyDict_CheckExact, PyDict_GetItemWithError
from cpython.list cimport PyList_Append, PyList_GET_ITEM
from cpython.object cimport PyObject
from cpython.tuple cimport PyTuple_CheckExact, PyTuple_GET_ITEM, PyTuple_GET_SIZE
from libc.time cimport time_t

include "_formulas.pxi"
include "_settled.pxi"

cdef extern from "<time.h>" nogil:
    struct timespec:
        time_t tv_sec
        long tv_nsec
    int clock_gettime(int, timespec*)
    int CLOCK_REALTIME


# -- time ------------------------------------------------------------------------------------------------------------

cdef class WallClock:
    """The time in ms since the epoch, or what the function in a context variable returns."""

    cdef object substitute, found

    def __init__(self, substitute, found):
        """Ask the variable ``substitute``; ``found()`` returns this object, also in another process."""
        self.substitute, self.found = substitute, found

    def __reduce__(self):
        return self.found, ()

    def __call__(self):
        return _now(self)


cdef object _now(object clock):
    cdef timespec time
    if type(clock) is not WallClock:
        return clock()
    substitute = (<WallClock>clock).substitute.get()
    if substitute is not None:
        return substitute()
    clock_gettime(CLOCK_REALTIME, &time)
    return <long long>time.tv_sec * 1000 + time.tv_nsec // 1000000


# -- state -----------------------------------------------------------------------------------------------------------

cdef class Scope:
    """The key that state objects use."""

    cdef public object key
    cdef public bint tracking


cdef class Access:
    """What state objects of all kinds have."""

    cdef public object _backend, _scope, _table, _values, _dirty, changes, _ttl, _on_read, _return_expired
    cdef object _clock


cdef inline object _current(Access state):
    scope = state._scope
    return (<Scope>scope).key if isinstance(scope, Scope) else scope.key


cdef inline bint _tracks(Access state) except -1:
    backend = state._backend
    return (<Scope>backend).tracking if isinstance(backend, Scope) else backend.tracking


cdef inline object _get(object values, object key):
    """Return what a dict has for a key, or None."""
    cdef PyObject* found
    if not PyDict_CheckExact(values):
        return values.get(key)
    found = PyDict_GetItemWithError(values, key)
    return None if found == NULL else <object>found


cdef object _time(Access state):
    if state._clock is None:
        state._clock = state.clock
    return _now(state._clock)


cdef class ValueAccess(Access):
    """One value per key."""

    def value(self):
        """Return the value, or None."""
        return _get(self._values, _current(self))

    def update(self, value):
        """Set the value; None removes it."""
        key = _current(self)
        if value is None:
            self._values.pop(key, None)
        else:
            self._values[key] = value
        if _tracks(self):
            self._dirty[key] = 0


cdef object _append(Access state, object value):
    key = _current(state)
    elements = _get(state._values, key)
    if elements is None:
        state._values[key] = [value]
        if _tracks(state):
            state._dirty[key] = 0
        return
    if _tracks(state) and key not in state._dirty:
        state._dirty[key] = len(elements)
    PyList_Append(elements, value)


cdef class ListAccess(Access):
    """A list per key."""

    def add(self, value):
        """Append an element."""
        _append(self, value)


cdef class TtlListAccess(Access):
    """A list per key, whose elements expire."""

    def add(self, value):
        """Append an element."""
        _append(self, (value, _time(self)))


cdef object _put(Access state, object key, object value):
    state.changes = state.changes + 1
    current = _current(state)
    entries = _get(state._values, current)
    if entries is None:
        state._values[current] = {key: value}
    else:
        entries[key] = value
    if _tracks(state):
        state._dirty[current, key] = 0


cdef class MapAccess(Access):
    """A map per key."""

    def get(self, key):
        """Return the value of a map key, or None."""
        entries = _get(self._values, _current(self))
        return None if entries is None else _get(entries, key)

    def put(self, key, value):
        """Set the value of a map key."""
        _put(self, key, value)


cdef class TtlMapAccess(Access):
    """A map per key, whose entries expire."""

    def get(self, key):
        """Return the value of a map key, or None if it is absent or has expired."""
        entries = _get(self._values, _current(self))
        if entries is None:
            return None
        entry = _get(entries, key)
        if entry is None:
            return None
        value, stamp = <tuple>entry
        if self._on_read or stamp + self._ttl <= _time(self):
            return self._seldom(key)
        return value

    def put(self, key, value):
        """Set the value of a map key and its time."""
        _put(self, key, (value, _time(self)))


# -- calls -----------------------------------------------------------------------------------------------------------

cdef class Stamped:
    """A context with the timestamp of a record."""

    cdef public object _timestamp

    def timestamp(self):
        """Return the record's timestamp in ms, or Long.MIN_VALUE if it has none."""
        return self._timestamp


cdef inline object _key(object selector, Py_ssize_t field, object value):
    """Return the key of a record: the field with this number of a tuple, else what the selector returns."""
    if field >= 0 and PyTuple_CheckExact(value) and field < PyTuple_GET_SIZE(value):
        return <object>PyTuple_GET_ITEM(value, field)
    return selector(value)


def call_each(call, Stamped ctx, Scope state, selector, Py_ssize_t field, cursor, list timestamps, frozen, copied,
              list results, list stamps):
    """Call a function with each record and its context, and gather copies of the results and their timestamps.

    With a ``selector``, the key of each record becomes the current key of ``state``.
    """
    cdef Py_ssize_t position = 0, number
    cdef _Settled settled = _Settled(frozen, copied)
    cdef object timestamp = None
    for value in cursor:
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
