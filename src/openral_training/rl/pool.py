"""Worlds in processes of their own, on this machine. One that dies or hangs is replaced, and nothing is lost.

A world depends on its orders alone, so a new process that is given all orders of the present collection again stands
where the lost one stood, to the byte.
"""

from __future__ import annotations

import contextlib
import multiprocessing
from collections.abc import Mapping
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess

from openral_core.errors import OpenralError, SimulationError
from openral_training.rl.arena import Order, Stand, View
from openral_training.rl.simulators import Grounds, in_order, stage_orders
from openral_training.workers import outlive_interrupts, watch_parent

_spawn = multiprocessing.get_context("spawn")
PATIENCE_S = 120.0
"""[s] of silence after which a process that has its worlds is given up."""
START_S = 1800.0
"""[s] that building worlds may take on a machine with much else to do; a process that dies is noticed at once."""
LOSSES = 3
"""Processes that may be lost in one collection; more, and it is not chance."""
END_S = 10.0
"""[s] a process may take to end by itself."""


@dataclass
class _Member:
    """A process, and all that it was told in this collection."""

    stands: list[list[Stand]]
    """Of each stage."""
    process: SpawnProcess
    pipe: Connection
    told: list[tuple[int, dict[int, Order]]] = field(default_factory=list)
    answered: int = 0
    """How many of them it answered."""
    ready: bool = False
    """Whether it has built its worlds."""

    def receive(self, patience_s: float) -> dict[int, View]:
        """Return the next answer.

        Raises:
            OpenralError: what a world said.
            EOFError, OSError: the process is dead, or was silent too long.
        """
        if not self.ready:
            self._next(START_S)
            self.ready = True
        return self._next(patience_s)

    def _next(self, patience_s: float) -> dict[int, View]:
        if not self.pipe.poll(patience_s):
            raise EOFError
        reply: dict[int, View] | OpenralError = self.pipe.recv()
        if isinstance(reply, OpenralError):
            raise reply
        return reply


class ProcessPool:
    """See `simulators.Simulators`."""

    def __init__(
        self, grounds: Grounds, processes: int, *, patience_s: float = PATIENCE_S, losses: int = LOSSES
    ) -> None:
        """Start the processes; they build their worlds while this one goes on.

        Args:
            grounds: which worlds.
            processes: how many.
            patience_s: [s] of silence after which one is given up.
            losses: processes that may be lost in one collection.
        """
        self.grounds, self.replaced = grounds, 0
        self._patience_s, self._losses, self._count, self._lost = patience_s, losses, processes, 0
        self._members: list[_Member] = []
        try:
            for number in range(processes):
                stands = [grounds.stands(stage, number, processes) for stage in range(grounds.stages)]
                self._members.append(_Member(stands, *self._start(number)))
        except BaseException:
            self.close()
            raise

    @property
    def pids(self) -> list[int]:
        """Process ids, in the order of ranks."""
        return [member.process.pid or 0 for member in self._members]

    def begin(self) -> None:
        """See Simulators."""
        self._lost = 0
        for member in self._members:
            member.told.clear()
            member.answered = 0

    def submit(self, stage: int, orders: Mapping[int, Order]) -> None:
        """See Simulators."""
        for member in self._members:
            if mine := stage_orders(orders, member.stands[stage]):
                member.told.append((stage, mine))
                with contextlib.suppress(OSError):  # it died; `collect` sees to it
                    member.pipe.send((stage, mine))

    def collect(self, stage: int) -> dict[int, View]:
        """See Simulators."""
        views: dict[int, View] = {}
        for number, member in enumerate(self._members):
            if member.answered < len(member.told) and member.told[member.answered][0] == stage:
                views |= self._answer(number)
        return in_order(views)

    def close(self) -> None:
        """See Simulators."""
        for member in self._members:
            member.pipe.close()
        for member in self._members:
            member.process.join(END_S)
            member.process.kill()
            member.process.join()

    def _start(self, number: int) -> tuple[SpawnProcess, Connection]:
        ours, theirs = _spawn.Pipe()
        process = _spawn.Process(target=work, args=(theirs, self.grounds, number, self._count), daemon=True)
        process.start()
        theirs.close()
        return process, ours

    def _answer(self, number: int) -> dict[int, View]:
        """Return a process's next answer; where it is lost, that of its successor."""
        member = self._members[number]
        while True:
            try:
                views = member.receive(self._patience_s)
            except (EOFError, OSError):
                self._replace(member, number)
            else:
                member.answered += 1
                return views

    def _replace(self, lost: _Member, number: int) -> None:
        """End a process, start another and tell it everything again; what was answered before is passed over."""
        lost.process.kill()
        lost.process.join()
        lost.pipe.close()
        self._lost, self.replaced = self._lost + 1, self.replaced + 1
        if self._lost > self._losses:
            raise SimulationError(
                f"{self._lost} processes of worlds were lost in one collection, the last with exit code "
                f"{lost.process.exitcode}; look for memory that runs out, then go on with --resume"
            )
        (lost.process, lost.pipe), lost.ready = self._start(number), False
        with contextlib.suppress(OSError, EOFError):  # it died, too; `_answer` sees to it
            for position, told in enumerate(lost.told):
                lost.pipe.send(told)
                if position < lost.answered:
                    lost.receive(self._patience_s)


def work(pipe: Connection, grounds: Grounds, number: int, processes: int) -> None:
    """Body of a process: carry out what comes through the pipe until it closes."""
    outlive_interrupts()
    watch_parent()
    try:
        arenas = grounds.arenas(number, processes)
    except OpenralError as error:
        pipe.send(error)
        return
    pipe.send({})  # ready
    with contextlib.suppress(EOFError, OSError):
        while True:
            stage, orders = pipe.recv()
            try:
                views: dict[int, View] | OpenralError = arenas[stage].perform(orders)
            except OpenralError as error:
                views = error
            pipe.send(views)
    for arena in arenas:
        arena.close()
