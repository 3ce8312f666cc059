# Datetimes of microseconds.

from cpython.datetime cimport datetime_new, import_datetime
from libc.stdint cimport int64_t

import_datetime()


cdef inline object _moment(int64_t micros):
    """Return the datetime that is so many microseconds after the first day of March of the year 0."""
    cdef int64_t days = micros // 86400000000, seconds = micros % 86400000000 // 1000000
    cdef int64_t cycle = days // 146097, rest = days % 146097  # of 400 years
    cdef int64_t year = (rest - rest // 1460 + rest // 36524 - rest // 146096) // 365
    rest -= 365 * year + year // 4 - year // 100
    cdef int64_t month = (5 * rest + 2) // 153, minutes = seconds // 60
    cdef int day = <int>(rest - (153 * month + 2) // 5 + 1)
    month, year = (month + 3, year) if month < 10 else (month - 9, year + 1)
    year += 400 * cycle
    return datetime_new(
        <int>year, <int>month, day, <int>(minutes // 60), <int>(minutes % 60), <int>(seconds % 60),
        <int>(micros % 1000000), None,
    )
