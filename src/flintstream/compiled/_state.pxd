# The types of flintstream/compiled/state.py, with which it is compiled.

cimport cython
from libc.stdint cimport int64_t

from flintstream.compiled._base cimport key_of, lookup, lookup_or, now, now_ms, tracks

cdef int64_t LAST
cdef object _ABSENT
cdef dict _NOTHING


cdef class Access:
    cdef public object _backend, _scope, _table, _values, _reduce, _function, _clock
    cdef public dict _dirty, _noted
    cdef public bint _on_read, _return_expired
    cdef public Py_ssize_t changes
    cdef public int64_t _ttl

    cpdef clear(self)


cdef object read(Access state, object key)
cdef write(Access state, object key, object value)

cdef class ValueAccess(Access): pass
cdef class ReducingAccess(Access): pass
cdef class AggregatingAccess(Access): pass
cdef class ListAccess(Access): pass

@cython.locals(elements=list)
cdef append_to(Access state, object key, object value)

@cython.locals(found=list, place=Py_ssize_t, since=int64_t)
cdef list all_live(list entries, int64_t limit)

@cython.locals(several=dict, pair=tuple)
cpdef note(dict noted, object current, object key, object mark)

@cython.locals(pair=tuple)
cpdef note_removed(dict noted, object current, object key)

cdef int64_t stamp_of(int64_t time) noexcept

@cython.final
@cython.no_gc
cdef class Dated:
    cdef public object value
    cdef int64_t stamp

cdef class MapAccess(Access):
    cpdef get(self, object key)
    @cython.locals(entries=dict, size=Py_ssize_t)
    cpdef put(self, object key, object value)
    @cython.locals(entries=dict)
    cpdef remove(self, object key)

cdef class TtlMapAccess(MapAccess):
    @cython.locals(found=Dated)
    cpdef get(self, object key)
    @cython.locals(entries=dict, found=Dated, fresh=bint, time=int64_t)
    cpdef put(self, object key, object value)

cpdef map_changes(dict values, dict noted, list keys, list found, list deleted)

@cython.locals(found=Dated)
cpdef forget_noted(dict values, dict noted)
