# cython: language_level=3, binding=False, boundscheck=False, wraparound=False
"""What the loops use and Python has in another form; see the package."""

from cpython.mem cimport PyMem_Free, PyMem_Realloc
from cpython.ref cimport Py_DECREF, Py_INCREF
from cpython.list cimport PyList_GET_ITEM, PyList_GET_SIZE
from libc.stdint cimport INT64_MIN
from libc.time cimport time_t

cdef extern from "Python.h":
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

    def __init__(self, substitute, found):
        """Ask the variable ``substitute``; ``found()`` returns this object, also in another process."""
        self.substitute, self.found, self.latest, self.ms = substitute, found, 0, 0

    def __reduce__(self):
        return self.found, ()

    def __call__(self):
        return now(self)


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


cdef object now(object clock):
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


cdef int64_t now_ms(object clock) except? -1:
    if type(clock) is not WallClock:
        return clock()
    substitute = _substitute(<WallClock>clock)
    return _wall_ms() if substitute is None else substitute()


# -- keys ------------------------------------------------------------------------------------------------------------

cdef class Scope:
    """The key that state objects use."""

    def __cinit__(self):
        cls = type(self)  # a subclass may have properties of these names, which only Python's access finds
        self.plain = cls is Scope or (
            cls.key is Scope.key and cls.tracking is Scope.tracking
            and cls.__setattr__ is object.__setattr__ and cls.__getattribute__ is object.__getattribute__
        )


def is_plain(scope):
    """Tell whether compiled code may access the attributes of a scope without asking its class."""
    return is_plain_scope(scope)


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


# -- results ---------------------------------------------------------------------------------------------------------

cdef class Settled:
    """Tells which results need no copy. The class of the last one is remembered."""

    def __init__(self, frozen, copied):
        self.frozen, self.copied = frozen, copied


include "_formulas.pxi"


# -- timers ----------------------------------------------------------------------------------------------------------

cdef inline bint _before(Waiting* one, Waiting* other) noexcept nogil:
    return one.time < other.time or (one.time == other.time and one.number < other.number)


cdef class Heap:
    """Timers with their numbers, the first of which can be taken out: the one with the lowest time, then number."""

    def __dealloc__(self):
        cdef Py_ssize_t i
        for i in range(self.size):
            Py_DECREF(<object>self.entries[i].timer)
        PyMem_Free(self.entries)

    cdef int push(self, int64_t number, tuple timer) except -1:
        """Add a timer, unless its time is beyond 64 bits: it never fires."""
        cdef Waiting added
        cdef Py_ssize_t at, above
        cdef int overflow = 0
        cdef Waiting* larger
        added.time = PyLong_AsLongLongAndOverflow(<object>PyTuple_GET_ITEM(timer, 0), &overflow)
        if overflow > 0:
            return 0
        if overflow:
            added.time = INT64_MIN
        if self.size == self.room:
            larger = <Waiting*>PyMem_Realloc(self.entries, (2 * self.room + 64) * sizeof(Waiting))
            if larger == NULL:
                raise MemoryError
            self.entries, self.room = larger, 2 * self.room + 64
        added.number = number
        added.timer = <PyObject*>timer
        Py_INCREF(timer)
        at = self.size
        self.size += 1
        while at:
            above = (at - 1) // 2
            if not _before(&added, &self.entries[above]):
                break
            self.entries[at] = self.entries[above]
            at = above
        self.entries[at] = added
        return 0

    cdef bint is_due(self, int64_t limit):
        return self.size and self.entries[0].time <= limit

    cdef int64_t first_number(self):
        return self.entries[0].number

    cdef tuple first(self):
        return <tuple>self.entries[0].timer

    cdef tuple pop(self):
        cdef Waiting moved
        cdef Py_ssize_t at = 0, below = 1
        timer = <tuple>self.entries[0].timer
        Py_DECREF(timer)
        self.size -= 1
        moved = self.entries[self.size]
        while below < self.size:
            if below + 1 < self.size and _before(&self.entries[below + 1], &self.entries[below]):
                below += 1
            if not _before(&self.entries[below], &moved):
                break
            self.entries[at] = self.entries[below]
            at = below
            below = 2 * at + 1
        self.entries[at] = moved
        return timer
