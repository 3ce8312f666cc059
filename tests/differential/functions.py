# mypy: disable-error-code="import-not-found,import-untyped"
"""The functions of random programs. Every record is a triple: a key, a number (or None) and a time.

Numbers stay below 1009. ``ordered`` functions depend on the order of their records, the others must not.
"""

from functools import partial

from pyflink.common import Row, Types
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import (
    CoFlatMapFunction,
    CoMapFunction,
    FlatMapFunction,
    MapFunction,
    ProcessFunction,
)

UNTYPED = "tuple"


def type_of(form):
    """Return a new type for a form, because PyFlink cannot pickle functions that hold one that is in use."""
    fields = [Types.STRING(), Types.LONG(), Types.LONG()]
    if form == "TUPLE":
        return Types.TUPLE(fields)
    if form == "ROW":
        return Types.ROW(fields)
    if form == "NAMED":
        return Types.ROW_NAMED(["who", "what", "when"], fields)
    return None


def make(form, key, number, time, loose=None):
    """Return a record; a typed one has no None and a text as its key.

    ``loose`` is the way in which a typed one deviates from its type.
    """
    if form == UNTYPED:
        return key, number, time
    # No two keys become the same text.
    fields = key if isinstance(key, str) else f"#{key}", num(number), time
    if loose == "list":
        return list(fields)
    if loose == "other":
        return Row(*fields) if form == "TUPLE" else fields
    return fields if form == "TUPLE" else Row(*fields)


def written(how, function):
    """Return a function in the form that programs pass instead of an object of a PyFlink class."""
    if how == "lambda":
        return lambda *values: function(*values)  # noqa: PLW0108 - that it is a lambda is the point
    if how == "partial":
        return partial(function)
    if how == "callable":
        return Callable(function)
    return function


class Callable:
    def __init__(self, function):
        self.function = function

    def __call__(self, *values):
        return self.function(*values)


def num(number):
    return -1 if number is None else number


def digest(numbers):
    """Return a number that depends on the order."""
    result = 7
    for number in numbers:
        result = (result * 31 + num(number)) % 1009
    return result


def fold(numbers, *, ordered):
    return digest(numbers if ordered else sorted(map(num, numbers)))


def combine(how, one, other):
    """Combine two numbers; ``last`` and ``digest`` depend on the order."""
    one, other = num(one), num(other)
    if how == "sum":
        return (one + other) % 1009
    if how == "max":
        return max(one, other)
    if how == "min":
        return min(one, other)
    return other if how == "last" else digest([one, other])


def least(one, other):
    return min(one, other, key=repr)


class Select:
    """A key selector."""

    def __init__(self, how):
        self.how = how

    def __call__(self, record):
        if self.how == "key":
            return record[0]
        if self.how == "parity":
            return num(record[1]) % 2
        return record[0], num(record[1]) % 2


def key_field(key):
    """Return the form of the key of a keyed stream in a record."""
    return key[0] if isinstance(key, tuple) else key


class TimeField(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[2]


def fail(*values):
    raise ValueError(f"no time in {values}")


class NoTime(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return None


UNUSABLE_ASSIGNERS = {
    "none": NoTime,
    "text": lambda: lambda value, record_timestamp: "now",
    "generator": lambda: lambda value, record_timestamp: (time for time in (value,)),
    "fails": lambda: fail,
    "nothing": lambda: "no function",
}
"""An argument that some programs pass to ``from_source``, which PyFlink ignores."""


# Functions without state


class FromIndex:
    def __init__(self, form, step):
        self.form, self.step = form, step

    def __call__(self, index):
        return make(self.form, "abc"[index % 3], index * 7 % 11, index * self.step)


class Map(MapFunction):
    def __init__(self, how, form, loose=None):
        self.how, self.form, self.loose = how, form, loose

    def map(self, value):
        key, number, time = value[0], value[1], value[2]
        if self.how == "shift":
            number = (num(number) + 1) % 1009
        elif self.how == "rekey":
            key = "xyz"[num(number) % 3]
        elif self.how == "later":
            time += 13
        elif self.how == "null":
            number = None if num(number) % 2 else number
        return make(self.form, key, number, time, self.loose)


class FlatMap(FlatMapFunction):
    def __init__(self, how, form):
        self.how, self.form = how, form

    def flat_map(self, value):
        one = make(self.form, value[0], value[1], value[2])
        if self.how == "twice":
            yield one
            yield make(self.form, value[0], (num(value[1]) + 5) % 1009, value[2])
        elif self.how == "some":
            if num(value[1]) % 3:
                yield one
        else:
            yield from [one]


def keep(record):
    return num(record[1]) % 4 != 0


def hole(record):
    return None if num(record[1]) % 3 == 0 else record


def is_there(record):
    return record is not None


def same(record):
    return record


def by_number(key, count):
    return num(key) % count


class Process(ProcessFunction):
    """Emit the timestamp, if requested; with a tag, every third record goes to the side output."""

    def __init__(self, form, tag, *, timestamps):
        self.form, self.tag, self.timestamps = form, tag, timestamps

    def process_element(self, value, ctx):
        if self.tag is not None and num(value[1]) % 3 == 0:
            yield self.tag, make(self.form, value[0], value[1], value[2])
            return
        told = [value[1], *[ctx.timestamp()] * self.timestamps]
        yield make(self.form, value[0], digest(told), value[2])


class CoMap(CoMapFunction):
    def __init__(self, form):
        self.form = form

    def map1(self, value):
        return make(self.form, value[0], (num(value[1]) + 3) % 1009, value[2])

    def map2(self, value):
        return make(self.form, value[0], value[1], value[2]) if num(value[1]) % 2 else None


class CoFlatMap(CoFlatMapFunction):
    def __init__(self, form):
        self.form = form

    def flat_map1(self, value):
        yield make(self.form, value[0], (num(value[1]) + 3) % 1009, value[2])

    def flat_map2(self, value):
        for add in range(num(value[1]) % 3):
            yield make(self.form, value[0], (num(value[1]) + add) % 1009, value[2])
