# cython: language_level=3, binding=False, boundscheck=False, wraparound=False
"""Windows on their fast paths, and rolling reduces: records are grouped, and may be columns.

See the package for what this replaces.
"""

from cpython.dict cimport PyDict_GetItemWithError
from cpython.float cimport PyFloat_CheckExact
from cpython.list cimport PyList_Append, PyList_GET_ITEM, PyList_GET_SIZE
from cpython.long cimport PyLong_CheckExact
from cpython.object cimport PyObject
from cpython.tuple cimport PyTuple_CheckExact, PyTuple_GET_ITEM, PyTuple_GET_SIZE
from cpython.unicode cimport PyUnicode_CheckExact
from libc.stdint cimport INT64_MIN

from flintstream.compiled._base cimport MOST_TERMS, Formula, apply_binary, has_atoms, lookup, select

cdef extern from "Python.h":
    long long PyLong_AsLongLongAndOverflow(object, int*) except? -1
    ctypedef struct PyTypeObject:
        object (*tp_alloc)(PyTypeObject*, Py_ssize_t)

include "_records.pxi"
include "_folds.pxi"

cdef int64_t FAR = <int64_t>1 << 61


cdef class Adder:
    """Adds records to the reduced values, or the accumulators, of panes."""

    cdef object panes, backend, values, dirty, call, create, opened, copied
    cdef bint tracking
    cdef Formula formula
    cdef Fold fold

    def __init__(self, panes, backend, values, dirty, bint tracking, call, formula, Fold fold, create, opened, copied):
        """Call ``call(accumulator, value)``, or with ``create`` ``call(value, accumulator)`` and ``create()``."""
        self.fold = fold
        self.panes, self.backend, self.values, self.dirty, self.tracking = panes, backend, values, dirty, tracking
        self.call, self.create, self.opened, self.copied = call, create, opened, copied
        self.formula = Formula(formula)

    def __call__(self, key, windows, records):
        """Add records to the panes of a key and each of several windows."""
        self.add(key, windows, records)

    cdef int add(self, key, windows, records) except -1:
        cdef Py_ssize_t done
        cdef Records columns = records if isinstance(records, Records) else None
        self.backend.key = key
        for window in windows:
            pane = (key, window)
            contents = known = lookup(self.values, pane)
            done = 0
            try:
                if columns is not None:
                    folded = self.folded(contents, columns)
                    if folded is not None:
                        contents, done = folded, columns.count
                for value in records if not done else ():
                    done += 1
                    if value is None:
                        contents = known = None
                    elif contents is not None:
                        if self.create is None:
                            contents = apply_binary(self.formula, self.call, contents, value)
                        else:
                            contents = apply_binary(self.formula, self.call, value, contents)
                    elif self.create is not None:
                        contents = apply_binary(self.formula, self.call, value, self.create())
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

    cdef object folded(self, contents, Records records):
        """Return the contents with all records, or None if they have to be added one by one."""
        if not self.fold.size or not records.count:
            return None
        if contents is None:
            if self.create is None:
                value = records.at(0)
                contents = value if self.copied is None else self.copied(value)
                records = records.part(1, records.count - 1)
            else:
                contents = self.create()
        return self.fold.of(contents, records)


cdef inline int64_t _newest(int64_t timestamp, int64_t slide, int64_t offset) except? -1:
    """Return the start of the newest window at a time, whose oldest windows C's numbers may not hold."""
    if -FAR < timestamp < FAR:
        return timestamp - (timestamp - offset) % slide
    begin = <object>timestamp - (<object>timestamp - offset) % slide
    return max(begin, INT64_MIN)


def group_aligned(selector, Py_ssize_t field, cursor, times, int64_t slide, int64_t offset, int64_t first_open,
                  int64_t last, bint overlapping, groups, add_groups, general):
    """Group records by key and the start of their newest window, and pass others to ``general``.

    ``times`` is a list of timestamps, or the time of all records. If windows overlap, ``add_groups`` is called before a
    record of an earlier slide than the one before it.
    """
    cdef Py_ssize_t position = 0
    cdef int64_t timestamp, newest, latest = INT64_MIN
    if _in_step(cursor, times, field):
        _group_columns(
            cursor, <int>field, times, slide, offset, first_open, last, overlapping, groups, add_groups, general
        )
        return
    if isinstance(times, Records):
        times = list(times)
    cdef list stamps = times if isinstance(times, list) else None
    cdef PyObject* group
    for value in cursor:
        if stamps is not None and position >= PyList_GET_SIZE(stamps):
            break
        stamp = timestamp = times if stamps is None else <object>PyList_GET_ITEM(stamps, position)
        position += 1
        key = select(selector, field, value)
        newest = _newest(timestamp, slide, offset)
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


def session_runs(selector, Py_ssize_t field, cursor, times, gap, late, split):
    """Return the runs of the records of each key, in the order of the keys' first records.

    A run is the position of its first record, the key, timestamps, values, and the time from start to end. Records
    that may be several runs are split by ``split(key, timestamps, values, positions, late)``.
    """
    if _in_step(cursor, times, field):
        return _session_runs_of_columns(cursor, <int>field, times, gap, late, split)
    cdef list timestamps = times if isinstance(times, list) else list(times)
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
        key = select(selector, field, value)
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


include "_running.pxi"


cdef bint _in_step(cursor, times, Py_ssize_t field):
    """Tell whether records at a cursor are columns, one of which has the keys; and times one time, or those of them."""
    cdef Records records, stamps
    if not isinstance(cursor, _RecordIterator):
        return False
    records = (<_RecordIterator>cursor).records
    if (<_RecordIterator>cursor).position or records.groups is not None:
        return False
    if records.columns.head.shape != TUPLES or not 0 <= field < records.columns.head.fields:
        return False
    if not isinstance(times, Records):
        return isinstance(times, int)
    stamps = times
    return (
        stamps.are_stamps and stamps.columns is records.columns
        and stamps.first == records.first and stamps.count == records.count
    )


cdef list _session_runs_of_columns(_RecordIterator cursor, int field, Records times, gap, late, split):
    cdef Records records = cursor.records
    cdef _Groups groups = _grouped(records, field, NULL, NULL, records.count)
    cdef Reading* stamps = &times.columns.columns[times.columns.head.fields]
    cdef list runs = []
    cdef Py_ssize_t i, number
    cdef int64_t timestamp, low, high
    cdef uint64_t widest = gap
    cursor.position = records.count
    for number in range(groups.count):
        low = high = _number(stamps, times.first + groups.rows[groups.begins[number]])
        for i in range(groups.begins[number] + 1, groups.begins[number + 1]):
            timestamp = _number(stamps, times.first + groups.rows[i])
            if timestamp < low:
                low = timestamp
            elif timestamp > high:
                high = timestamp
        key, of_group, values = groups.keys[number], times.group(groups, number), records.group(groups, number)
        if <uint64_t>high - <uint64_t>low <= widest and low > late:
            runs.append((groups.rows[groups.begins[number]], key, of_group, values, low, <object>high + gap))
        else:
            positions = [groups.rows[i] for i in range(groups.begins[number], groups.begins[number + 1])]
            runs += split(key, of_group, values, positions, late)
    return runs


cdef _group_columns(
    _RecordIterator cursor, int field, times, int64_t slide, int64_t offset, int64_t first_open, int64_t last,
    bint overlapping, groups, add_groups, general,
):
    cdef Records records = cursor.records
    cdef bint stamped = isinstance(times, Records)
    cdef int64_t now = 0 if stamped else times
    cdef Reading* stamps = &records.columns.columns[records.columns.head.fields]
    cdef Py_ssize_t i, chosen = 0
    cdef int64_t timestamp, newest, latest = INT64_MIN
    cdef uint32_t* rows = <uint32_t*>PyMem_Malloc(max(records.count, 1) * sizeof(uint32_t))
    cdef int64_t* starts = <int64_t*>PyMem_Malloc(max(records.count, 1) * sizeof(int64_t))
    try:
        if rows == NULL or starts == NULL:
            raise MemoryError
        for i in range(records.count):
            timestamp = _number(stamps, records.first + i) if stamped else now
            newest = _newest(timestamp, slide, offset)
            if newest < latest and overlapping:
                _put_groups(records, field, rows, starts, chosen, groups)
                chosen = 0
                add_groups()
            latest = newest
            if first_open < newest <= last:
                rows[chosen], starts[chosen] = <uint32_t>i, newest
                chosen += 1
                continue
            cursor.position = i + 1
            value = records.at(i)
            general(value[field], value, timestamp)
        _put_groups(records, field, rows, starts, chosen, groups)
        cursor.position = records.count
    finally:
        PyMem_Free(rows)
        PyMem_Free(starts)


cdef int _put_groups(Records records, int field, const uint32_t* rows, const int64_t* starts, Py_ssize_t chosen,
                     groups) except -1:
    cdef _Groups found = _grouped(records, field, rows, starts, chosen)
    cdef Py_ssize_t number
    for number in range(found.count):
        groups[found.keys[number], found.seconds[number]] = records.group(found, number)
    return 0


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


cdef object _window(PyTypeObject* kind, start, end):
    """Return a window of a class of tuples, which has no fields of its own."""
    made = kind.tp_alloc(kind, 2)
    set_in_tuple(<tuple>made, 0, start)
    set_in_tuple(<tuple>made, 1, end)
    return made


def add_runs(path, list runs, add, tuple_class, bint tracking, watermark):
    """Add the records of runs to the sessions that they start or extend.

    This does what ``path`` does itself with each run, and leaves those to it that are late or merge sessions. Windows
    are of ``tuple_class``.
    """
    cdef int64_t low = 0, until = 0, first = 0, gap = 0, now, start, end
    cdef dict all_sessions, sessions
    cdef Adder adder = add if isinstance(add, Adder) else None
    cdef PyTypeObject* kind = <PyTypeObject*>tuple_class
    if not (type(path.windows) is dict and _is_near(path.gap, &gap)):
        for _, key, stamps, values, begins, ends in runs:
            path.add_run(key, stamps, values, begins, ends, add)
        return
    all_sessions, dirty, lateness, register = path.windows, path.windows_dirty, path.lateness, path.register
    now = max(watermark, -FAR)
    for _, key, stamps, values, begins, ends in runs:
        sessions = all_sessions.get(key)
        if not (_is_near(begins, &low) and _is_near(ends, &until) and _is_near(stamps[0], &first)):
            window = ()
        elif first + gap - 1 <= now:
            window = ()
        else:
            window = None if sessions is None else _only_one(sessions, low, until)
        if window is None:
            window = _window(kind, first, first + gap)
            if sessions is None:
                sessions = all_sessions[key] = {}
            sessions[window] = window
            if tracking:
                dirty[key, window] = 0
            try:
                register(key, window)
            except BaseException:
                path.begin(values)
                raise
        elif not window:
            path.add_run(key, stamps, values, begins, ends, add)
            continue
        start, end = (<tuple>window)[0], (<tuple>window)[1]
        if not start - gap <= first <= end:
            path.add_run(key, stamps, values, begins, ends, add)
            continue
        if start <= low and until <= end:
            home = sessions[window]
        else:
            grown = _window(kind, min(start, low), max(end, until))
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
