# cython: language_level=3, binding=False, boundscheck=False, wraparound=False
"""Loops over the records of a block on their way through an exchange; see the package for what they replace."""

cimport cython
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.datetime cimport (
    datetime, datetime_day, datetime_fold, datetime_hour, datetime_microsecond, datetime_minute, datetime_month,
    datetime_second, datetime_tzinfo, datetime_year, import_datetime,
)
from cpython.float cimport PyFloat_AS_DOUBLE, PyFloat_CheckExact
from cpython.list cimport PyList_Append, PyList_CheckExact, PyList_GET_ITEM, PyList_GET_SIZE
from cpython.dict cimport PyDict_GetItemWithError
from cpython.long cimport PyLong_CheckExact
from cpython.mem cimport PyMem_Free, PyMem_Malloc
from cpython.object cimport PyObject
from cpython.tuple cimport PyTuple_CheckExact, PyTuple_GET_ITEM, PyTuple_GET_SIZE
from cpython.unicode cimport PyUnicode_CheckExact
from libc.stdint cimport INT64_MIN, int64_t, uint8_t, uint64_t
from libc.string cimport memcpy

from flintstream.compiled._base cimport HEAD, LISTS, MAGIC, MOST_FIELDS, SCALARS, TUPLES, select

cdef extern from "Python.h":
    long long PyLong_AsLongLongAndOverflow(object, int*) except? -1
    const char* PyUnicode_AsUTF8AndSize(object, Py_ssize_t*)
    Py_ssize_t PyUnicode_GET_LENGTH(object)
    void PyErr_Clear()
    Py_ssize_t Py_SIZE(PyObject*)
    PyObject** PySequence_Fast_ITEMS(object)
    object PyList_New(Py_ssize_t)
    void PyList_SET_ITEM(object, Py_ssize_t, object)
    void Py_INCREF(object)

include "_hashes.pxi"
import_datetime()

cdef int64_t DAY = 86400000000  # in microseconds
cdef int64_t BEFORE = 719468 * DAY  # from March 1st of the year 0 to 1970


# -- types -----------------------------------------------------------------------------------------------------------

cdef bint _fits(object value, char kind) except -1:
    """Tell whether a value needs no conversion to a basic type."""
    cdef int overflow = 0, bits = 64 if kind == c"q" else 32 if kind == c"i" else 16 if kind == c"h" else 8
    cdef int64_t number
    if kind == c"q" or kind == c"i" or kind == c"h" or kind == c"b":
        if not PyLong_CheckExact(value):
            return False
        number = PyLong_AsLongLongAndOverflow(value, &overflow)
        return not overflow and number >> (bits - 1) == number >> 63
    if kind == c"s":
        return PyUnicode_CheckExact(value) or value is None
    if kind == c"d":
        return PyFloat_CheckExact(value)
    if kind == c"?":
        return value is True or value is False
    if kind == c"c":
        return PyUnicode_CheckExact(value) and PyUnicode_GET_LENGTH(value) == 1
    return PyLong_CheckExact(value) or value is None  # "n", of any size


def fits(str kinds, object cursor, bint tuples):
    """Tell whether all records at a cursor have a type; stop behind the first one that does not.

    Each letter of ``kinds`` is the kind of a field; without ``tuples``, records are values of the first kind.
    """
    cdef bytes letters = kinds.encode("ascii")
    cdef const char* kind = PyBytes_AS_STRING(letters)
    cdef Py_ssize_t size = PyBytes_GET_SIZE(letters), i
    for value in cursor:
        if tuples and (not PyTuple_CheckExact(value) or PyTuple_GET_SIZE(value) != size):
            return False
        for i in range(size if tuples else 1):
            if not _fits(<object>PyTuple_GET_ITEM(value, i) if tuples else value, kind[i]):
                return False
    return True


# -- columns of tuples -----------------------------------------------------------------------------------------------

def columns_of(list values not None):
    """Return the columns of tuples as lists; None unless all values are tuples of the same length."""
    cdef Py_ssize_t row, rows = PyList_GET_SIZE(values), field, fields
    cdef PyObject* value
    cdef PyObject* item
    if not rows or not PyTuple_CheckExact(<object>PyList_GET_ITEM(values, 0)):
        return None
    fields = PyTuple_GET_SIZE(<object>PyList_GET_ITEM(values, 0))
    cdef list columns = [PyList_New(rows) for _ in range(fields)]
    for row in range(rows):
        value = PyList_GET_ITEM(values, row)
        if not PyTuple_CheckExact(<object>value) or PyTuple_GET_SIZE(<object>value) != fields:
            return None
        for field in range(fields):
            item = PyTuple_GET_ITEM(<object>value, field)
            Py_INCREF(<object>item)
            PyList_SET_ITEM(<object>PyList_GET_ITEM(columns, field), row, <object>item)
    return columns


# -- timestamps ------------------------------------------------------------------------------------------------------

def stamps_of(list values, Py_ssize_t field):
    """Return a field of all tuples and the highest of them; None unless all are whole numbers of 64 bits."""
    cdef Py_ssize_t row, rows = PyList_GET_SIZE(values), at
    cdef int64_t highest = INT64_MIN, number
    cdef int overflow = 0
    cdef list stamps = []
    for row in range(rows):
        value = <object>PyList_GET_ITEM(values, row)
        if not PyTuple_CheckExact(value):
            return None
        at = field if field >= 0 else field + PyTuple_GET_SIZE(value)
        if not 0 <= at < PyTuple_GET_SIZE(value):
            return None
        stamp = <object>PyTuple_GET_ITEM(value, at)
        if not PyLong_CheckExact(stamp):
            return None
        number = PyLong_AsLongLongAndOverflow(stamp, &overflow)
        if overflow:
            return None
        if number > highest:
            highest = number
        PyList_Append(stamps, stamp)
    return stamps, highest


# -- routes ----------------------------------------------------------------------------------------------------------

cdef inline int64_t _micros(object moment):
    """Return microseconds; see ``_moment`` of ``_columns.pxi``, which reverses this."""
    cdef int64_t year = datetime_year(moment), month = datetime_month(moment), days
    if month < 3:
        year, month = year - 1, month + 12
    days = 365 * year + year // 4 - year // 100 + year // 400 + (153 * month - 457) // 5 + datetime_day(moment) - 1
    days = (days * 24 + datetime_hour(moment)) * 60 + datetime_minute(moment)
    return (days * 60 + datetime_second(moment)) * 1000000 + datetime_microsecond(moment)


cdef bint _hash_part(object key, uint32_t* hashed) except -1:
    """Give the hash of a string, None, a whole number from 0, or a datetime since 1970; return whether it is one."""
    cdef int overflow = 0
    cdef int64_t micros
    cdef Py_ssize_t length = 0
    cdef long long whole
    cdef const char* text
    if PyLong_CheckExact(key):
        whole = PyLong_AsLongLongAndOverflow(key, &overflow)
        if overflow or not 0 <= whole < 0x1FFFFFFFFFFFFFFF:  # from here on, Python hashes a number as another one
            return False
        hashed[0] = <uint32_t>(<uint64_t>whole * MIX >> 32) & 0x7FFFFFFF
        return True
    if key is None:
        hashed[0] = 0
        return True
    if type(key) is datetime:
        micros = _micros(key) - BEFORE
        if micros < 0 or datetime_tzinfo(key) is not None:
            return False
        hashed[0] = _hash_numbers(micros // DAY, micros % DAY // 1000000, micros % 1000000)
        return True
    if not PyUnicode_CheckExact(key):
        return False
    text = PyUnicode_AsUTF8AndSize(key, &length)
    if text == NULL:
        PyErr_Clear()
        return False
    hashed[0] = crc_of(text, length) & 0x7FFFFFFF
    return True


cdef inline uint32_t _hash_numbers(uint64_t first, uint64_t second, uint64_t third) noexcept:
    """Return the hash of a tuple of numbers that are not negative."""
    cdef uint64_t mixed = 17
    mixed = (mixed * 31 + (first * MIX >> 32 & 0x7FFFFFFF)) & 0x7FFFFFFF
    mixed = (mixed * 31 + (second * MIX >> 32 & 0x7FFFFFFF)) & 0x7FFFFFFF
    mixed = (mixed * 31 + (third * MIX >> 32 & 0x7FFFFFFF)) & 0x7FFFFFFF
    return <uint32_t>(mixed * MIX >> 32) & 0x7FFFFFFF


cdef bint _hash_tuple(object key, uint32_t* hashed) except -1:
    """Give the hash of a tuple of such keys, as ``stable_hash`` does; return whether it is one."""
    cdef uint64_t mixed = 17
    cdef uint32_t part = 0
    cdef Py_ssize_t i
    for i in range(PyTuple_GET_SIZE(key)):
        if not _hash_part(<object>PyTuple_GET_ITEM(key, i), &part):
            return False
        mixed = (mixed * 31 + part) & 0x7FFFFFFF
    hashed[0] = <uint32_t>(mixed * MIX >> 32) & 0x7FFFFFFF
    return True


def route(object cursor, list timestamps, object selector, Py_ssize_t field, dict known, object find, list by_group,
          uint64_t below, bint strings, bint tuples):
    """Append each record, and its timestamp, to the buffer of its key: see ``route_in_buckets``, with one bucket."""
    route_in_buckets(cursor, timestamps, selector, field, known, find, by_group, below, strings, tuples, 1)


cdef inline PyObject* _buffer(list by_group, uint32_t hashed, uint32_t groups, uint32_t buckets) noexcept:
    return PyList_GET_ITEM(by_group, hashed % groups * buckets + (hashed >> 7) % buckets)


cpdef route_in_buckets(
    object cursor, list timestamps, object selector, Py_ssize_t field, dict known, object find, list by_group,
    uint64_t below, bint strings, bint tuples, uint32_t buckets,
):
    """Append each record, and its timestamp, to the buffer of its key.

    Whole numbers from 0 to ``below`` belong to the key group that the formula of :mod:`flintstream.runtime.keys` gives,
    and so do strings and tuples of both and of times, if ``strings`` and ``tuples`` say so. ``by_group`` has the buffers
    of each group, one for each bucket, ``known`` those of other keys, and ``find(key)`` adds one. A buffer is a pair of
    lists, the second of which is None without timestamps.
    """
    cdef uint32_t groups = <uint32_t>len(by_group) // buckets, number
    cdef int overflow = 0
    cdef PyObject* buffer
    cdef Py_ssize_t position = 0, length = 0
    cdef const char* text
    cdef long long whole
    for value in cursor:
        if timestamps is not None and position >= PyList_GET_SIZE(timestamps):
            break
        key = select(selector, field, value)
        buffer = NULL
        if PyLong_CheckExact(key):
            whole = PyLong_AsLongLongAndOverflow(key, &overflow)
            if not overflow and 0 <= whole and <uint64_t>whole < below:
                number = <uint32_t>(<uint64_t>whole * MIX >> 32)
                buffer = _buffer(by_group, number & 0x7FFFFFFF, groups, buckets)
        elif strings and PyUnicode_CheckExact(key):
            text = PyUnicode_AsUTF8AndSize(key, &length)
            if text == NULL:
                PyErr_Clear()
            else:
                buffer = _buffer(by_group, crc_of(text, length) & 0x7FFFFFFF, groups, buckets)
        elif tuples and PyTuple_CheckExact(key) and _hash_tuple(key, &number):
            buffer = _buffer(by_group, number, groups, buckets)
        if buffer == NULL:
            buffer = PyDict_GetItemWithError(known, key)
            if buffer == NULL:
                found_now = find(key)
                buffer = <PyObject*>found_now
        PyList_Append(<list>PyTuple_GET_ITEM(<object>buffer, 0), value)
        if timestamps is not None:
            PyList_Append(<list>PyTuple_GET_ITEM(<object>buffer, 1), <object>PyList_GET_ITEM(timestamps, position))
            position += 1


# -- blocks ----------------------------------------------------------------------------------------------------------

cdef struct Column:
    char kind
    int64_t* numbers  # whole numbers, the bits of floats, microseconds, or the lengths of strings
    const char** texts
    int64_t lowest
    int width
    size_t bytes  # of strings


cdef inline int _width(int64_t lowest, int64_t highest) noexcept nogil:
    cdef uint64_t spread = <uint64_t>highest - <uint64_t>lowest
    if spread <= 0xFFFF:
        return 0 if spread == 0 else 1 if spread <= 0xFF else 2
    return 4 if spread <= <uint64_t>0xFFFFFFFF else 8


cdef bint _take(Column* column, Py_ssize_t row, object value) except -1:
    """Put a value into a column, unless it is of another kind."""
    cdef int overflow = 0
    cdef Py_ssize_t length = 0
    cdef double real
    if column.kind == c"q":
        if not PyLong_CheckExact(value):
            return False
        column.numbers[row] = PyLong_AsLongLongAndOverflow(value, &overflow)
        return not overflow
    if column.kind == c"s":
        if not PyUnicode_CheckExact(value):
            return False
        column.texts[row] = PyUnicode_AsUTF8AndSize(value, &length)
        if column.texts[row] == NULL:  # a lone surrogate
            PyErr_Clear()
            return False
        column.numbers[row] = length
        column.bytes += length
        return True
    if column.kind == c"n":
        column.numbers[row] = 0
        return value is None
    if column.kind == c"b":
        column.numbers[row] = value is True
        return value is True or value is False
    if column.kind == c"t":
        if type(value) is not datetime or datetime_tzinfo(value) is not None or datetime_fold(value):
            return False
        column.numbers[row] = _micros(value)
        return True
    if not PyFloat_CheckExact(value):
        return False
    real = PyFloat_AS_DOUBLE(value)
    memcpy(&column.numbers[row], &real, 8)
    return True


cdef char _kind(object value):
    if PyLong_CheckExact(value):
        return c"q"
    if PyUnicode_CheckExact(value):
        return c"s"
    if value is None:
        return c"n"
    if value is True or value is False:
        return c"b"
    return c"d" if PyFloat_CheckExact(value) else c"t" if type(value) is datetime else 0


cdef bint _fill(Column* columns, int fields, int shape, list values) except -1:
    """Put the fields of all records into columns, if they have the kinds of the first record."""
    cdef Py_ssize_t row
    cdef PyObject* value
    cdef PyObject** items = &value
    cdef int i
    for row in range(PyList_GET_SIZE(values)):
        value = PyList_GET_ITEM(values, row)
        if shape != SCALARS:
            if type(<object>value) is not (tuple if shape == TUPLES else list) or Py_SIZE(value) != fields:
                return False
            items = PySequence_Fast_ITEMS(<object>value)
        for i in range(fields):
            if not _take(&columns[i], row, <object>items[i]):
                return False
    return True


cdef size_t _measure(Column* column, Py_ssize_t rows) noexcept nogil:
    """Choose the width of a column, and return its bytes."""
    cdef Py_ssize_t row
    cdef int64_t number, lowest, highest
    if column.kind == c"d":
        return 1 + 8 * rows
    lowest = highest = column.numbers[0]
    for row in range(1, rows):
        number = column.numbers[row]
        if number < lowest:
            lowest = number
        if number > highest:
            highest = number
    column.lowest = lowest
    column.width = _width(lowest, highest)
    return 10 + column.width * rows + (8 + column.bytes if column.kind == c"s" else 0)


cdef char* _write(Column* column, Py_ssize_t rows, char* to) noexcept nogil:
    """Write a column, and return where it ends."""
    cdef Py_ssize_t row
    cdef uint64_t lowest = <uint64_t>column.lowest, above
    to[0] = column.kind
    to += 1
    if column.kind == c"d":
        memcpy(to, column.numbers, 8 * rows)
        return to + 8 * rows
    to[0] = <char>column.width
    memcpy(to + 1, &column.lowest, 8)
    to += 9
    if column.width == 1:
        for row in range(rows):
            (<uint8_t*>to)[row] = <uint8_t>(<uint64_t>column.numbers[row] - lowest)
    elif column.width == 2:
        for row in range(rows):
            above = <uint64_t>column.numbers[row] - lowest
            memcpy(to + 2 * row, &above, 2)
    elif column.width == 4:
        for row in range(rows):
            above = <uint64_t>column.numbers[row] - lowest
            memcpy(to + 4 * row, &above, 4)
    elif column.width == 8:
        for row in range(rows):
            above = <uint64_t>column.numbers[row] - lowest
            memcpy(to + 8 * row, &above, 8)
    to += column.width * rows
    if column.kind == c"s":
        memcpy(to, &column.bytes, 8)
        to += 8
        for row in range(rows):
            memcpy(to, column.texts[row], column.numbers[row])
            to += column.numbers[row]
    return to


def pack(list values, list timestamps, bytes rest):
    """Return the columns of a block behind ``rest``; None if its records are not all of one flat kind."""
    cdef Py_ssize_t rows = PyList_GET_SIZE(values), row
    cdef Py_ssize_t head = HEAD + PyBytes_GET_SIZE(rest)
    cdef Column[MOST_FIELDS + 1] columns
    cdef int shape, fields, used, i
    cdef size_t total
    cdef char* to
    cdef char* memory
    cdef uint32_t numbers[3]
    if not rows or rows > 0x7FFFFFFF:
        return None
    first = <object>PyList_GET_ITEM(values, 0)
    shape = TUPLES if PyTuple_CheckExact(first) else LISTS if PyList_CheckExact(first) else SCALARS
    fields = 1 if shape == SCALARS else <int>min(len(first), MOST_FIELDS + 1)
    if not fields or fields > MOST_FIELDS:
        return None
    for i in range(fields):
        columns[i].kind = _kind(first if shape == SCALARS else first[i])
        if not columns[i].kind:
            return None
    used = fields
    if timestamps is not None:
        columns[used].kind = c"q"
        used += 1
    memory = <char*>PyMem_Malloc(2 * used * rows * 8)
    if memory == NULL:
        raise MemoryError
    try:
        for i in range(used):
            columns[i].numbers = <int64_t*>(memory + 2 * i * rows * 8)
            columns[i].texts = <const char**>(memory + (2 * i + 1) * rows * 8)
            columns[i].bytes = 0
        if not _fill(columns, fields, shape, values):
            return None
        if timestamps is not None and not (
            PyList_GET_SIZE(timestamps) == rows and _fill(&columns[fields], 1, SCALARS, timestamps)
        ):
            return None
        total = head
        for i in range(used):
            total += _measure(&columns[i], rows)
        payload = PyBytes_FromStringAndSize(NULL, total)
        to = PyBytes_AS_STRING(payload)
        to[0], to[1], to[2], to[3] = <char>MAGIC, <char>shape, <char>fields, <char>(used - fields)
        numbers[0], numbers[1], numbers[2] = <uint32_t>rows, <uint32_t>PyBytes_GET_SIZE(rest), 0
        memcpy(to + 4, numbers, 12)
        memcpy(to + HEAD, PyBytes_AS_STRING(rest), PyBytes_GET_SIZE(rest))
        to += head
        for i in range(used):
            to = _write(&columns[i], rows, to)
        return payload
    finally:
        PyMem_Free(memory)


# -- copies ------------------------------------------------------------------------------------------------------------

cdef inline bint _is_atom(object value, object atoms) except -1:
    if value is None or PyUnicode_CheckExact(value) or PyLong_CheckExact(value) or PyFloat_CheckExact(value):
        return True
    return type(value) in atoms


def are_frozen(list values, frozenset atoms):
    """Tell whether all records are of the types ``atoms``, or tuples of such."""
    cdef Py_ssize_t row, i
    for row in range(PyList_GET_SIZE(values)):
        value = <object>PyList_GET_ITEM(values, row)
        if PyTuple_CheckExact(value):
            for i in range(PyTuple_GET_SIZE(value)):
                if not _is_atom(<object>PyTuple_GET_ITEM(value, i), atoms):
                    return False
        elif not _is_atom(value, atoms):
            return False
    return True
