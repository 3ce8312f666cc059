# cython: language_level=3, binding=False, boundscheck=False, wraparound=False
"""The loop of fused functions; see the package for what this replaces."""

from cpython.list cimport PyList_Append, PyList_GET_ITEM, PyList_GET_SIZE

from flintstream.compiled._base cimport Settled, settle

include "_formulas.pxi"

cdef enum:
    LONGEST = 16
    MAP = 0
    FILTER = 1
    FLAT_MAP = 2

_KINDS = {"map": MAP, "filter": FILTER, "flat_map": FLAT_MAP}


cdef class Loop:
    """Calls functions in sequence, each with the results of the previous one."""

    cdef readonly int stage
    """The function that was called last."""
    cdef readonly object record
    """What it was called with."""

    cdef int size
    cdef int kinds[LONGEST]
    cdef Py_ssize_t received[LONGEST]
    cdef list settled, calls, formulas, results

    def __init__(self, methods, settled, copied):
        """Call these methods; where ``settled`` has classes, results of others are copied."""
        cdef int i
        self.size = len(methods)
        for i in range(self.size):
            self.kinds[i] = _KINDS[methods[i]]
        self.settled = [None if classes is None else Settled(classes, copied) for classes in settled]

    def run(self, cursor, list timestamps, list calls, list formulas, list results, list stamps):
        """Gather the results for the records at a cursor, and return how many records each function has received."""
        cdef Py_ssize_t position = 0
        cdef int i
        self.calls, self.results = calls, results
        self.formulas = [_Formula(formula) for formula in formulas]
        for i in range(self.size):
            self.received[i] = 0
        for value in cursor:
            self._pass(0, value)
            if timestamps is not None:
                timestamp = <object>PyList_GET_ITEM(timestamps, position)
                position += 1
                while PyList_GET_SIZE(stamps) < PyList_GET_SIZE(results):
                    PyList_Append(stamps, timestamp)
        self.calls = self.results = self.record = None
        return [self.received[i] for i in range(self.size)]

    cdef int _pass(self, int stage, object record) except -1:
        """Pass a record to a function, and on to those behind it."""
        while stage < self.size:
            self.received[stage] += 1
            self.stage, self.record = stage, record
            call = <object>PyList_GET_ITEM(self.calls, stage)
            if self.kinds[stage] == FILTER:
                if not call(record):
                    return 0
            elif self.kinds[stage] == MAP:
                record = _called_with_one(<_Formula>PyList_GET_ITEM(self.formulas, stage), call, record)
                settled = <object>PyList_GET_ITEM(self.settled, stage)
                if settled is not None:
                    record = settle(<Settled>settled, record)
            else:
                return self._pass_each(stage, call(record), record)
            stage += 1
        PyList_Append(self.results, record)
        return 0

    cdef int _pass_each(self, int stage, object produced, object record) except -1:
        settled = <object>PyList_GET_ITEM(self.settled, stage)
        for result in produced:
            if settled is not None:
                result = settle(<Settled>settled, result)
            self._pass(stage + 1, result)
            self.stage, self.record = stage, record  # the next result is still to be produced
        return 0
