# Rolling reduces of columns, by groups of records with the same key.

def reduce_columns(cursor, Fold fold, state, Py_ssize_t field, running, dirty, bint tracking):
    """Reduce records that are columns into the values of their keys; return the value after each record.

    None, without any change, if records are not columns, or a function has to be called.
    """
    cdef Records records, one
    cdef _Groups groups
    cdef list results, lasts = []
    cdef Py_ssize_t number, i
    if not _in_step(cursor, 0, field):
        return None
    records = (<_RecordIterator>cursor).records
    if not fold.size or not records.count:
        return None
    groups = _grouped(records, <int>field, NULL, NULL, records.count)
    one = records.part(0, 1)
    results = PyList_New(records.count)
    for number in range(groups.count):
        value = lookup(running, groups.keys[number])
        if value is not None and not (PyTuple_CheckExact(value) and has_atoms(value, None)):
            return None  # results would share what may change
        for i in range(groups.begins[number], groups.begins[number + 1]):
            one.first = records.first + groups.rows[i]
            value = one.at(0) if value is None else fold.of(value, one)
            if value is None:
                return None
            set_in_list(results, groups.rows[i], value)
        lasts.append(value)
    for number in range(groups.count):
        key = groups.keys[number]
        running[key] = lasts[number]
        if tracking:
            dirty[key] = 0
    state.key = records.at(records.count - 1)[field]
    (<_RecordIterator>cursor).position = records.count
    return results
