# Timers, a part of _keyed.pyx; see flintstream/runtime/operators/timers.py for what they replace.

cdef enum:
    FEW = 1000  # deleted timers, below which rebuilding the heap is not worthwhile

cdef struct Waiting:
    int64_t time
    int64_t number
    PyObject* timer


cdef inline bint _before(Waiting* one, Waiting* other) noexcept nogil:
    return one.time < other.time or (one.time == other.time and one.number < other.number)


cdef int _sink(Waiting* heap, Py_ssize_t size) noexcept nogil:
    """Move the first entry down until none below it comes before it."""
    cdef Waiting moved = heap[0]
    cdef Py_ssize_t at = 0, below = 1
    while below < size:
        if below + 1 < size and _before(&heap[below + 1], &heap[below]):
            below += 1
        if not _before(&heap[below], &moved):
            break
        heap[at] = heap[below]
        at = below
        below = 2 * at + 1
    heap[at] = moved
    return 0


cdef int _free(Waiting* heap, Py_ssize_t size) except -1:
    cdef Py_ssize_t i
    for i in range(size):
        Py_DECREF(<object>heap[i].timer)
    PyMem_Free(heap)
    return 0


cdef class TimerQueue:
    """The timers of one time domain: at most one per timestamp, key and namespace."""

    cdef readonly dict registered
    cdef readonly set removed
    cdef public bint closing
    cdef object whole_time
    cdef int64_t last, marked
    cdef readonly Py_ssize_t fresh
    cdef Waiting* heap
    cdef Py_ssize_t size, room

    def __cinit__(self):
        self.heap = NULL
        self.size = self.room = 0

    def __init__(self, whole_time):
        """``whole_time(timestamp, namespace)`` returns the time of a timer as a number of 64 bits, or raises."""
        self.whole_time = whole_time
        self.registered, self.removed = {}, set()
        self.last = self.marked = self.fresh = 0
        self.closing = False

    def __dealloc__(self):
        _free(self.heap, self.size)

    def __len__(self):
        return self.size

    cpdef register(self, timestamp, key, namespace=None):
        """Register a timer (ms) unless it exists; check its time."""
        cdef int overflow = 0
        if self.closing:
            return
        if PyLong_CheckExact(timestamp):
            PyLong_AsLongLongAndOverflow(timestamp, &overflow)
            if not overflow:
                self._add((timestamp, key, namespace))
                return
        if (timestamp, key, namespace) not in self.registered:
            self._add((self.whole_time(timestamp, namespace), key, namespace))

    cpdef add(self, timestamp, key, namespace=None):
        """Register a timer (ms) unless it exists, without a check of its time."""
        if not self.closing:
            self._add((timestamp, key, namespace))

    cdef int _add(self, tuple timer) except -1:
        cdef int64_t number = self.last + 1
        cdef object boxed = number
        if <object>PyDict_SetDefault(self.registered, timer, boxed) is not boxed:
            return 0
        self.last = number
        self.fresh += 1
        self._push(timer, number)
        return 0

    cdef int _push(self, tuple timer, int64_t number) except -1:
        cdef Waiting added
        cdef Py_ssize_t at, above
        cdef int overflow = 0
        cdef Waiting* larger
        added.time = PyLong_AsLongLongAndOverflow(<object>PyTuple_GET_ITEM(timer, 0), &overflow)
        if overflow > 0:
            return 0  # it never fires
        if overflow:
            added.time = INT64_MIN
        if self.size == self.room:
            larger = <Waiting*>PyMem_Realloc(self.heap, (2 * self.room + 64) * sizeof(Waiting))
            if larger == NULL:
                raise MemoryError
            self.heap, self.room = larger, 2 * self.room + 64
        added.number = number
        added.timer = <PyObject*>timer
        Py_INCREF(timer)
        at = self.size
        self.size += 1
        while at:
            above = (at - 1) // 2
            if not _before(&added, &self.heap[above]):
                break
            self.heap[at] = self.heap[above]
            at = above
        self.heap[at] = added
        return 0

    cpdef delete(self, timestamp, key, namespace=None):
        """Delete a timer (ms) if it exists."""
        timer = (timestamp, key, namespace)
        number = self.registered.pop(timer, None)
        if number is None:
            if not PyLong_CheckExact(timestamp):  # equal numbers of other types have been found
                self.delete(self.whole_time(timestamp, namespace), key, namespace)
            return
        self._gone(timer, number)
        if self.size > 2 * len(self.registered) + FEW:
            self._compact()

    cdef int _gone(self, timer, int64_t number) except -1:
        if number > self.marked:
            self.fresh -= 1
        else:
            self.removed.add(timer)
        return 0

    cdef int _compact(self) except -1:
        cdef Waiting* old = self.heap
        cdef Py_ssize_t size = self.size
        self.heap, self.size, self.room = NULL, 0, 0
        try:
            for timer, number in self.registered.items():
                self._push(timer, number)
        finally:
            _free(old, size)  # may run code of a user's key, so last
        return 0

    cdef tuple _pop(self):
        timer = <tuple>self.heap[0].timer
        Py_DECREF(timer)
        self.size -= 1
        self.heap[0] = self.heap[self.size]
        if self.size > 1:
            _sink(self.heap, self.size)
        return timer

    cdef bint _has(self, tuple timer, int64_t number) except -1:
        cdef PyObject* found = PyDict_GetItemWithError(self.registered, timer)
        return found != NULL and <int64_t><object>found == number

    def due(self, int64_t limit):
        """Remove and yield the timers up to ``limit`` (ms) in time order, including timers added during the iteration."""
        cdef int64_t number
        while self.size and self.heap[0].time <= limit:
            number = self.heap[0].number
            timer = self._pop()
            if self._has(timer, number):
                del self.registered[timer]
                self._gone(timer, number)
                yield timer

    def next_time(self):
        """Return the time of the next timer (ms), or None if there is no timer."""
        while self.size:
            timer = <tuple>self.heap[0].timer
            if self._has(timer, self.heap[0].number):
                return timer[0]
            self._pop()
        return None

    def mark(self):
        """Count changes from here."""
        self.marked = self.last
        self.fresh = 0
        self.removed.clear()

    def clear(self):
        """Delete all timers."""
        self._empty()
        self.registered.clear()
        self.fresh = 0
        self.removed.clear()

    cdef int _empty(self) except -1:
        cdef Waiting* old = self.heap
        cdef Py_ssize_t size = self.size
        self.heap, self.size, self.room = NULL, 0, 0
        _free(old, size)
        return 0


cdef class TimerAccess:
    """Registers timers for the current key."""

    cdef public object _state, _timers
    cdef TimerQueue event, processing

    def __init__(self, state, timers):
        """Take the state and the timers of the operator."""
        self._state, self._timers = state, timers
        self.event, self.processing = timers.event, timers.processing

    def register_processing_time_timer(self, timestamp):
        """Register a timer on the worker's clock (ms since the epoch)."""
        self.processing.register(timestamp, key_of(self._state))

    def register_event_time_timer(self, timestamp):
        """Register a timer that fires when the watermark reaches ``timestamp`` (ms)."""
        self.event.register(timestamp, key_of(self._state))

    def delete_processing_time_timer(self, timestamp):
        """Delete a processing-time timer."""
        self.processing.delete(timestamp, key_of(self._state))

    def delete_event_time_timer(self, timestamp):
        """Delete an event-time timer."""
        self.event.delete(timestamp, key_of(self._state))
