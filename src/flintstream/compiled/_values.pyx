# cython: language_level=3, binding=False, boundscheck=False, wraparound=False
"""Values of tables: numbers read from text, and times made and shown, for the code that is generated for a query."""

from cpython.datetime cimport (
    PyDateTime_CheckExact, datetime_day, datetime_hour, datetime_minute, datetime_month, datetime_second,
    datetime_year,
)
from cpython.object cimport PyObject
from cpython.unicode cimport PyUnicode_CheckExact
from libc.stdint cimport int64_t, uint8_t
from libc.string cimport memchr, memcmp

include "_moments.pxi"

cdef extern from "Python.h":
    bint PyTuple_CheckExact(object)
    PyObject* PyTuple_GET_ITEM(object, Py_ssize_t)
    Py_ssize_t PyTuple_GET_SIZE(object)
    object PyTuple_New(Py_ssize_t)
    void PyObject_GC_UnTrack(void*)
    void Py_INCREF(object)
    void Py_DECREF(object)
    void PyTuple_SET_ITEM(object, Py_ssize_t, object)
    object PyUnicode_Substring(object, Py_ssize_t, Py_ssize_t)
    Py_ssize_t PyUnicode_GET_LENGTH(object)
    int PyUnicode_Tailmatch(object, object, Py_ssize_t, Py_ssize_t, int) except -1
    bint PyUnicode_IS_COMPACT_ASCII(object)
    const uint8_t* PyUnicode_1BYTE_DATA(object)
    object PyUnicode_FromStringAndSize(const char*, Py_ssize_t)

cdef enum:
    LONGEST = 18  # digits that are less than 2 ** 63
    LONGEST_PATTERN = 64
    MOST_FIELDS = 32

cdef object last_shown = ""
cdef int64_t FIRST_MS = -62135596800000, LAST_MS = 253402300799999  # of the years that datetimes have
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
        if text is None:
            return self.nulls
        if not PyUnicode_CheckExact(text) or not PyUnicode_IS_COMPACT_ASCII(text):
            return self.plain(text)
        if PyUnicode_GET_LENGTH(text) == 0:
            return self.nulls
        fields = PyTuple_New(self.count)
        self.fill(text, fields, None)
        return fields

    cdef int fill(self, text, fields, parse) except -1:
        """Put the fields of a text in ASCII in their places of a new tuple.

        ``parse`` makes the number of one that is not plain, if it is not None.
        """
        cdef const uint8_t* data = PyUnicode_1BYTE_DATA(text)
        cdef const uint8_t* found
        cdef Py_ssize_t size = PyUnicode_GET_LENGTH(text), start = 0, end = -1
        cdef int i, position = 0
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
                    if self.bits[i] and parse is not None:
                        value = parse(value, self.bits[i])
            Py_INCREF(value)
            PyTuple_SET_ITEM(fields, self.places[i], value)
        return 0


cdef class FieldRows:
    """Makes rows of fields of a text of each record, as ``FieldRows`` of Python code describes them."""

    cdef FieldReader reader
    cdef list kept, wanted, moments
    cdef object prefix, parse
    cdef bint plain_prefix, single, bounded, flat
    cdef Py_ssize_t column, width
    cdef int64_t lowest, highest

    def __init__(
        self, str separator, wanted, places, kept, Py_ssize_t column, prefix, bounds, bint single, plain, parse,
        moments=(),
    ):
        cdef int i
        self.reader = FieldReader(separator, wanted, plain)
        for i in range(self.reader.count):
            self.reader.places[i] = places[self.reader.places[i]]
        self.wanted = [(place, bits) for place, (_, bits) in zip(places, wanted)]
        self.kept, self.column, self.prefix, self.parse = list(kept), column, prefix, parse
        self.plain_prefix = prefix is not None and PyUnicode_IS_COMPACT_ASCII(prefix)
        self.width = len(places) + len(kept)
        self.moments = list(moments)
        self.single = single
        self.flat = not any(place >= 0 for _, place, _ in kept)
        self.bounded = bounds is not None
        if self.bounded:
            self.lowest, self.highest = bounds

    cdef bint _is_wanted(self, text) except -1:
        cdef Py_ssize_t size
        if text is None:
            return False
        if self.plain_prefix and PyUnicode_IS_COMPACT_ASCII(text):
            size = PyUnicode_GET_LENGTH(self.prefix)
            if PyUnicode_GET_LENGTH(text) < size:
                return False
            return memcmp(PyUnicode_1BYTE_DATA(text), PyUnicode_1BYTE_DATA(self.prefix), size) == 0
        return PyUnicode_Tailmatch(text, self.prefix, 0, PyUnicode_GET_LENGTH(text), -1) == 1

    cdef _fields_of(self, text):
        cdef Py_ssize_t place
        cdef int bits
        fields = PyTuple_New(self.width)
        if text is not None and PyUnicode_IS_COMPACT_ASCII(text) and PyUnicode_GET_LENGTH(text):
            self.reader.fill(text, fields, self.parse)
            return fields
        found = self.reader.nulls if text is None else self.reader.plain(text)
        for value, (place, bits) in zip(found, self.wanted):
            if bits and type(value) is str:
                value = self.parse(value, bits)
            Py_INCREF(value)
            PyTuple_SET_ITEM(fields, place, value)
        return fields

    cdef int _show_moments(self, fields) except -1:
        """Put the times in the places of the numbers that are ms since 1970; those of other years are None."""
        cdef Py_ssize_t place
        cdef int64_t ms
        for place in self.moments:
            number = <object>PyTuple_GET_ITEM(fields, place)
            if number is None:
                continue
            ms = number
            moment = _moment(ms * 1000 + BEFORE) if FIRST_MS <= ms <= LAST_MS else None
            Py_INCREF(moment)
            PyTuple_SET_ITEM(fields, place, moment)
            Py_DECREF(number)
        return 0

    def rows(self, list records, list times):
        """Return the rows of records that have the prefix, and their times if there are some."""
        cdef list found = [], stamps = []
        cdef Py_ssize_t i, place, column
        for i in range(len(records)):
            record = records[i]
            if not PyTuple_CheckExact(record) or PyTuple_GET_SIZE(record) <= self.column:
                raise TypeError("a record is not a tuple of its columns")
            text = <object>PyTuple_GET_ITEM(record, self.column)
            if text is not None and not PyUnicode_CheckExact(text):
                raise TypeError("a text is not a string")
            if self.prefix is not None and not self._is_wanted(text):
                continue
            fields = self._fields_of(text)
            if self.single:
                value = <object>PyTuple_GET_ITEM(fields, 0)
                if self.bounded and value is not None and not self.lowest <= <int64_t>value <= self.highest:
                    value = None
                found.append(value)
            else:
                self._show_moments(fields)
                for place, column, value in self.kept:
                    if column >= 0:
                        value = record[column]
                    Py_INCREF(value)
                    PyTuple_SET_ITEM(fields, place, value)
                if self.flat:  # it refers to no container, so the collector need not look at it
                    PyObject_GC_UnTrack(<void*>fields)
                found.append(fields)
            if times is not None:
                stamps.append(times[i])
        return found, None if times is None else stamps


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
