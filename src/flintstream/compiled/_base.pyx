# cython: language_level=3, binding=False, boundscheck=False, wraparound=False
"""What the loops use and Python has in another form; see the package."""

from cpython.ref cimport Py_DECREF
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
