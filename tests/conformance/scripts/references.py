"""A script whose objects go by their names in ``__main__``; run as a program, on real PyFlink or with flintstream run.

It has no guard around its main part, as many scripts have none: a worker that ran it again would start a job.
``references.py MODE CASE...`` runs cases in one job, with ``EACH=1`` in the environment each in a job of its own.
"""

# mypy: ignore-errors
import sys, os, json, functools, enum, dataclasses, operator, pickle, typing, collections, traceback, copyreg, os
from abc import ABC, ABCMeta, abstractmethod
import helper_mod

MODE = sys.argv[1]
from pyflink.common import Configuration, Types
from pyflink.datastream import StreamExecutionEnvironment, MapFunction, RuntimeExecutionMode

calls = []


@functools.lru_cache(maxsize=None)
def cached(x):
    return x * 10


@functools.lru_cache(maxsize=2)
def cached_late(x):
    return TABLE[x]


def deco(f):
    @functools.wraps(f)
    def inner(*a):
        return f(*a) + 1

    return inner


@deco
def decorated(x):
    return x * 2


class CallableDeco:
    def __init__(self, f):
        functools.update_wrapper(self, f)
        self.f = f

    def __call__(self, *a):
        return self.f(*a) + 5


@CallableDeco
def class_decorated(x):
    return x


@functools.singledispatch
def single(x):
    return ("any", x)


@single.register
def _(x: int):
    return ("int", x)


class Meta(type):
    registry = {}

    def __new__(mcs, name, bases, ns, **kw):
        cls = super().__new__(mcs, name, bases, ns)
        mcs.registry[name] = cls
        return cls


class WithMeta(metaclass=Meta):
    def __init__(self, v):
        self.v = v

    def get(self):
        return self.v, sorted(type(type(self)).registry) if False else self.v


class StrictMeta(type):
    def __new__(mcs, name, bases, ns):
        if "tag" not in ns:
            raise TypeError("tag is missing in " + name)
        return super().__new__(mcs, name, bases, ns)


class WithStrict(metaclass=StrictMeta):
    tag = "t"


class InitSub:
    subs = {}

    def __init_subclass__(cls, /, key, **kw):
        super().__init_subclass__(**kw)
        if key in InitSub.subs:
            raise ValueError("twice " + key)
        InitSub.subs[key] = cls


class SubA(InitSub, key="a"):
    v = 1


class Abs(ABC):
    @abstractmethod
    def f(self): ...


class Conc(Abs):
    def f(self):
        return "conc"


class Color(enum.Enum):
    RED = 1
    GREEN = 2


class Perm(enum.Flag):
    R = 1
    W = 2


class SColor(str, enum.Enum):
    RED = "red"


class NT(typing.NamedTuple):
    a: int
    b: str = "x"


CNT = collections.namedtuple("CNT", "a b")


@dataclasses.dataclass
class DC:
    a: int
    b: list = dataclasses.field(default_factory=list)


@dataclasses.dataclass(frozen=True, slots=True)
class DCS:
    a: int


class Plain:
    def __init__(self, v):
        self.v = v

    def __eq__(self, o):
        return isinstance(o, Plain) and o.v == self.v

    def __hash__(self):
        return hash(self.v)


class Slotted:
    __slots__ = ("v",)

    def __init__(self, v):
        self.v = v


class GetState:
    log = []

    def __init__(self):
        self.x = 1

    def __getstate__(self):
        calls.append("getstate")
        return self.__dict__

    def __call__(self, v):
        return v + self.x


class MFGetState(MapFunction):
    def __init__(self):
        self.x = 1

    def __getstate__(self):
        calls.append("mf getstate")
        return self.__dict__

    def __setstate__(self, s):
        calls.append("mf setstate")
        self.__dict__ = s

    def map(self, v):
        return v + self.x


class Missing:
    def __reduce__(self):
        return "MISSING"


MISSING = Missing()

UserId = typing.NewType("UserId", int)


class Outer:
    class Inner:
        def __init__(self, v):
            self.v = v

    @functools.lru_cache
    def meth(self, x):
        return x + 7

    @staticmethod
    def st(x):
        return x + 1

    @classmethod
    def cl(cls, x):
        return (cls.__name__, x)

    @functools.cached_property
    def cp(self):
        return 9


class NoCP:
    @functools.lru_cache
    def meth(self, x):
        return x + 7


def helper(x):
    return x + 100


def use_pool(x):
    from multiprocessing.pool import ThreadPool

    with ThreadPool(1) as p:
        return p.map(helper, [x])[0]


def use_fork(x):
    import multiprocessing

    with multiprocessing.get_context("fork").Pool(1) as p:
        return p.map(helper, [x])[0]


def dump_function(x):
    return pickle.loads(pickle.dumps(helper))(x)


def main_name(x):
    m = sys.modules["__main__"]
    return (
        m.__name__,
        os.path.basename(getattr(m, "__file__", "") or ""),
        hasattr(m, "helper"),
        __name__,
        os.path.basename(__file__),
    )


def main_attr(x):
    import __main__

    return __main__.CONFIG["a"] + x


CONFIG = {"a": 5}


def from_main(x):
    from __main__ import helper as h

    return h(x)


GLOBAL = []


def mutate(x):
    GLOBAL.append(x)
    return len(GLOBAL)


def mutate2(x):
    GLOBAL.append(x)
    return len(GLOBAL)


blobs = [pickle.dumps(Plain(i)) for i in range(3)]


class OnlyBlob:
    def __init__(self, v):
        self.v = v

    def val(self):
        return helper(self.v)


only_blobs = [pickle.dumps(OnlyBlob(i)) for i in range(3)]

CASES = {}


def case(f):
    CASES[f.__name__] = f
    return f


@case
def lru(ds):
    return ds.map(cached)


@case
def lru_in_lambda(ds):
    return ds.map(lambda x: cached(x))


@case
def lru_late(ds):
    r = ds.map(lambda x: cached_late(x))
    global TABLE
    TABLE = {i: -i for i in range(10)}
    return r


@case
def lru_partial(ds):
    return ds.map(functools.partial(pow_, cached))


def pow_(f, x):
    return f(x)


@case
def lru_method(ds):
    return ds.map(lambda x: NoCP().meth(x))


@case
def lru_local(ds):
    @functools.lru_cache
    def inner(x):
        return x * 3

    return ds.map(lambda x: inner(x))


@case
def wraps(ds):
    return ds.map(decorated)


@case
def class_deco(ds):
    return ds.map(class_decorated)


@case
def class_deco_lambda(ds):
    return ds.map(lambda x: class_decorated(x))


@case
def singledispatch(ds):
    return ds.map(lambda x: str(single(x)))


@case
def metaclass(ds):
    return ds.map(lambda x: WithMeta(x)).map(lambda o: o.get()[0])


@case
def strict_metaclass(ds):
    return ds.map(lambda x: WithStrict.tag + str(x))


@case
def init_subclass(ds):
    return ds.map(lambda x: SubA.v + x)


@case
def abc(ds):
    return ds.map(lambda x: Conc().f())


@case
def enum_(ds):
    return ds.map(lambda x: Color(1 + x % 2)).map(lambda c: (c is Color.RED, str(c)))


@case
def flag(ds):
    return ds.map(lambda x: Perm.R | Perm.W).map(lambda c: (c == (Perm.R | Perm.W), str(c)))


@case
def senum(ds):
    return ds.map(lambda x: SColor.RED).map(lambda c: (c is SColor.RED, c.value))


@case
def namedtuple(ds):
    return ds.map(lambda x: NT(x)).map(lambda c: (isinstance(c, NT), c.a, c.b))


@case
def cnamedtuple(ds):
    return ds.map(lambda x: CNT(x, 1)).map(lambda c: (isinstance(c, CNT), c.a, c.b))


@case
def dataclass(ds):
    return ds.map(lambda x: DC(x)).map(
        lambda c: (isinstance(c, DC), str(dataclasses.asdict(c)), len(dataclasses.fields(c)), c == DC(c.a))
    )


@case
def dataclass_slots(ds):
    return ds.map(lambda x: DCS(x)).map(lambda c: (isinstance(c, DCS), c.a))


@case
def attrgetter(ds):
    return ds.map(lambda x: Plain(x)).map(operator.attrgetter("v"))


@case
def plain_pickle(ds):
    return ds.map(lambda x: pickle.dumps(Plain(x))).map(lambda b: pickle.loads(b).v)


@case
def plain_pickle_sl(ds):
    return ds.map(lambda x: pickle.dumps(Slotted(x))).map(lambda b: pickle.loads(b).v)


@case
def plain_pickle_inner(ds):
    return ds.map(lambda x: pickle.dumps(Outer2.Inner(x))).map(lambda b: pickle.loads(b).v)


class Outer2:
    class Inner:
        def __init__(self, v):
            self.v = v


@case
def plain_pickle_enum(ds):
    return ds.map(lambda x: pickle.dumps(Color.RED)).map(lambda b: str(pickle.loads(b) is Color.RED))


@case
def blob(ds):
    return ds._env.from_collection(blobs).map(lambda b: pickle.loads(b).v)


@case
def only_blob(ds):
    return ds._env.from_collection(only_blobs).map(lambda b: pickle.loads(b).val())


@case
def blob_key(ds):
    return ds.map(lambda x: Plain(x % 2)).key_by(lambda p: p).map(lambda p: p.v)


@case
def getstate(ds):
    calls.clear()
    return ds.map(GetState())


@case
def mfgetstate(ds):
    calls.clear()
    return ds.map(MFGetState())


@case
def missing(ds):
    return ds.map(lambda x: MISSING).map(lambda m: m is MISSING)


@case
def newtype(ds):
    return ds.map(UserId)


@case
def newtype_lambda(ds):
    return ds.map(lambda x: UserId(x))


@case
def cachedprop(ds):
    return ds.map(lambda x: Outer().cp)


@case
def threadpool(ds):
    return ds.map(use_pool)


@case
def dumpf(ds):
    return ds.map(dump_function)


@case
def mainname(ds):
    return ds.map(main_name)


@case
def mainattr(ds):
    return ds.map(main_attr)


@case
def frommain(ds):
    return ds.map(from_main)


@case
def mutating(ds):
    return ds.map(mutate).map(mutate2)


@case
def beside(ds):
    return (
        ds.map(helper_mod.cached)
        .map(lambda x: helper_mod.Thing(x))
        .map(lambda t: (isinstance(t, helper_mod.Thing), t.v))
    )


@case
def beside_pickle(ds):
    return ds.map(lambda x: pickle.dumps(helper_mod.Thing(x))).map(lambda b: pickle.loads(b).v)


@case
def badload(ds):
    return ds.map(BadLoad())


class BadLoad:
    def __call__(self, x):
        return x

    def __setstate__(self, s):
        raise RuntimeError("cannot be loaded")

    def __getstate__(self):
        return {"a": 1}


@case
def lambda_attr(ds):
    f = lambda x: f.n + x
    f.n = 3
    return ds.map(f)


@case
def bound_method(ds):
    return ds.map(Plain(4).__eq__)


@case
def builtin_(ds):
    return ds.map(str).map(len).map({0: 1, 1: 2}.get)


@case
def fork(ds):
    return ds.map(use_fork)


def results(stream):
    return [repr(value) for value in stream.execute_and_collect()]


def environment():
    c = Configuration()
    c.set_string("python.execution-mode", MODE)
    c.set_string("restart-strategy.type", "none")
    env = StreamExecutionEnvironment.get_execution_environment(c)
    env.set_parallelism(1)
    return env


def stream_of(env, name):
    """Return the stream of a case, and how often state was taken while it was built."""
    calls.clear()
    ds = env.from_collection([1, 2, 3])
    ds._env = env
    return CASES[name](ds), len(calls)


def each():
    """Run each case in a job of its own: one that fails says how."""
    for name in sys.argv[2:] or CASES:
        try:
            stream, taken = stream_of(environment(), name)
            told = {"ok": results(stream), "calls": list(calls), "at_build": taken}
        except BaseException as e:
            lines = [
                l for l in str(e).splitlines() if "Error" in l and "java" not in l and not l.strip().startswith("at ")
            ]
            told = {"error": type(e).__name__ + ": " + (lines[-1] if lines else str(e))[:300], "calls": list(calls)}
        print(name, json.dumps(told), flush=True)


def together():
    """Run cases in one job."""
    env, told, streams = environment(), {}, []
    for name in sys.argv[2:]:
        stream, taken = stream_of(env, name)
        told[name] = {"ok": [], "at_build": taken}
        streams.append(stream.map(lambda value, name=name: (name, repr(value))))
    taken = len(calls)
    for name, value in streams[0].union(*streams[1:]).execute_and_collect():
        told[name]["ok"].append(value)
    print(json.dumps({"cases": told, "taken_later": len(calls) - taken}))


(each if os.environ.get("EACH") else together)()
