# Reads the columns of a block, whose form flintstream/runtime/exchange/columns.py describes.

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from cpython.object cimport PyObject
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy

from flintstream.compiled._base cimport HEAD, LISTS, MOST_FIELDS, SCALARS, TUPLES

cdef extern from "Python.h":
    object PyUnicode_DecodeUTF8(const char*, Py_ssize_t, const char*)

include "_moments.pxi"

cdef struct Head:
    int shape
    int fields
    int stamped
    Py_ssize_t rows

cdef struct Reading:
    char kind
    int width
    int64_t lowest
    const char* numbers
    const char* texts
    int64_t left  # bytes of strings


cdef const char* _open(Reading* column, const char* at, const char* end, Py_ssize_t rows) except NULL:
    """Find the parts of a column, and return where it ends."""
    cdef Py_ssize_t size = end - at
    column.kind = at[0] if size else 0
    if column.kind not in (c"d", c"q", c"s", c"t", c"n", c"b") or size < (1 + 8 * rows if column.kind == c"d" else 10):
        raise ValueError("a damaged block")
    if column.kind == c"d":
        column.numbers = at + 1
        return at + 1 + 8 * rows
    column.width = at[1]
    if not 0 <= column.width <= 8:
        raise ValueError("a damaged block")
    memcpy(&column.lowest, at + 2, 8)
    column.numbers = at + 10
    size -= 10 + column.width * rows
    at += 10 + column.width * rows
    if size < 0:
        raise ValueError("a damaged block")
    if column.kind == c"s":
        if size < 8:
            raise ValueError("a damaged block")
        memcpy(&column.left, at, 8)
        if not 0 <= column.left <= size - 8:
            raise ValueError("a damaged block")
        column.texts = at + 8
        at += 8 + column.left
    return at


cdef inline int64_t _number(Reading* column, Py_ssize_t row) noexcept nogil:
    cdef uint64_t above = 0
    if column.width == 1:
        above = (<const uint8_t*>column.numbers)[row]
    elif column.width == 2:
        memcpy(&above, column.numbers + 2 * row, 2)
    elif column.width == 4:
        memcpy(&above, column.numbers + 4 * row, 4)
    elif column.width == 8:
        memcpy(&above, column.numbers + 8 * row, 8)
    return <int64_t>(<uint64_t>column.lowest + above)


cdef inline double _real(Reading* column, Py_ssize_t row) noexcept nogil:
    cdef double real
    memcpy(&real, column.numbers + 8 * row, 8)
    return real


cdef bytes _open_all(bytes payload, Head* head, Reading* columns):
    """Find the columns of a block, those of its fields and that of its timestamps, and return its rest."""
    cdef const char* at = PyBytes_AS_STRING(payload)
    cdef const char* end = at + PyBytes_GET_SIZE(payload)
    cdef uint32_t numbers[3]
    cdef int i
    if end - at < HEAD:
        raise ValueError("a damaged block")
    head.shape, head.fields, head.stamped = at[1], <uint8_t>at[2], at[3]
    memcpy(numbers, at + 4, 12)
    if (
        not 1 <= head.fields <= MOST_FIELDS or not 0 <= head.stamped <= 1
        or end - at < HEAD + <Py_ssize_t>numbers[1]
    ):
        raise ValueError("a damaged block")
    head.rows = numbers[0]
    at += HEAD + numbers[1]
    for i in range(head.fields + head.stamped):
        at = _open(&columns[i], at, end, head.rows)
    return payload[HEAD : HEAD + numbers[1]]
