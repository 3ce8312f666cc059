# cython: language_level=3, binding=False, boundscheck=False, wraparound=False
"""Values of tables: numbers read from text, and times made and shown, for the code that is generated for a query."""

from cpython.datetime cimport (
    PyDateTime_CheckExact, datetime_day, datetime_hour, datetime_minute, datetime_month, datetime_second,
    datetime_year,
)
from cpython.unicode cimport PyUnicode_CheckExact
from libc.stdint cimport int64_t, uint8_t
from libc.string cimport memchr, memcmp

include "_moments.pxi"

cdef extern from "Python.h":
    object PyTuple_New(Py_ssize_t)
    void Py_INCREF(object)
    void PyTuple_SET_ITEM(object, Py_ssize_t, object)
    object PyUnicode_Substring(object, Py_ssize_t, Py_ssize_t)
    Py_ssize_t PyUnicode_GET_LENGTH(object)
    bint PyUnicode_IS_COMPACT_ASCII(object)
    const uint8_t* PyUnicode_1BYTE_DATA(object)
    object PyUnicode_FromStringAndSize(const char*, Py_ssize_t)

cdef enum:
    LONGEST = 18  # digits that are less than 2 ** 63
    LONGEST_PATTERN = 64
    MOST_FIELDS = 32

cdef object last_shown = ""
cdef int64_t BEFORE = 62162035200000000  # microseconds from March 1st of the year 0 to 1970


def plain_integer(text, int bits):
    """Return the number of a text of digits, perhaps behind a minus; None for another text, or more bits."""
    if not PyUnicode_CheckExact(text) or not PyUnicode_IS_COMPACT_ASCII(text):
        return None
    return _integer(PyUnicode_1BYTE_DATA(text), PyUnicode_GET_LENGTH(text), bits)


cdef inline _integer(const uint8_t* digits, Py_ssize_t size, int bits):
    cdef Py_ssize_t i = 0
    cdef int64_t number = 0
    cdef uint8_t digit
    cdef bint negative = size > 1 and digits[0] == c"-"
    if negative:
        i = 1
    if not 0 < size - i <= LONGEST:
        return None
    while i < size:
        digit = digits[i] - c"0"
        if digit > 9:
            return None
        number = 10 * number + digit
        i += 1
    if negative:
        number = -number
    return number if number >> (bits - 1) == number >> 63 else None


cdef class FieldReader:
    """Returns what ``field_reader`` of Python code does, and reads a text in ASCII once, up to the last field."""

    cdef object plain, nulls
    cdef uint8_t separator
    cdef int count
    cdef int[MOST_FIELDS] positions, bits, places

    def __init__(self, str separator, wanted, plain):
        cdef int i
        if len(separator) != 1 or not separator.isascii() or len(wanted) > MOST_FIELDS:
            raise ValueError("only fields between single characters in ASCII")
        self.plain = plain
        self.separator = ord(separator)
        self.count = len(wanted)
        self.nulls = (None,) * self.count
        for i, place in enumerate(sorted(range(self.count), key=wanted.__getitem__)):
            self.positions[i], self.bits[i] = wanted[place]
            self.places[i] = place

    def __call__(self, text):
        cdef const uint8_t* data
        cdef const uint8_t* found
        cdef Py_ssize_t size, start = 0, end = -1
        cdef int i, position = 0
        if text is None:
            return self.nulls
        if not PyUnicode_CheckExact(text) or not PyUnicode_IS_COMPACT_ASCII(text):
            return self.plain(text)
        size = PyUnicode_GET_LENGTH(text)
        if size == 0:
            return self.nulls
        data = PyUnicode_1BYTE_DATA(text)
        fields = PyTuple_New(self.count)
        for i in range(self.count):
            while start <= size and (end < 0 or position < self.positions[i]):
                if end >= 0:
                    start, end = end + 1, -1
                    position += 1
                if start <= size:
                    found = <const uint8_t*>memchr(data + start, self.separator, size - start)
                    end = size if found == NULL else found - data
            value = None
            if start <= size:
                if self.bits[i]:
                    value = _integer(data + start, end - start, self.bits[i])
                if value is None:
                    value = PyUnicode_Substring(text, start, end)
            Py_INCREF(value)
            PyTuple_SET_ITEM(fields, self.places[i], value)
        return fields


def moment_of(int64_t ms):
    """Return the datetime of ms since 1970, from the year 1 to 9999."""
    return _moment(ms * 1000 + BEFORE)


def show_fields(moment, pattern):
    """Return the year, month, day, hour, minute and second that a pattern of these alone has; None for other values."""
    cdef Py_ssize_t size, i = 0, run
    cdef const uint8_t* letters
    cdef char[LONGEST_PATTERN] shown
    cdef uint8_t letter
    global last_shown
    cdef int part
    if not PyDateTime_CheckExact(moment) or not PyUnicode_IS_COMPACT_ASCII(pattern):
        return None
    size = PyUnicode_GET_LENGTH(pattern)
    letters = PyUnicode_1BYTE_DATA(pattern)
    if size > LONGEST_PATTERN:
        return None
    while i < size:
        letter = letters[i]
        if letter == c"y":
            part, run = datetime_year(moment), 4
        elif letter == c"M":
            part, run = datetime_month(moment), 2
        elif letter == c"d":
            part, run = datetime_day(moment), 2
        elif letter == c"H":
            part, run = datetime_hour(moment), 2
        elif letter == c"m":
            part, run = datetime_minute(moment), 2
        elif letter == c"s":
            part, run = datetime_second(moment), 2
        else:
            shown[i] = <char>letter
            i += 1
            continue
        if i + run > size:
            return None
        i += run
        for back in range(1, run + 1):
            shown[i - back] = <char>(c"0" + part % 10)
            part //= 10
    # Times follow each other closely, and equal texts that are one object are compared and hashed faster.
    if PyUnicode_GET_LENGTH(last_shown) != size or memcmp(PyUnicode_1BYTE_DATA(last_shown), shown, size):
        last_shown = PyUnicode_FromStringAndSize(shown, size)
    return last_shown
