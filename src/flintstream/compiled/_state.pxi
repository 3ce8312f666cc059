# State in memory, a part of _keyed.pyx; see flintstream/state/heap_states.py and ttl.py for what it replaces.

cdef int64_t FAR = <int64_t>1 << 61
cdef int64_t LAST = (<int64_t>1 << 62) - 1  # the highest time of an entry of a map

cdef object FRESH = -1  # as in changed_entries.py
cdef object ABSENT = object()


cdef class Access:
    """What state objects of all kinds have."""

    cdef public object _backend, _scope, _table, _values, _ttl, _reduce, _function
    cdef public dict _dirty, _noted
    cdef public bint _on_read, _return_expired
    cdef public Py_ssize_t changes
    cdef object _clock


cdef inline object _current(Access state):
    return _key_of(state._scope)


cdef inline bint _tracks(Access state) except -1:
    backend = state._backend
    return (<Scope>backend).tracking if _is_plain(backend) else backend.tracking


cdef inline int _set(Access state, object key, object value) except -1:
    state._values[key] = value
    if _tracks(state):
        state._dirty[key] = 0
    return 0


cdef int _clear(Access state) except -1:
    key = _current(state)
    if state._values.pop(key, None) is not None and _tracks(state):
        state._dirty[key] = 0
    return 0


# -- time-to-live ----------------------------------------------------------------------------------------------------

cdef object _time(Access state):
    if state._clock is None:
        state._clock = state.clock
    return _now(state._clock)


cdef int64_t _time_ms(Access state) except? -1:
    if state._clock is None:
        state._clock = state.clock
    return _now_ms(state._clock)


cdef inline bint _is_near(object number, int64_t* found) except -1:
    """Tell whether a number is so far from the ends of 64 bits that sums of two do not leave them."""
    cdef int overflow = 0
    if not PyLong_CheckExact(number):
        return False
    found[0] = PyLong_AsLongLongAndOverflow(number, &overflow)
    return not overflow and -FAR < found[0] < FAR


cdef bint _has_passed(object stamp, object ttl, object now) except -1:
    """Tell whether the time-to-live of a value has passed."""
    cdef int64_t since = 0, length = 0, time = 0
    if _is_near(stamp, &since) and _is_near(ttl, &length) and _is_near(now, &time):
        return since + length <= time
    return stamp + ttl <= now


cdef object _live(Access state, object key):
    """Return the single value of a key if it is visible."""
    entry = _get(state._values, key)
    if entry is None:
        return None
    value, stamp = entry
    if state._on_read or _has_passed(stamp, state._ttl, _time(state)):
        return state._live(key)
    return value


cdef inline bint _has_passed_since(int64_t since, object ttl, int64_t now) except -1:
    cdef int64_t length = 0
    return since + length <= now if _is_near(ttl, &length) else since + ttl <= now


# -- values ----------------------------------------------------------------------------------------------------------

cdef class ValueAccess(Access):
    """One value per key."""

    def value(self):
        """Return the value, or None."""
        return _get(self._values, _current(self))

    def update(self, value):
        """Set the value; None removes it."""
        key = _current(self)
        if value is not None:
            _set(self, key, value)
            return
        self._values.pop(key, None)
        if _tracks(self):
            self._dirty[key] = 0

    def clear(self):
        """Remove the value of the current key."""
        _clear(self)


cdef class TtlValueAccess(Access):
    """A value that expires."""

    def value(self):
        """Return the value, or None if it is absent or has expired."""
        return _live(self, _current(self))

    def update(self, value):
        """Set the value and its time; None removes it."""
        if value is None:
            _clear(self)
        else:
            _set(self, _current(self), (value, _time(self)))

    def clear(self):
        """Remove the value of the current key."""
        _clear(self)


cdef class ReducingAccess(Access):
    """One value per key, reduced as values are added."""

    def get(self):
        """Return the reduced value, or None if no value was added."""
        return _get(self._values, _current(self))

    def add(self, value):
        """Reduce a value into the current one. None clears the state."""
        if value is None:
            _clear(self)
            return
        key = _current(self)
        reduced = _get(self._values, key)
        _set(self, key, value if reduced is None else self._reduce(reduced, value))


cdef class TtlReducingAccess(Access):
    """A reduced value that expires."""

    def get(self):
        """Return the reduced value, or None if it is absent or has expired."""
        return _live(self, _current(self))

    def add(self, value):
        """Reduce a value into the current one, unless that has expired."""
        if value is None:
            _clear(self)
            return
        key = _current(self)
        reduced = _live(self, key)
        reduced = value if reduced is None else self._reduce(reduced, value)
        _set(self, key, (reduced, _time(self)))


cdef class AggregatingAccess(Access):
    """One accumulator per key."""

    def get(self):
        """Return the result of the accumulator, or None if no value was added."""
        accumulator = _get(self._values, _current(self))
        return None if accumulator is None else self._function.get_result(accumulator)

    def add(self, value):
        """Add a value to the accumulator. None clears the state."""
        if value is None:
            _clear(self)
            return
        key = _current(self)
        accumulator = _get(self._values, key)
        if accumulator is None:
            accumulator = self._function.create_accumulator()
        _set(self, key, self._function.add(value, accumulator))


cdef class TtlAggregatingAccess(Access):
    """An accumulator that expires."""

    def get(self):
        """Return the result, or None if the accumulator is absent or has expired."""
        accumulator = _live(self, _current(self))
        return None if accumulator is None else self._function.get_result(accumulator)

    def add(self, value):
        """Add a value to the accumulator, or to a new one if it has expired."""
        if value is None:
            _clear(self)
            return
        key = _current(self)
        accumulator = _live(self, key)
        if accumulator is None:
            accumulator = self._function.create_accumulator()
        accumulator = self._function.add(value, accumulator)
        _set(self, key, (accumulator, _time(self)))


# -- lists -----------------------------------------------------------------------------------------------------------

cdef class ListAccess(Access):
    """A list per key."""

    def get(self):
        """Return the elements. The result is empty if there are none."""
        elements = _get(self._values, _current(self))
        return [] if elements is None else list(elements)

    def add(self, value):
        """Append an element."""
        cdef list elements
        key = _current(self)
        elements = _get(self._values, key)
        if elements is None:
            _set(self, key, [value])
            return
        if _tracks(self) and key not in self._dirty:
            self._dirty[key] = PyList_GET_SIZE(elements)
        elements.append(value)

    def clear(self):
        """Remove the list of the current key."""
        _clear(self)


cdef class TtlListAccess(Access):
    """A list per key, whose elements expire. Each is followed by its time."""

    def get(self):
        """Return the elements that have not expired."""
        cdef list found = [], elements
        cdef Py_ssize_t place
        cdef int64_t since = 0, length = 0, time = 0
        entries = _get(self._values, _current(self))
        if entries is None:
            return found
        if self._on_read or not _is_near(self._ttl, &length) or not _is_near(_time(self), &time):
            return self._seldom()
        elements = entries
        for place in range(0, PyList_GET_SIZE(elements) - 1, 2):
            if not _is_near(<object>PyList_GET_ITEM(elements, place + 1), &since) or since + length <= time:
                return self._seldom()
            found.append(<object>PyList_GET_ITEM(elements, place))
        return found

    def add(self, value):
        """Append an element."""
        cdef list elements
        key = _current(self)
        time = _time(self)
        elements = _get(self._values, key)
        if elements is None:
            _set(self, key, [value, time])
            return
        if _tracks(self) and key not in self._dirty:
            self._dirty[key] = PyList_GET_SIZE(elements)
        elements.append(value)
        elements.append(time)

    def clear(self):
        """Remove the list of the current key."""
        _clear(self)


# -- maps ------------------------------------------------------------------------------------------------------------

cdef int _note(dict noted, object current, object key, object mark) except -1:
    cdef PyObject* found = PyDict_GetItemWithError(noted, current)
    if found == NULL:
        noted[current] = (key, mark)
        return 0
    if PyDict_CheckExact(<object>found):
        PyDict_SetDefault(<object>found, key, mark)
        return 0
    only, mark_of_only = <tuple>found
    if not PyObject_RichCompareBool(only, key, Py_EQ):
        noted[current] = {only: mark_of_only, key: mark}
    return 0


cdef int _note_removed(dict noted, object current, object key) except -1:
    cdef PyObject* found = PyDict_GetItemWithError(noted, current)
    if found == NULL:
        noted[current] = (key, 0)
        return 0
    if PyDict_CheckExact(<object>found):
        marks = <dict>found
        if _get(marks, key) is FRESH:
            del marks[key]
        else:
            marks[key] = 0
        return 0
    only, mark = <tuple>found
    if not PyObject_RichCompareBool(only, key, Py_EQ):
        noted[current] = {only: mark, key: 0}
    elif mark is FRESH:
        del noted[current]
    return 0


cdef int _put(Access state, object key, object value) except -1:
    cdef Py_ssize_t size
    cdef dict entries
    state.changes += 1
    current = _current(state)
    found = _get(state._values, current)
    if found is None:
        state._values[current] = entries = {}
    else:
        entries = found
    size = len(entries)
    entries[key] = value
    if _tracks(state):
        _note(state._noted, current, key, 0 if len(entries) == size else FRESH)
    return 0


cdef int _remove(Access state, object key) except -1:
    current = _current(state)
    cdef dict entries = _get(state._values, current)
    if entries is None or entries.pop(key, ABSENT) is ABSENT:
        return 0
    state.changes += 1
    if not entries:
        del state._values[current]
    if _tracks(state):
        _note_removed(state._noted, current, key)
    return 0


cdef class MapAccess(Access):
    """A map per key."""

    def get(self, key):
        """Return the value of a map key, or None."""
        entries = _get(self._values, _current(self))
        return None if entries is None else _get(entries, key)

    def contains(self, key):
        """Return whether a map key has a value other than None."""
        return self.get(key) is not None

    def put(self, key, value):
        """Set the value of a map key."""
        _put(self, key, value)

    def remove(self, key):
        """Remove a map key if it exists."""
        _remove(self, key)


cdef inline int64_t _stamp(int64_t time) noexcept:
    return 2 * (LAST if time > LAST else -LAST if time < -LAST else time)


@cython.no_gc
@cython.final
cdef class Dated:
    """A value of a map entry that expires, and the time of its last access."""

    cdef public object value
    cdef int64_t stamp  # twice the time; plus 1 if the change of the entry is noted

    def __init__(self, value, int64_t time):
        self.value, self.stamp = value, _stamp(time)

    @property
    def time(self):
        """The time in ms."""
        return self.stamp >> 1

    @time.setter
    def time(self, int64_t time):
        self.stamp = _stamp(time) | self.stamp & 1

    def __repr__(self):
        return repr((self.value, self.time))


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
        if self._on_read or _has_passed_since((<Dated>entry).stamp >> 1, self._ttl, _time_ms(self)):
            return self._seldom(key)
        return (<Dated>entry).value

    def contains(self, key):
        """Return whether a map key has a visible value other than None."""
        return self.get(key) is not None

    def put(self, key, value):
        """Set the value of a map key and its time."""
        cdef PyObject* found
        cdef Dated entry
        cdef dict entries
        cdef int64_t time = _time_ms(self)
        self.changes += 1
        current = _current(self)
        held = _get(self._values, current)
        if held is None:
            self._values[current] = entries = {}
        else:
            entries = held
        found = PyDict_GetItemWithError(entries, key)
        if found == NULL:
            entries[key] = entry = Dated(value, time)
        else:
            entry = <Dated>found
            entry.value, entry.stamp = value, _stamp(time) | entry.stamp & 1
        if _tracks(self) and not entry.stamp & 1:
            _note(self._noted, current, key, FRESH if found == NULL else 0)
            entry.stamp |= 1

    def remove(self, key):
        """Remove a map key if it exists."""
        _remove(self, key)


def map_changes(dict values, dict noted, dict dirty, list keys, list found, list deleted):
    """Sort changed entries into those that have a value and those that are gone."""
    for current, marks in noted.items():
        entries = _get(values, current)
        for key in marks if PyDict_CheckExact(marks) else marks[:1]:
            _sort_change(entries, (current, key), key, keys, found, deleted)
    if not noted:
        for row in dirty:
            current, key = row
            _sort_change(_get(values, current), row, key, keys, found, deleted)


cdef int _sort_change(object entries, object row, object key, list keys, list found, list deleted) except -1:
    cdef PyObject* value = NULL if entries is None else PyDict_GetItemWithError(entries, key)
    if value == NULL:
        PyList_Append(deleted, row)
    else:
        PyList_Append(keys, row)
        PyList_Append(found, <object>value)
    return 0


def forget_noted(dict values, dict noted):
    """Forget which entries of a map state that expires have changed."""
    for current, marks in noted.items():
        entries = _get(values, current)
        if entries is not None:
            for key in marks if PyDict_CheckExact(marks) else marks[:1]:
                entry = _get(entries, key)
                if entry is not None:
                    (<Dated>entry).stamp &= ~<int64_t>1
    noted.clear()
