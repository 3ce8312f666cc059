"""The world of one simulated run: its time, its chance, its faults and its trace.

Everything that happens is drawn from one seed, so that a run repeats to the last step. Which faults there are, and how
often, is drawn first: most runs have few kinds of them, as kinds that come together hide one another.
"""

from __future__ import annotations

import random
import sys
import time
import uuid
from types import ModuleType
from typing import TYPE_CHECKING, Any

from flintstream.coordinator.job import Clock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

RATES: dict[str, tuple[float, ...]] = {
    "crash": (0.003, 0.01),
    "user": (0.01, 0.03),
    "write": (0.02, 0.1),
    "written": (0.05, 0.2),
    "read": (0.02, 0.1),
    "delete": (0.05, 0.2),
    "list": (0.3,),
    "outage": (0.01,),
    "slow": (0.02,),
    "commit": (0.1, 0.3),
    "later": (0.2, 0.6),
    "retry": (0.02, 0.1),
    "zombie": (0.02, 0.1),
    "cache": (0.05, 0.3),
    "engine": (0.01,),
    "fold": (0.2,),
}
"""Kinds of faults, and the probabilities with which each comes where it can."""

MOST_FAULTS = 10


class Crash(KeyboardInterrupt):
    """The driver's process is gone. No handler of errors may stop it, as none stops Ctrl-C."""


class Violation(KeyboardInterrupt):
    """An invariant does not hold. No handler of errors may stop it either."""


class UserFailure(Exception):  # noqa: N818
    """A user's function fails."""


class ClusterFailure(Exception):  # noqa: N818
    """The engine fails."""


class World:
    """What a simulated run takes place in."""

    disk: Any
    external: Any
    """Where the output goes."""
    inputs: dict[str, list[Any]]
    names: Iterator[str]

    def __init__(self, seed: int, trace: Callable[[str], None] | None = None) -> None:
        self.rng = random.Random(seed)
        self.seed = seed
        self.trace = trace
        self.now = 1_000_000.0
        """ms"""
        self.calm = False
        """No faults for the time being."""
        self.dead = False
        """The driver has crashed, and what runs now only because Python unwinds the stack must have no effect."""
        self.elsewhere = False
        """What runs now is not the driver but a worker that the driver gave up."""
        rng = self.rng
        kinds = rng.sample(list(RATES), rng.choice((0, 1, 2, 3, 5, len(RATES))))
        self.rates = {kind: rng.choice(RATES[kind]) for kind in RATES if kind in kinds}
        self.faults_left = rng.randint(1, MOST_FAULTS)
        self.happened: list[str] = []

    def log(self, text: str) -> None:
        """Add a line to the trace."""
        if self.trace is not None:
            self.trace(f"{self.now:12.1f}  {text}")

    def fault(self, kind: str, what: object = "") -> bool:
        """Tell whether a fault of this kind happens here and now."""
        rate = self.rates.get(kind)
        if rate is None or self.calm or not self.faults_left or self.rng.random() >= rate:
            return False
        self.faults_left -= 1
        self.happened.append(kind)
        self.log(f"FAULT {kind} {what}")
        return True

    def interrupt(self, kind: str) -> None:
        """Fail if a fault of this kind happens here and now."""
        if self.fault(kind):
            raise OSError(f"{kind} failed")

    def step(self, what: object = "") -> None:
        """A point at which the driver may crash."""
        if self.elsewhere:
            return
        if self.dead:
            raise Crash
        if "crash" in self.rates and self.fault("crash", what):
            self.dead = True
            raise Crash

    def tokens(self) -> Iterator[str]:
        """Return names that are never used twice."""
        while True:
            yield f"{self.rng.getrandbits(128):032x}"


_current: list[World] = []


def the_world() -> World:
    """Return the world that is running; what travels pickled finds it here."""
    return _current[-1]


def enter(world: World) -> None:
    """Make ``world`` the one that runs."""
    _current[:] = [world]


class VirtualClock(Clock):
    """The coordinator's clock: sleeping is what makes time pass."""

    def now_ms(self) -> int:
        return int(the_world().now)

    def sleep(self, seconds: float) -> None:
        the_world().now += max(seconds * 1000, 1)


class _Time(ModuleType):
    """Stands in for the module ``time``."""

    @staticmethod
    def time_ns() -> int:
        return int(the_world().now) * 1_000_000

    @staticmethod
    def time() -> float:
        return the_world().now / 1000

    monotonic = time

    @staticmethod
    def process_time() -> float:
        return 0.0

    @staticmethod
    def sleep(seconds: float) -> None:
        the_world().now += seconds * 1000


class _Hex:
    def __init__(self) -> None:
        self.hex = f"{the_world().rng.getrandbits(128):032x}"


class _Uuid(ModuleType):
    """Stands in for the module ``uuid``: names must not differ from one run of a seed to the next."""

    uuid4 = _Hex


def make_virtual() -> None:
    """Give every module of the package that is loaded the time and the names of the current world."""
    stand_ins: dict[str, tuple[Any, Any]] = {"time": (time, _Time("time")), "uuid": (uuid, _Uuid("uuid"))}
    for name, module in list(sys.modules.items()):
        if name.startswith("flintstream."):
            for attribute, (real, virtual) in stand_ins.items():
                if vars(module).get(attribute) is real:
                    setattr(module, attribute, virtual)
