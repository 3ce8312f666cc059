# cython: language_level=3, binding=False, boundscheck=False, wraparound=False
"""Windows on their fast paths: records are grouped and added to panes; see the package for what this replaces."""

from cpython.list cimport PyList_Append, PyList_GET_ITEM, PyList_GET_SIZE
from libc.stdint cimport INT64_MIN, int64_t, uint64_t

include "_shared.pxi"
include "_formulas.pxi"

cdef extern from "Python.h":
    long long PyLong_AsLongLongAndOverflow(object, int*) except? -1

cdef int64_t FAR = <int64_t>1 << 61


cdef class Adder:
    """Adds records to the reduced values, or the accumulators, of panes."""

    cdef object panes, backend, values, dirty, call, create, opened, copied
    cdef bint tracking
    cdef _Formula formula

    def __init__(self, panes, backend, values, dirty, bint tracking, call, formula, create, opened, copied):
        """Call ``call(accumulator, value)``, or with ``create`` ``call(value, accumulator)`` and ``create()``."""
        self.panes, self.backend, self.values, self.dirty, self.tracking = panes, backend, values, dirty, tracking
        self.call, self.create, self.opened, self.copied = call, create, opened, copied
        self.formula = _Formula(formula)

    def __call__(self, key, windows, records):
        """Add records to the panes of a key and each of several windows."""
        self.add(key, windows, records)

    cdef int add(self, key, windows, records) except -1:
        cdef Py_ssize_t done
        self.backend.key = key
        for window in windows:
            pane = (key, window)
            contents = known = _get(self.values, pane)
            done = 0
            try:
                for value in records:
                    done += 1
                    if value is None:
                        contents = known = None
                    elif contents is not None:
                        if self.create is None:
                            contents = _called(self.formula, self.call, contents, value)
                        else:
                            contents = _called(self.formula, self.call, value, contents)
                    elif self.create is not None:
                        contents = _called(self.formula, self.call, value, self.create())
                    else:
                        contents = value if self.copied is None else self.copied(value)
            except BaseException:
                self.panes.cursor = iter(records[done:])
                raise
            if contents is not None:
                self.values[pane] = contents
            else:
                self.values.pop(pane, None)
            if self.tracking:
                self.dirty[pane] = 0
            if known is None and self.opened is not None:
                self.opened(key, window)
        return 0


def group_aligned(selector, Py_ssize_t field, cursor, times, int64_t slide, int64_t offset, int64_t first_open,
                  int64_t last, bint overlapping, groups, add_groups, general):
    """Group records by key and the start of their newest window, and pass others to ``general``.

    ``times`` is a list of timestamps, or the time of all records. If windows overlap, ``add_groups`` is called before a
    record of an earlier slide than the one before it.
    """
    cdef Py_ssize_t position = 0
    cdef int64_t timestamp, newest, latest = INT64_MIN
    cdef list stamps = times if isinstance(times, list) else None
    cdef PyObject* group
    for value in cursor:
        if stamps is not None and position >= PyList_GET_SIZE(stamps):
            break
        stamp = times if stamps is None else <object>PyList_GET_ITEM(stamps, position)
        position += 1
        timestamp = stamp
        key = _key(selector, field, value)
        if not -FAR < timestamp < FAR:  # the same for times whose windows C's numbers may not hold
            begin = stamp - (stamp - offset) % slide
            newest = INT64_MIN if begin < INT64_MIN else begin
        else:
            newest = timestamp - (timestamp - offset) % slide
        if newest < latest and overlapping:
            add_groups()
        latest = newest
        if not first_open < newest <= last:
            general(key, value, stamp)
            continue
        place = (key, newest)
        group = PyDict_GetItemWithError(groups, place)
        if group == NULL:
            groups[place] = [value]
        else:
            PyList_Append(<list>group, value)


cdef class _Group:
    cdef list stamps, values, positions
    cdef int64_t low, high


def session_runs(selector, Py_ssize_t field, cursor, list timestamps, gap, late, split):
    """Return the runs of the records of each key, in the order of the keys' first records.

    A run is the position of its first record, the key, timestamps, values, and the time from start to end. Records
    that may be several runs are split by ``split(key, timestamps, values, positions, late)``.
    """
    cdef dict groups = {}
    cdef list runs = []
    cdef Py_ssize_t position = 0
    cdef int64_t timestamp
    cdef uint64_t widest = gap
    cdef _Group group
    cdef PyObject* found
    for value in cursor:
        if position >= PyList_GET_SIZE(timestamps):
            break
        stamp = <object>PyList_GET_ITEM(timestamps, position)
        timestamp = stamp
        key = _key(selector, field, value)
        found = PyDict_GetItemWithError(groups, key)
        if found == NULL:
            group = _Group()
            group.stamps, group.values, group.positions = [stamp], [value], [position]
            group.low = group.high = timestamp
            groups[key] = group
        else:
            group = <_Group>found
            PyList_Append(group.stamps, stamp)
            PyList_Append(group.values, value)
            PyList_Append(group.positions, position)
            if timestamp < group.low:
                group.low = timestamp
            elif timestamp > group.high:
                group.high = timestamp
        position += 1
    for key, group in groups.items():
        if <uint64_t>group.high - <uint64_t>group.low <= widest and group.low > late:
            runs.append((group.positions[0], key, group.stamps, group.values, group.low, <object>group.high + gap))
        else:
            runs += split(key, group.stamps, group.values, group.positions, late)
    return runs


cdef inline bint _is_near(object number, int64_t* taken) except -1:
    """Take a time with which C's numbers can compute."""
    cdef int overflow = 0
    taken[0] = PyLong_AsLongLongAndOverflow(number, &overflow)
    return not overflow and -FAR < taken[0] < FAR


cdef object _only_one(dict sessions, int64_t low, int64_t until):
    """Return the session that the time from ``low`` to ``until`` meets; an empty tuple if that takes a closer look."""
    cdef int64_t start, end
    found = None
    for window in sessions:
        if not (_is_near((<tuple>window)[0], &start) and _is_near((<tuple>window)[1], &end)):
            return ()
        if low <= end and start <= until:
            if found is not None:
                return ()
            found = window
    return found


def add_runs(path, list runs, add, tuple_class, bint tracking, watermark):
    """Add the records of runs to the sessions that they start or extend.

    This does what ``path`` does itself with each run, and leaves those to it that are late or merge sessions. Windows
    are of ``tuple_class``.
    """
    cdef int64_t low = 0, until = 0, first = 0, gap = 0, now, start, end
    cdef dict all_sessions, sessions
    cdef Adder adder = add if isinstance(add, Adder) else None
    if not (type(path.windows) is dict and _is_near(path.gap, &gap)):
        for _, key, stamps, values, begins, ends in runs:
            path.add_run(key, stamps, values, begins, ends, add)
        return
    all_sessions, dirty, lateness = path.windows, path.windows_dirty, path.lateness
    now = max(watermark, -FAR)
    for _, key, stamps, values, begins, ends in runs:
        sessions = all_sessions.get(key)
        if not (_is_near(begins, &low) and _is_near(ends, &until) and _is_near(stamps[0], &first)):
            window = ()
        elif first + gap - 1 <= now:
            window = ()
        else:
            window = None if sessions is None else _only_one(sessions, low, until)
        if window is None or not window:
            path.add_run(key, stamps, values, begins, ends, add)
            continue
        start, end = (<tuple>window)[0], (<tuple>window)[1]
        if not start - gap <= first <= end:
            path.add_run(key, stamps, values, begins, ends, add)
            continue
        if start <= low and until <= end:
            home = sessions[window]
        else:
            grown = tuple.__new__(tuple_class, (min(start, low), max(end, until)))
            home = sessions[grown] = sessions.pop(window)
            if tracking:
                dirty[key, window] = dirty[key, grown] = 0
            if lateness:
                path.move_timers(key, values, window, grown)
        if adder is None:
            add(key, (home,), values)
            continue
        try:
            adder.add(key, (home,), values)
        except BaseException:
            path.group = values
            raise
