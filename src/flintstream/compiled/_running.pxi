# Rolling reduces of columns, by groups of records with the same key.

cdef extern from "Python.h":
    PyObject* PyList_New(Py_ssize_t)

cdef extern from *:
    """
    static void set_in_list(PyObject *list, Py_ssize_t i, PyObject *item) { PyList_SET_ITEM(list, i, item); }
    static PyObject *new_reference(PyObject *object) { Py_INCREF(object); return object; }
    """
    void set_in_list(PyObject*, Py_ssize_t, PyObject*)
    PyObject* new_reference(PyObject*)


cdef bint _is_atom(PyObject* value):
    return PyLong_CheckExact(<object>value) or PyUnicode_CheckExact(<object>value) or PyFloat_CheckExact(<object>value)


cdef class _Running:
    """The value of a key, as a formula changes it record by record."""

    cdef Fold fold
    cdef _Columns columns
    cdef object begun  # keeps the fields alive
    cdef PyObject* kept[MOST_TERMS]
    cdef int64_t wholes[MOST_TERMS]
    cdef double reals[MOST_TERMS]
    cdef Py_ssize_t fields[MOST_TERMS]

    cdef bint prepare(self, Fold fold, _Columns columns):
        """Tell whether the formula can be computed with these columns."""
        cdef int i
        cdef FoldTerm* term
        self.fold, self.columns = fold, columns
        if not fold.is_tuple or columns.head.shape != TUPLES or columns.head.fields != fold.size:
            return False
        for i in range(fold.size):
            term = &fold.terms[i]
            if term.kind not in (REPLACES, ADDS_FIELD):
                continue
            self.fields[i] = term.field if term.field >= 0 else term.field + fold.size
            if term.whole or not 0 <= self.fields[i] < fold.size:
                return False
        return True

    cdef bint begin(self, object value) except -1:
        """Take the value so far; tell whether that is possible."""
        cdef int i, overflow = 0
        cdef PyObject* field
        cdef FoldTerm* term
        if not PyTuple_CheckExact(value) or PyTuple_GET_SIZE(value) != self.fold.size:
            return False
        self.begun = value
        for i in range(self.fold.size):
            term = &self.fold.terms[i]
            field = PyTuple_GET_ITEM(value, i)
            if term.kind == KEEPS:
                if not _is_atom(field):
                    return False
                self.kept[i] = field
            elif term.kind == ADDS_WHOLE or (
                term.kind == ADDS_FIELD and self.columns.columns[self.fields[i]].kind == c"q"
            ):
                if not PyLong_CheckExact(<object>field):
                    return False
                self.wholes[i] = PyLong_AsLongLongAndOverflow(<object>field, &overflow)
                if overflow:
                    return False
            elif term.kind == ADDS_REAL or (
                term.kind == ADDS_FIELD and self.columns.columns[self.fields[i]].kind == c"d"
            ):
                if not PyFloat_CheckExact(<object>field):
                    return False
                self.reals[i] = <object>field
            elif term.kind == ADDS_FIELD:
                return False
        return True

    cdef PyObject* next(self, Py_ssize_t row) except? NULL:
        """Return the value with one more record; NULL without an error if only the function itself can tell."""
        cdef PyObject* result = PyTuple_New(self.fold.size)
        cdef PyObject* item
        cdef int i
        cdef FoldTerm* term
        cdef Reading* column
        if result == NULL:
            raise MemoryError
        try:
            for i in range(self.fold.size):
                term = &self.fold.terms[i]
                if term.kind == KEEPS:
                    item = new_reference(self.kept[i])
                elif term.kind == REPLACES:
                    item = self.columns.value(<int>self.fields[i], row)
                else:
                    column = &self.columns.columns[self.fields[i]] if term.kind == ADDS_FIELD else NULL
                    if term.kind == ADDS_REAL or (column != NULL and column.kind == c"d"):
                        self.reals[i] += term.real if column == NULL else _real(column, row)
                        item = PyFloat_FromDouble(self.reals[i])
                    elif add_whole(
                        self.wholes[i], term.number if column == NULL else _number(column, row), &self.wholes[i]
                    ):
                        item = PyLong_FromLongLong(self.wholes[i])
                    else:
                        Py_DECREF(result)
                        return NULL
                if item == NULL:
                    raise MemoryError
                PyTuple_SET_ITEM(result, i, item)
        except BaseException:
            Py_DECREF(result)
            raise
        return result


def reduce_columns(cursor, Fold fold, state, Py_ssize_t field, running, dirty, bint tracking):
    """Reduce records that are columns into the values of their keys; return the value after each record.

    None, without any change, if records are not columns, or a function has to be called.
    """
    cdef Records records
    cdef _Groups groups
    cdef _Running value = _Running.__new__(_Running)
    cdef PyObject* made
    cdef list results, lasts = []
    cdef Py_ssize_t number, i, end
    if not _in_step(cursor, 0, field):
        return None
    records = (<_RecordIterator>cursor).records
    if not fold.size or not records.count or not value.prepare(fold, records.columns):
        return None
    groups = _grouped(records, <int>field, NULL, NULL, records.count)
    made = PyList_New(records.count)
    if made == NULL:
        raise MemoryError
    results = <list>made
    Py_DECREF(made)  # the cast has added a reference
    for number in range(groups.count):
        i, end = groups.begins[number], groups.begins[number + 1]
        before = lookup(running, groups.keys[number])
        if before is None:
            before = records.at(groups.rows[i])
            set_in_list(<PyObject*>results, groups.rows[i], new_reference(<PyObject*>before))
            i += 1
        if i < end and not value.begin(before):
            return None
        while i < end:
            made = value.next(records.first + groups.rows[i])
            if made == NULL:
                return None
            set_in_list(<PyObject*>results, groups.rows[i], made)
            i += 1
        PyList_Append(lasts, <object>PyList_GET_ITEM(results, groups.rows[end - 1]))
    for number in range(groups.count):
        key = groups.keys[number]
        running[key] = lasts[number]
        if tracking:
            dirty[key] = 0
    made = records.columns.value(<int>field, records.row(records.count - 1))
    last = <object>made
    Py_DECREF(made)
    state.key = last
    (<_RecordIterator>cursor).position = records.count
    return results
