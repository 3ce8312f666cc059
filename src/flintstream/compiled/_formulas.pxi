# Computes what the functions of flintstream.common._user_code.formulas return.

cdef extern from *:
    """
    static PyObject *sum_of(PyObject *left, PyObject *right) {
        /* Other classes may define what adding does, so that the function has to be called. */
        if (PyLong_CheckExact(left) ? PyLong_CheckExact(right) :
            PyFloat_CheckExact(left) ? PyFloat_CheckExact(right) :
            PyUnicode_CheckExact(left) && PyUnicode_CheckExact(right))
            return PyNumber_Add(left, right);
        return NULL;
    }

    static PyObject *field_of_tuple(PyObject *value, Py_ssize_t field) {
        if (!PyTuple_CheckExact(value))
            return NULL;
        if (field < 0)
            field += PyTuple_GET_SIZE(value);
        return 0 <= field && field < PyTuple_GET_SIZE(value) ? PyTuple_GET_ITEM(value, field) : NULL;
    }
    """
    PyObject* sum_of(PyObject*, PyObject*)
    PyObject* field_of_tuple(PyObject*, Py_ssize_t)

cdef extern from "Python.h":
    PyObject* tuple_of "PyTuple_New"(Py_ssize_t)
    void set_item "PyTuple_SET_ITEM"(PyObject*, Py_ssize_t, PyObject*)
    void acquire "Py_INCREF"(PyObject*)
    void release "Py_DECREF"(PyObject*)
    void forget_error "PyErr_Clear"()

cdef class Formula:
    """A formula; without one, it never has a result."""

    def __init__(self, formula):
        cdef int i
        self.source = formula  # keeps the constants alive
        self.terms = 0
        if formula is None:
            return
        for i, term in enumerate(formula.terms):
            _put_part(&self.left[i], term[0])
            self.adds[i] = len(term) > 1
            if self.adds[i]:
                _put_part(&self.right[i], term[1])
        self.terms = len(formula.terms)
        self.is_tuple = formula.is_tuple


cdef int _put_part(Part* part, given) except -1:
    part.argument, field, constant = given
    part.whole = field is None
    part.field = 0 if field is None else field
    part.constant = <PyObject*>constant
    return 0


cdef inline PyObject* _part(Part* part, PyObject* first, PyObject* second) noexcept:
    cdef PyObject* value
    if part.argument < 0:
        return part.constant
    value = second if part.argument else first
    return value if part.whole else field_of_tuple(value, part.field)


cdef inline PyObject* _term(Formula formula, int i, PyObject* first, PyObject* second) noexcept:
    cdef PyObject* left = _part(&formula.left[i], first, second)
    cdef PyObject* right
    if left == NULL:
        return NULL
    if formula.adds[i]:
        right = _part(&formula.right[i], first, second)
        return NULL if right == NULL else sum_of(left, right)
    acquire(left)
    return left


cdef PyObject* _compute(Formula formula, PyObject* first, PyObject* second) noexcept:
    cdef PyObject* result
    cdef PyObject* term
    cdef int i
    if not formula.is_tuple:
        return _term(formula, 0, first, second)
    result = tuple_of(formula.terms)
    if result == NULL:
        return NULL
    for i in range(formula.terms):
        term = _term(formula, i, first, second)
        if term == NULL:
            release(result)
            return NULL
        set_item(result, i, term)
    return result


cdef object apply_binary(Formula formula, call, first, second):
    """Return what a function of two arguments returns: by its formula if that has a result, else by a call."""
    cdef PyObject* result = NULL
    if formula.terms:
        result = _compute(formula, <PyObject*>first, <PyObject*>second)
    if result == NULL:
        forget_error()  # of memory, if any
        return call(first, second)
    found = <object>result
    release(result)
    return found


cdef object apply_unary(Formula formula, call, record):
    """Return the same for a function of one argument."""
    cdef PyObject* result = NULL
    if formula.terms:
        result = _compute(formula, <PyObject*>record, NULL)
    if result == NULL:
        forget_error()
        return call(record)
    found = <object>result
    release(result)
    return found
