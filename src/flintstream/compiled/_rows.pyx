# cython: language_level=3, binding=False, boundscheck=False, wraparound=False
"""Keys of rows in RocksDB, and their values; see the package for what this replaces."""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_CheckExact, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.long cimport PyLong_CheckExact
from cpython.unicode cimport PyUnicode_CheckExact
from libc.stdint cimport int8_t, int64_t, uint8_t, uint64_t
from libc.string cimport memcpy

cdef extern from "Python.h":
    long long PyLong_AsLongLongAndOverflow(object, int*) except? -1
    const char* PyUnicode_AsUTF8AndSize(object, Py_ssize_t*)
    object PyUnicode_DecodeUTF8(const char*, Py_ssize_t, const char*)
    void PyErr_Clear()

include "_hashes.pxi"

cdef enum:
    HEAD = 4
    LONGEST = 9  # of a number, or of what precedes a text


cdef inline char* _big_endian(char* at, uint64_t number, int size) noexcept nogil:
    cdef int i
    for i in range(size):
        at[i] = <char>(number >> (8 * (size - 1 - i)))
    return at + size


cdef inline char* _with_size(char* at, uint64_t size, uint8_t first) noexcept nogil:
    """Write the code of 8, 16 or 32 bits, which follow each other from ``first`` on, and a size."""
    cdef int code = 0 if size <= 0xFF else 1 if size <= 0xFFFF else 2
    at[0] = <char>(first + code)
    return _big_endian(at + 1, size, 1 << code)


cdef inline char* _number(char* at, int64_t number) noexcept nogil:
    cdef int code
    if -32 <= number <= 127:
        at[0] = <char>number
        return at + 1
    if number >= 0:
        if number <= 0xFFFFFFFFLL:
            return _with_size(at, number, 0xCC)
        at[0] = <char>0xCF
        return _big_endian(at + 1, number, 8)
    code = 0 if number >= -0x80 else 1 if number >= -0x8000 else 2 if number >= -0x80000000LL else 3
    at[0] = <char>(0xD0 + code)
    return _big_endian(at + 1, number, 1 << code)


def row(object key, int number, uint64_t groups):
    """Return the row of an int of 64 bits, a string or bytes: key group, number of the state, and the encoded key.

    Return None for other keys. ``groups`` is the number of key groups.
    """
    cdef char[HEAD + LONGEST] head
    cdef char* at = head + HEAD
    cdef const char* text = NULL
    cdef Py_ssize_t size = 0
    cdef int overflow = 0
    cdef long long whole
    cdef uint64_t code
    if PyLong_CheckExact(key):
        whole = PyLong_AsLongLongAndOverflow(key, &overflow)
        if overflow:
            return None
        at = _number(at, whole)
        code = <uint64_t>(<Py_ssize_t>hash(key)) * MIX >> 32
    else:
        if PyUnicode_CheckExact(key):
            text = PyUnicode_AsUTF8AndSize(key, &size)
            if text == NULL:  # half of a pair of surrogates
                PyErr_Clear()
                return None
            if size <= 31:
                at[0] = <char>(0xA0 | size)
                at += 1
            else:
                at = _with_size(at, size, 0xD9)
        elif PyBytes_CheckExact(key):
            text, size = PyBytes_AS_STRING(key), PyBytes_GET_SIZE(key)
            at = _with_size(at, size, 0xC4)
        else:
            return None
        if size > 0xFFFFFFFFLL:
            return None
        code = crc_of(text, size)
    _big_endian(_big_endian(head, (code & 0x7FFFFFFF) % groups, 2), number, 2)
    made = PyBytes_FromStringAndSize(NULL, at - head + size)
    memcpy(PyBytes_AS_STRING(made), head, at - head)
    if size:
        memcpy(PyBytes_AS_STRING(made) + (at - head), text, size)
    return made


cdef inline uint64_t _from_big_endian(const uint8_t* at, int size) noexcept nogil:
    cdef uint64_t number = 0
    cdef int i
    for i in range(size):
        number = number << 8 | at[i]
    return number


def atom(bytes data not None):
    """Return the value of a row without a key and a time if it is an atom; else the row itself.

    An atom is None, a bool, a number of 64 bits, a string or bytes.
    """
    cdef const uint8_t* at = <const uint8_t*>PyBytes_AS_STRING(data)
    cdef Py_ssize_t size = PyBytes_GET_SIZE(data) - 2
    cdef uint8_t code
    cdef int width, head
    cdef uint64_t bits
    cdef double real
    if size < 0 or at[0]:
        return data
    code = at[1]
    at += 2
    if code <= 0x7F or code >= 0xE0:
        return data if size else <int64_t><int8_t>code
    if 0xCC <= code <= 0xD3:
        width = 1 << (code & 3)
        if size != width:
            return data
        bits = _from_big_endian(at, width)
        if code <= 0xCF:
            return bits
        return <int64_t>(bits << (64 - 8 * width)) >> (64 - 8 * width)
    if code == 0xCB and size == 8:
        bits = _from_big_endian(at, 8)
        memcpy(&real, &bits, 8)
        return real
    if 0xC0 <= code <= 0xC3 and code != 0xC1 and not size:
        return None if code == 0xC0 else code == 0xC3
    if 0xA0 <= code <= 0xBF:
        head, bits = 0, code & 0x1F
    elif 0xC4 <= code <= 0xC6 or 0xD9 <= code <= 0xDB:
        head = 1 << (code - (0xC4 if code < 0xD9 else 0xD9))
        if size < head:
            return data
        bits = _from_big_endian(at, head)
    else:
        return data
    if <uint64_t>(size - head) != bits:
        return data
    if 0xC4 <= code <= 0xC6:
        return PyBytes_FromStringAndSize(<const char*>at + head, size - head)
    try:
        return PyUnicode_DecodeUTF8(<const char*>at + head, size - head, NULL)
    except UnicodeDecodeError:
        return data  # half of a pair of surrogates
