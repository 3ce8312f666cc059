# Adds whole columns to accumulators, where a formula only keeps fields, adds to them or replaces them.

cdef extern from *:
    """
    static int add_whole(int64_t left, int64_t right, int64_t *sum) {
        *sum = (int64_t)((uint64_t)left + (uint64_t)right);
        return ((left ^ *sum) & (right ^ *sum)) >= 0;  /* else it does not fit */
    }
    """
    bint add_whole(int64_t, int64_t, int64_t*) nogil

cdef enum:
    KEEPS = 0
    REPLACES = 1
    ADDS_FIELD = 2
    ADDS_WHOLE = 3
    ADDS_REAL = 4

cdef struct FoldTerm:
    int kind
    bint whole  # the record itself, instead of a field
    Py_ssize_t field
    int64_t number
    double real


@cython.final
cdef class Fold:
    """What a formula does with an accumulator and each of several records."""

    cdef int size  # of the accumulator; 0 if the formula does something else
    cdef bint is_tuple
    cdef FoldTerm terms[MOST_TERMS]

    def __init__(self, formula, int accumulator):
        """Take a formula whose argument with this number is the accumulator."""
        cdef int i
        if formula is None:
            return
        self.is_tuple = formula.is_tuple
        for i, term in enumerate(formula.terms):
            if not self._takes(i, term, accumulator, (i, i - len(formula.terms)) if formula.is_tuple else (None,)):
                return
        self.size = len(formula.terms)

    def __bool__(self):
        return self.size > 0

    cdef bint _takes(self, int i, term, int accumulator, own) except -1:
        cdef FoldTerm* to = &self.terms[i]
        parts = list(term)
        mine = [part.argument == accumulator and part.field in own for part in parts]
        if len(parts) == 2:
            if not any(mine):
                return False
            other = parts[1] if mine[0] else parts[0]
            to.kind = ADDS_FIELD
        else:
            other = parts[0]
            if mine[0]:
                to.kind = KEEPS
                return True
            to.kind = REPLACES
        if other.argument == 1 - accumulator:
            to.whole = other.field is None
            to.field = other.field or 0
            return True
        if other.argument >= 0 or to.kind == REPLACES:
            return False
        if type(other.constant) is float:
            to.kind, to.real = ADDS_REAL, other.constant
            return True
        to.kind = ADDS_WHOLE
        if type(other.constant) is not int or not -(1 << 30) <= other.constant <= 1 << 30:
            return False
        to.number = other.constant
        return True

    cdef object of(self, accumulator, Records records):
        """Return the accumulator with all records; None if only the function itself can tell."""
        cdef int i
        if not self.size or records.count >= 1 << 31:
            return None
        if not self.is_tuple:
            return self._term(&self.terms[0], accumulator, records)
        if not PyTuple_CheckExact(accumulator) or PyTuple_GET_SIZE(accumulator) != self.size:
            return None
        folded = PyTuple_New(self.size)
        for i in range(self.size):
            item = self._term(&self.terms[i], <object>PyTuple_GET_ITEM(accumulator, i), records)
            if item is None:
                return None
            set_in_tuple(folded, i, item)
        return folded

    cdef object _term(self, FoldTerm* term, known, Records records):
        """Return the same for one term, whose value was ``known``. A value of None is not told from no result."""
        cdef Head* head = &records.columns.head
        cdef Py_ssize_t field = term.field, i
        cdef Reading* column
        cdef int64_t total
        cdef double real
        cdef int overflow = 0
        if term.kind == KEEPS:
            return known
        if not records.count:
            return None if term.kind == REPLACES else known
        if term.kind in (REPLACES, ADDS_FIELD):
            if term.whole:
                if term.kind == REPLACES:
                    return records.at(records.count - 1)
                if head.shape != SCALARS:
                    return None
                field = 0
            else:
                if field < 0:
                    field += head.fields
                if head.shape != TUPLES or not 0 <= field < head.fields:
                    return None
            if term.kind == REPLACES:
                return records.columns.value(<int>field, records.row(records.count - 1))
        column = &records.columns.columns[field]
        if PyLong_CheckExact(known):
            total = PyLong_AsLongLongAndOverflow(known, &overflow)
            if overflow:
                return None
            if term.kind == ADDS_WHOLE:
                return total if add_whole(total, term.number * records.count, &total) else None
            if term.kind != ADDS_FIELD or column.kind != c"q":
                return None
            for i in range(records.count):
                if not add_whole(total, _number(column, records.row(i)), &total):
                    return None
            return total
        if not PyFloat_CheckExact(known):
            return None
        real = known
        if term.kind == ADDS_REAL:
            for i in range(records.count):
                real += term.real
            return real
        if term.kind != ADDS_FIELD or column.kind != c"d":
            return None
        for i in range(records.count):
            real += _real(column, records.row(i))
        return real
