# Records of a block as its columns, which become tuples only where a function asks for them.

cimport cython
from cpython.mem cimport PyMem_Calloc, PyMem_Free, PyMem_Malloc
from libc.string cimport memcmp
from cpython.slice cimport PySlice_AdjustIndices, PySlice_Check, PySlice_Unpack

include "_columns.pxi"

cdef extern from "Python.h":
    tuple PyTuple_New(Py_ssize_t)  # items of a new tuple or list have to be set
    list PyList_New(Py_ssize_t)
    void PyObject_GC_UnTrack(void*)

cdef extern from *:
    """
    static void set_in_tuple(PyObject *tuple, Py_ssize_t i, PyObject *item) {
        PyTuple_SET_ITEM(tuple, i, Py_NewRef(item));
    }
    static void set_in_list(PyObject *list, Py_ssize_t i, PyObject *item) {
        PyList_SET_ITEM(list, i, Py_NewRef(item));
    }
    """
    void set_in_tuple(tuple, Py_ssize_t, object)
    void set_in_list(list, Py_ssize_t, object)


@cython.final
cdef class _Columns:
    """The columns of a block; their memory is that of the block."""

    cdef bytes payload
    cdef Head head
    cdef Reading* columns
    cdef int64_t** ends  # of columns of strings, where each string ends

    def __dealloc__(self):
        cdef int i
        if self.ends != NULL:
            for i in range(self.head.fields):
                PyMem_Free(self.ends[i])
        PyMem_Free(self.ends)
        PyMem_Free(self.columns)

    cdef bytes open(self, bytes payload):
        """Take the columns of a block, and return its rest."""
        cdef Head head
        cdef int i
        self.payload = payload
        self.columns = <Reading*>PyMem_Malloc((MOST_FIELDS + 1) * sizeof(Reading))
        if self.columns == NULL:
            raise MemoryError
        rest = _open_all(payload, &head, self.columns)
        self.ends = <int64_t**>PyMem_Calloc(head.fields, sizeof(int64_t*))
        if self.ends == NULL:
            raise MemoryError
        self.head = head
        for i in range(head.fields):
            if self.columns[i].kind == c"s":
                self._find_strings(i)
        return rest

    cdef int _find_strings(self, int column) except -1:
        cdef Reading* strings = &self.columns[column]
        cdef Py_ssize_t row
        cdef int64_t end = 0, length
        self.ends[column] = <int64_t*>PyMem_Malloc(max(self.head.rows, 1) * sizeof(int64_t))
        if self.ends[column] == NULL:
            raise MemoryError
        for row in range(self.head.rows):
            length = _number(strings, row)
            if not 0 <= length <= strings.left - end:
                raise ValueError("a damaged block")
            end += length
            self.ends[column][row] = end
        return 0

    cdef object value(self, int column, Py_ssize_t row):
        cdef int64_t start
        if self.columns[column].kind == c"q":
            return _number(&self.columns[column], row)
        if self.columns[column].kind == c"t":
            return _moment(_number(&self.columns[column], row))
        if self.columns[column].kind == c"d":
            return _real(&self.columns[column], row)
        if self.columns[column].kind == c"n":
            return None
        if self.columns[column].kind == c"b":
            return bool(_number(&self.columns[column], row))
        start = self.ends[column][row - 1] if row else 0
        return PyUnicode_DecodeUTF8(self.columns[column].texts + start, self.ends[column][row] - start, NULL)


@cython.final
cdef class Records:
    """Records of a block, or their timestamps, as a sequence: all, a slice of them, or those of a group.

    A slice has the same columns. A record is a new tuple, or list, each time.
    """

    cdef _Columns columns
    cdef bint are_stamps
    cdef Py_ssize_t first, count
    cdef Py_ssize_t above  # added to the rows of groups
    cdef _Groups groups  # None for all rows in order

    def __len__(self):
        return self.count

    cdef inline Py_ssize_t row(self, Py_ssize_t position) noexcept:
        if self.groups is None:
            return self.first + position
        return self.above + self.groups.rows[self.first + position]

    cdef object at(self, Py_ssize_t position):
        cdef Py_ssize_t row = self.row(position)
        cdef int fields = self.columns.head.fields, shape = self.columns.head.shape, i
        if self.are_stamps or shape == SCALARS:
            return self.columns.value(fields if self.are_stamps else 0, row)
        if shape == LISTS:
            items = PyList_New(fields)
            for i in range(fields):
                set_in_list(items, i, self.columns.value(i, row))
            return items
        record = PyTuple_New(fields)
        for i in range(fields):
            set_in_tuple(record, i, self.columns.value(i, row))
        PyObject_GC_UnTrack(<void*>record)  # it refers to no container, so the collector need not look at it
        return record

    cdef Records part(self, Py_ssize_t first, Py_ssize_t count):
        cdef Records part = Records.__new__(Records)
        part.columns, part.are_stamps, part.groups, part.above = self.columns, self.are_stamps, self.groups, self.above
        part.first, part.count = self.first + first, count
        return part

    cdef Records group(self, _Groups groups, Py_ssize_t number):
        """Return the records of a group of these."""
        cdef Records part = Records.__new__(Records)
        part.columns, part.are_stamps, part.groups, part.above = self.columns, self.are_stamps, groups, self.first
        part.first, part.count = groups.begins[number], groups.begins[number + 1] - groups.begins[number]
        return part

    cdef list made(self):
        """Return all records."""
        cdef list records = PyList_New(self.count)
        cdef Py_ssize_t i
        for i in range(self.count):
            set_in_list(records, i, self.at(i))
        return records

    def __getitem__(self, item):
        cdef Py_ssize_t start, stop, step, count
        if PySlice_Check(item):
            PySlice_Unpack(item, &start, &stop, &step)
            count = PySlice_AdjustIndices(self.count, &start, &stop, step)
            return self.part(start, count) if step == 1 else list(self)[item]
        start = item
        if start < 0:
            start += self.count
        if not 0 <= start < self.count:
            raise IndexError("there is no record with this number")
        return self.at(start)

    def __iter__(self):
        return _RecordIterator(self)


cdef class _RecordIterator:
    cdef Records records
    cdef Py_ssize_t position

    def __init__(self, Records records):
        self.records = records

    def __iter__(self):
        return self

    def __next__(self):
        if self.position >= self.records.count:
            raise StopIteration
        self.position += 1
        return self.records.at(self.position - 1)

    def __length_hint__(self):
        return self.records.count - self.position


def unpack(bytes payload, bint as_columns):
    """Return the values, timestamps and the rest of what ``pack`` of ``_exchange`` returned.

    With ``as_columns``, a record is made when it is asked for, unless records are lists: functions may change these.
    """
    cdef _Columns columns = _Columns.__new__(_Columns)
    cdef Records values = Records.__new__(Records), stamps = None
    rest = columns.open(payload)
    values.columns, values.count = columns, columns.head.rows
    if columns.head.stamped:
        if columns.columns[columns.head.fields].kind != c"q":
            raise ValueError("a damaged block")
        stamps = values.part(0, values.count)
        stamps.are_stamps = True
    if as_columns and columns.head.shape != LISTS:
        return values, stamps, rest
    return values.made(), None if stamps is None else stamps.made(), rest


cdef extern from *:
    """
    #define MIX_KEY 0x9E3779B97F4A7C15ULL
    #define MIX_TIME 0xC2B2AE3D27D4EB4FULL
    """
    const uint64_t MIX_KEY
    const uint64_t MIX_TIME


cdef class _Groups:
    """Records with the same key, and the same second number if there is one; groups are in the order of their first."""

    cdef uint32_t* rows  # positions, group after group
    cdef uint32_t* begins  # of each group in them, and the end of the last one
    cdef int64_t* seconds  # of each group
    cdef Py_ssize_t count
    cdef list keys

    def __dealloc__(self):
        PyMem_Free(self.rows)
        PyMem_Free(self.begins)
        PyMem_Free(self.seconds)


cdef inline uint64_t _hash_of(const char* text, Py_ssize_t size) noexcept nogil:
    cdef uint64_t mixed = <uint64_t>size, part
    while size > 0:
        part = 0
        memcpy(&part, text, 8 if size > 8 else size)
        mixed = (mixed ^ part) * MIX_KEY
        mixed ^= mixed >> 29
        text += 8
        size -= 8
    return mixed


cdef _Groups _grouped(Records records, int field, const uint32_t* chosen, const int64_t* seconds, Py_ssize_t size):
    """Group records, which are not yet in groups: those at the positions ``chosen``, or the first ``size``."""
    cdef _Groups groups = _Groups.__new__(_Groups)
    cdef Reading* column = &records.columns.columns[field]
    cdef bint whole = column.kind == c"q", text = column.kind == c"s"
    cdef int64_t* ends = records.columns.ends[field]
    cdef const char* at
    cdef Py_ssize_t length, row, other
    cdef uint32_t* firsts = <uint32_t*>PyMem_Malloc(max(size, 1) * sizeof(uint32_t))  # rows of texts
    cdef int bits = 3
    while (<Py_ssize_t>1 << bits) < 2 * size:
        bits += 1
    cdef Py_ssize_t i, position, mask = (<Py_ssize_t>1 << bits) - 1
    cdef int64_t second = 0
    cdef int64_t number
    cdef uint64_t mixed
    cdef uint32_t group
    cdef uint32_t* slots = <uint32_t*>PyMem_Calloc(mask + 1, sizeof(uint32_t))  # group + 1
    cdef uint32_t* group_of = <uint32_t*>PyMem_Malloc(max(size, 1) * sizeof(uint32_t))
    cdef int64_t* numbers = <int64_t*>PyMem_Malloc(max(size, 1) * sizeof(int64_t))
    cdef dict seen = {}
    cdef list found = []
    cdef PyObject* known
    groups.rows = <uint32_t*>PyMem_Malloc(max(size, 1) * sizeof(uint32_t))
    groups.begins = <uint32_t*>PyMem_Calloc(size + 2, sizeof(uint32_t))
    groups.seconds = <int64_t*>PyMem_Malloc(max(size, 1) * sizeof(int64_t))
    groups.keys = []
    try:
        if (
            slots == NULL or group_of == NULL or numbers == NULL or firsts == NULL
            or groups.rows == NULL or groups.begins == NULL or groups.seconds == NULL
        ):
            raise MemoryError
        for i in range(size):
            row = records.first + (i if chosen == NULL else chosen[i])
            if whole:
                number = _number(column, row)
            elif text:
                at = column.texts + (ends[row - 1] if row else 0)
                length = column.texts + ends[row] - at
                number = <int64_t>_hash_of(at, length)
            else:
                key = records.columns.value(field, row)
                known = PyDict_GetItemWithError(seen, key)
                if known == NULL:
                    number = PyList_GET_SIZE(found)
                    seen[key] = number
                    found.append(key)
                else:
                    number = <object>known
            if seconds != NULL:
                second = seconds[i]
            mixed = <uint64_t>number * MIX_KEY ^ <uint64_t>second * MIX_TIME
            position = <Py_ssize_t>(mixed >> (64 - bits))
            while True:
                group = slots[position]
                if not group:
                    group = <uint32_t>groups.count
                    slots[position] = group + 1
                    numbers[group], groups.seconds[group] = number, second
                    firsts[group] = <uint32_t>row
                    groups.count += 1
                    groups.keys.append(number if whole else records.columns.value(field, row) if text else found[number])
                    break
                group -= 1
                if numbers[group] == number and groups.seconds[group] == second:
                    if not text:
                        break
                    other = firsts[group]
                    if ends[other] - (ends[other - 1] if other else 0) == length and not memcmp(
                        at, column.texts + (ends[other - 1] if other else 0), length
                    ):
                        break
                position = (position + 1) & mask
            group_of[i] = group
            groups.begins[group + 2] += 1
        for i in range(groups.count):
            groups.begins[i + 2] += groups.begins[i + 1]
        for i in range(size):  # moves each group's begin to its end, which is where the next one begins
            group = group_of[i] + 1
            groups.rows[groups.begins[group]] = <uint32_t>i if chosen == NULL else chosen[i]
            groups.begins[group] += 1
        return groups
    finally:
        PyMem_Free(slots)
        PyMem_Free(group_of)
        PyMem_Free(numbers)
        PyMem_Free(firsts)
