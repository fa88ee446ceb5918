"""An order that came while a mission is in work: the mission goes on until somebody has understood the order."""

from __future__ import annotations

from openral_core.instant import Instant
from openral_reasoner.mission.attempt import Propose
from openral_reasoner.mission.mission import LogEntry, Mission, MissionState
from openral_reasoner.mission.plan_requests import Proposals
from openral_reasoner.plain_line import plain_line


class NextOrder:
    """Holds one order at a time. Not thread-safe; clocks as in `Director`."""

    def __init__(self, proposals: Proposals) -> None:
        """Begin with nothing that waits.

        Args:
            proposals: has the skills that may be used now, and counts the tickets.
        """
        self._proposals = proposals
        self._ticket: int | None = None
        self.mission: Mission | None = None
        """What the order becomes once it is understood; None: no order waits."""

    @property
    def waits(self) -> bool:
        """An order waits to be understood."""
        return self.mission is not None

    def counts(self, ticket: int) -> bool:
        """Whether the order that waits is that of a ticket."""
        return self.mission is not None and ticket == self._ticket

    def wait(self, mission: Mission) -> None:
        """Let an order wait; there must be none."""
        self.mission, self._ticket = mission, None

    def due(self, now: Instant) -> list[Propose]:
        """Ask what the order means, once and as soon as the palette has settled."""
        if self.mission is None or self._ticket is not None or not self._proposals.settled(now.wall_s):
            return []
        proposal = self._proposals.beside(self.mission)
        self._ticket = proposal.ticket
        return [proposal]

    def take(self) -> tuple[int, Mission]:
        """Return the order that waits, which from now on is none, and its ticket, 0 before it was asked about."""
        assert self.mission is not None
        mission, self.mission = self.mission, None
        return self._ticket or 0, mission

    def end(self, kind: str, why: str, now: Instant) -> None:
        """Say that the order becomes no mission: it is `refused` or `answered`, and why, or with which words."""
        if self.mission is None:
            return
        _, mission = self.take()
        mission.state, mission.message = MissionState.FAILED, why
        mission.log(LogEntry(now.stamp_s, kind, f'"{plain_line(mission.text)}": {why}', mission.id))
