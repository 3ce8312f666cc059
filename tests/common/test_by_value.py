"""Objects with a name in ``__main__`` reach processes with another ``__main__``."""

from __future__ import annotations

import base64
import enum
import functools
import pickle
import subprocess
import sys
import types
import weakref

import pytest
from confluent_kafka import Producer

from flintstream.common._user_code.by_value import TooLargeError, dumps

SCRIPT = """
import base64, enum, functools, sys, typing
import msgspec
from flintstream.common._user_code.by_value import dumps

@functools.lru_cache(maxsize=7, typed=True)
def fibonacci(n):
    "Numbers."
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)

@functools.lru_cache
def even(n): return True if n == 0 else odd(n - 1)

@functools.lru_cache
def odd(n): return False if n == 0 else even(n - 1)

def maker(factor):
    @functools.lru_cache
    def times(n): return n * factor
    return times

@functools.singledispatch
def kind(value): return "any"

@kind.register
def _(value: int): return "int"

class WithCaches:
    @functools.lru_cache
    def method(self, n): return n + 1
    @functools.cached_property
    def once(self): return [1]
    class Inner:
        pass

class Missing:
    __slots__ = ("__weakref__", "text")
    def __reduce__(self): return "MISSING"

MISSING = Missing()
MISSING.text = "none"

class Bare:
    __slots__ = ()
    def __reduce__(self): return "BARE"

BARE = Bare()
UserId = typing.NewType("UserId", int)
P = typing.ParamSpec("P")

@getattr(enum, "global_enum", lambda kind: kind)  # not in Python 3.10, as the next one
class Level(enum.Flag):
    LOW = 1

class Access(enum.IntFlag):
    READ = 1
    WRITE = 2
    BOTH = 3

class Grade(enum.Enum):
    GOOD = 1
    FINE = 1

class ByName(enum.Enum):
    ONE = 1
    __reduce_ex__ = getattr(enum, "pickle_by_global_name", lambda member, protocol: member.name)

class Reading(msgspec.Struct, frozen=True, tag="r", kw_only=True):
    sensor: str
    value: int = 3
    tags: list = []
    extra: dict = msgspec.field(default_factory=dict, name="more")
    def double(self): return self.value * 2

class Alarm(Reading, rename="camel"):
    long_name: int = 7
    def double(self): return super().double() + self.long_name

def sentinel(value=MISSING): return value is MISSING, value.text

print(base64.b64encode(dumps(EXPRESSION, names=False)).decode())
"""


def elsewhere(expression, use):
    """Pickle an expression in one process; return the output of a use of it, as ``it``, in another one."""
    one = SCRIPT.replace("EXPRESSION", expression)
    data = run(one)
    other = f"import base64, pickle; it = pickle.loads(base64.b64decode({data!r})); print(({use}))"
    return run(other)


def run(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)  # noqa: S603 - ours
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize(
    ("expression", "use", "shown"),
    [
        ("Access", "list(it.__members__), it.BOTH == it.READ | it.WRITE", "(['READ', 'WRITE', 'BOTH'], True)"),
        ("Access.BOTH", "int(it), it is type(it).BOTH", "(3, True)"),
        ("Grade", "it.FINE is it.GOOD, list(it.__members__)", "(True, ['GOOD', 'FINE'])"),
        ("fibonacci", "it(30), it.__name__, it.__doc__", "(832040, 'fibonacci', 'Numbers.')"),
        ("fibonacci", "it.cache_parameters()", "{'maxsize': 7, 'typed': True}"),
        ("fibonacci", "it.__wrapped__.__globals__['fibonacci'] is it", "True"),
        ("lambda: fibonacci(10)", "it()", "55"),
        ("even", "it(10), it(11)", "(True, False)"),
        ("[even, odd]", "it[0].__wrapped__.__globals__['odd'] is it[1]", "True"),
        ("maker(3)", "it(5)", "15"),
        ("kind", "it(1), it('a')", "('int', 'any')"),
        ("WithCaches", "it().method(1), it().once", "(2, [1])"),
        ("WithCaches.Inner", "it.__qualname__", "WithCaches.Inner"),
        ("sentinel", "it()", "(True, 'none')"),
        ("[MISSING, sentinel]", "it[1](it[0])", "(True, 'none')"),
        ("BARE", "type(it).__name__", "Bare"),
        ("UserId", "it(5), it.__name__, it.__supertype__", "(5, 'UserId', <class 'int'>)"),
        ("P", "it", "~P"),
        ("Level.LOW", "it.value", "1"),
        ("ByName.ONE", "it.value", "1"),
        ("Reading(sensor='a', value=4)", "it, it.double()", "(Reading(sensor='a', value=4, tags=[], extra={}), 8)"),
        ("Alarm", "it(sensor='a').double(), it(sensor='a').tags is it(sensor='a').tags", "(13, False)"),
        ("[Alarm(sensor='a'), Alarm]", "type(it[0]) is it[1], type(it[0]).__bases__[0].__name__", "(True, 'Reading')"),
        (
            "Alarm(sensor='a')",
            "__import__('msgspec').json.encode(it)",
            """b'{"type":"r","longName":7,"sensor":"a","value":3,"tags":[],"more":{}}'""",
        ),
    ],
)
def test_it_works_in_another_process(expression, use, shown):
    assert elsewhere(expression, use) == shown


def test_what_two_pickles_have_is_one_object_where_it_arrives():
    @functools.lru_cache
    def cached(n):
        return n

    one, other = dumps(cached), dumps([cached])
    assert pickle.loads(one) is cached
    assert pickle.loads(other) == [cached]
    gone = weakref.ref(cached)
    del cached
    assert gone() is None
    assert pickle.loads(one)(5) == 5


FILE, FIRST_LINE = "/somewhere/job.py", 41
CODE = {
    "a function": "def made(x):\n    return x",
    "a lambda": "made = lambda x: x",
    "a generator": "def made(x):\n    yield x",
    "a coroutine": "async def made(x):\n    return x",
    "a function in a function": """
def outer():
    def made(x):
        return [lambda: y for y in x]
    return made
made = outer()
""",
    "a class": """
class made:
    def method(self):
        return lambda: self
    @property
    def value(self):
        return 1
""",
    "a cached function": "import functools\n@functools.cache\ndef made(x):\n    return x",
    "a method of an object": "class C:\n    def method(self):\n        return 1\nmade = C().method",
    "a partial function": "import functools\nmade = functools.partial(lambda x, y: x, 1)",
    "code": "made = (lambda x: x).__code__",
}


def codes_of(value):
    """Return the code objects that a value leads to, outer ones first."""
    value = getattr(value, "__func__", getattr(value, "func", getattr(value, "fget", value)))
    value = getattr(value, "__wrapped__", value)
    if isinstance(value, type):
        members = vars(value).values()
        return [
            code for member in members if callable(member) or isinstance(member, property) for code in codes_of(member)
        ]
    code = value if isinstance(value, types.CodeType) else getattr(value, "__code__", None)
    return [] if code is None else [code, *(inner for const in code.co_consts for inner in codes_of(const))]


@pytest.mark.parametrize("name", CODE)
def test_code_keeps_its_file_and_its_lines(name):
    namespace = {"__name__": "job"}
    exec(compile("\n" * (FIRST_LINE - 1) + CODE[name], FILE, "exec"), namespace)  # noqa: S102 - as a user's script
    before, after = codes_of(namespace["made"]), codes_of(pickle.loads(dumps(namespace["made"])))
    assert before
    assert {code.co_filename for code in after} == {FILE}
    assert [list(code.co_lines()) for code in after] == [list(code.co_lines()) for code in before]
    assert min(code.co_firstlineno for code in after) >= FIRST_LINE


def test_a_traceback_names_the_file_and_the_line_of_a_function_that_was_pickled():
    namespace = {"__name__": "job"}
    exec(compile("def fail():\n\n    return 1 / 0", FILE, "exec"), namespace)  # noqa: S102 - as a user's script
    with pytest.raises(ZeroDivisionError) as caught:
        pickle.loads(dumps(namespace["fail"]))()
    assert (caught.traceback[-1].frame.code.raw.co_filename, caught.traceback[-1].lineno + 1) == (FILE, 3)


def test_what_other_modules_have_stays_a_name():
    assert base64.b64encode in pickle.loads(dumps([base64.b64encode]))
    assert b"_once" not in dumps(functools.lru_cache)
    assert pickle.loads(dumps(pickle.DEFAULT_PROTOCOL)) == pickle.DEFAULT_PROTOCOL


def test_a_pickle_ends_at_its_limit():
    assert len(dumps(b"x" * 1000, 2000)) < 2000
    with pytest.raises(TooLargeError, match="more than 1 MB"):
        dumps(lambda data=b"x" * (1 << 20): data, 1 << 20)


def test_a_state_is_taken_once():
    taken = []

    class Once:
        def __reduce__(self):
            taken.append(self)
            return int, (1,)

    assert pickle.loads(dumps(Once())) == 1
    assert len(taken) == 1


def test_a_class_of_compiled_code_is_found_by_its_name_though_its_module_has_a_shorter_one():
    code = "import pickle, sys; print(pickle.loads(sys.stdin.buffer.read()))"
    pickled = dumps({"made": Producer})
    run = subprocess.run([sys.executable, "-c", code], input=pickled, capture_output=True, check=True)  # noqa: S603
    assert Producer.__module__ == "cimpl"
    assert run.stdout.strip() == b"{'made': <class 'cimpl.Producer'>}"


def test_an_enum_with_names_for_combinations_stays_itself_in_its_process():
    class Access(enum.IntFlag):
        READ = 1
        WRITE = 2
        BOTH = 3

    assert pickle.loads(dumps(Access, names=False)) is Access
    assert pickle.loads(dumps(Access.BOTH, names=False)) is Access.BOTH
