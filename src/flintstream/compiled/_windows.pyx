# cython: language_level=3, binding=False, boundscheck=False, wraparound=False
"""Windows on their fast paths: records are grouped and added to panes; see the package for what this replaces."""

from cpython.list cimport PyList_Append, PyList_GET_ITEM, PyList_GET_SIZE
from libc.stdint cimport INT64_MIN, int64_t, uint64_t

include "_shared.pxi"

cdef int64_t FAR = <int64_t>1 << 61


cdef class Adder:
    """Adds records to the reduced values, or the accumulators, of panes."""

    cdef object panes, backend, values, dirty, call, create, opened, copied
    cdef bint tracking

    def __init__(self, panes, backend, values, dirty, bint tracking, call, create, opened, copied):
        """Call ``call(accumulator, value)``, or with ``create`` ``call(value, accumulator)`` and ``create()``."""
        self.panes, self.backend, self.values, self.dirty, self.tracking = panes, backend, values, dirty, tracking
        self.call, self.create, self.opened, self.copied = call, create, opened, copied

    def __call__(self, key, windows, records):
        """Add records to the panes of a key and each of several windows."""
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
                        contents = self.call(contents, value) if self.create is None else self.call(value, contents)
                    elif self.create is not None:
                        contents = self.call(value, self.create())
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
