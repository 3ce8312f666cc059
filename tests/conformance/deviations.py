"""Programs whose results on flintstream deliberately differ from PyFlink's, with the reasons."""

from __future__ import annotations

DEVIATIONS = {
    "integers_out_of_range": "a number that does not fit its type is an error, from a collection as from a function",
    "sessions_merged_by_a_late_bridge": "merging windows lose nothing that has been reduced",
    "sessions_merged_by_a_late_bridge_aggregate": "merging windows lose nothing that has been aggregated",
    "continuous_event_time_trigger": "timers registered while others fire come in the order of their time",
    "windows_of_a_class_of_the_program": "PyFlink supports only windows of its classes",
    "instants_finer_than_milliseconds": "instants keep their nanoseconds",
}

# The exception that flintstream raises, and why.
DEVIATING_ERRORS = {
    "collection_that_does_not_fit_its_type": ("TypeError", "what is of the wrong type is a TypeError everywhere"),
    "count_windows_of_no_size": ("ValueError", "told while the program is built, not by a division by zero"),
}

# The Python counterparts of Java's exceptions, which PyFlink passes on in a Py4JJavaError.
JAVA_ERRORS = {
    "ArrayIndexOutOfBoundsException": "ValueError",
    "IllegalArgumentException": "ValueError",
    "IllegalStateException": "ValueError",
    "IndexOutOfBoundsException": "ValueError",
    "JobException": "PlanError",
    "NullPointerException": "TypeError",
    "UnsupportedOperationException": "PlanError",
}

# PyFlink does not check these arguments: it, or Java, fails on an attribute that they do not have, or on their
# type. Here that is a TypeError, or a ValueError, which names them.
UNCHECKED_BY_PYFLINK = {"AttributeError", "Py4JError"}
