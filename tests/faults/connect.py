"""A job on Spark Connect whose client, server, executors and workers are killed."""

from __future__ import annotations

import itertools
import random
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tests.connect_server import TOKEN, Server, running_server
from tests.faults.rounds import Course, Round

if TYPE_CHECKING:
    from collections.abc import Mapping

MASTERS = {"connect": "local[2]", "connect-cluster": "local-cluster[2,1,1024]"}
"""Where a server of each place runs its tasks."""


def rounds(victims: Mapping[str, int], place: str, kills: int, seed: int) -> list[Round]:
    """Return rounds in which so many processes of each kind are killed, in an order that follows from the seed.

    Args:
        victims: how many kills of each kind.
        place: one of :data:`MASTERS`.
        kills: how many kills a round has at most.
        seed: of the first round.
    """
    rng = random.Random(seed)
    order = list(itertools.chain.from_iterable([victim] * number for victim, number in victims.items()))
    rng.shuffle(order)
    parts = [order[at : at + kills] for at in range(0, len(order), kills)]
    return [
        Round(
            seed + number, place, ("hashmap", "rocksdb")[number % 2], number % 4 in {1, 2},
            tuple((victim, rng.uniform(0, 1.5)) for victim in part), (2, 1, 3),
        )
        for number, part in enumerate(parts)
    ]  # fmt: skip


@dataclass
class ConnectCourse(Course):
    """A round on a server of its own. ``driver`` is the client, and ``jvm`` the server."""

    servers: ExitStack = field(default_factory=ExitStack)
    server: Server | None = None

    def _new_cluster(self) -> None:
        self._serve()

    def _serve(self) -> None:
        self.server = self.servers.enter_context(running_server(like=self.server, master=MASTERS[self.plan.place]))
        self.say(f"the server is process {self.server.process.pid}")

    @property
    def _running(self) -> Server:
        assert self.server is not None
        return self.server

    @property
    def _master(self) -> str:
        return self._running.address

    @property
    def _records(self) -> int:
        return 3 * super()._records  # an epoch takes longer, and the source reads until its end

    def _variables(self) -> Mapping[str, str]:
        return {TOKEN: self._running.token}

    def _nodes(self) -> list[int]:
        return [self._running.process.pid]

    def _replace(self, victim: str) -> None:
        if victim in {"jvm", "tree"}:
            self._running.process.wait()
            self._serve()
        super()._replace(victim)

    def _close_cluster(self) -> None:
        self.servers.close()
