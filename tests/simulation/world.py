"""The world of one simulated run: its time, its random numbers, its faults and its trace.

All events are drawn from one seed, so that a run is repeatable to the last step. The kinds of faults, and their
probabilities, are drawn first: most runs have few kinds, because kinds that occur together hide one another.
"""

from __future__ import annotations

import random
import sys
import time
import uuid
from types import ModuleType
from typing import TYPE_CHECKING, Any

from flintstream.common import _clock
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
"""Kinds of faults, and the probabilities of each at every possible point."""

MOST_FAULTS = 10


class Crash(KeyboardInterrupt):
    """The driver's process is gone. Like Ctrl-C, no error handler may catch it."""


class Violation(KeyboardInterrupt):
    """An invariant does not hold. No error handler may catch it either."""


class UserFailure(Exception):  # noqa: N818
    """A user's function fails."""


class ClusterFailure(Exception):  # noqa: N818
    """The engine fails."""


class World:
    """The environment of a simulated run."""

    disk: Any
    external: Any
    """The external system that gets the output."""
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
        """The driver has crashed; code that runs only because Python unwinds the stack must have no effect."""
        self.elsewhere = False
        """The running code is not the driver but a worker that the driver has abandoned."""
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
        """Return whether a fault of this kind happens here and now."""
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
        """Yield unique names."""
        while True:
            yield f"{self.rng.getrandbits(128):032x}"


_current: list[World] = []


def the_world() -> World:
    """Return the running world; pickled objects find it here."""
    return _current[-1]


def enter(world: World) -> None:
    """Make ``world`` the running one."""
    _current[:] = [world]


class VirtualClock(Clock):
    """The coordinator's clock: time passes only in sleep."""

    def now_ms(self) -> int:
        return int(the_world().now)

    wall_ms = now_ms

    def sleep(self, seconds: float) -> None:
        the_world().now += max(seconds * 1000, 1)


class _Time(ModuleType):
    """Replacement of the module ``time``."""

    @staticmethod
    def time_ns() -> int:
        return int(the_world().now) * 1_000_000

    monotonic_ns = time_ns

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
    """Replacement of the module ``uuid``: names must be the same in each run of a seed."""

    uuid4 = _Hex


def make_virtual() -> None:
    """Give all loaded modules of the package the time and the names of the current world."""
    stand_ins: dict[str, tuple[Any, Any]] = {"time": (time, _Time("time")), "uuid": (uuid, _Uuid("uuid"))}
    for name, module in list(sys.modules.items()):
        if name.startswith("flintstream."):
            for attribute, (real, virtual) in stand_ins.items():
                if vars(module).get(attribute) is real:
                    setattr(module, attribute, virtual)
    _clock._substitute.set(lambda: int(the_world().now))  # a compiled clock does not look into the module ``time``
