"""An order that came while a mission is in work, which goes on until a planner or an agent understands the order."""

from __future__ import annotations

from openral_core.cli.printable import plain_line
from openral_core.instant import Instant
from openral_reasoner.mission.attempt import RequestPlan
from openral_reasoner.mission.mission import LogEntry, Mission, MissionState
from openral_reasoner.mission.plan_requests import PlanRequests


class NextOrder:
    """Holds at most one order. Not thread-safe; clocks as in `Director`."""

    def __init__(self, plan_requests: PlanRequests) -> None:
        """Begin without an order.

        Args:
            plan_requests: has the skills that may be used now, and gives out the tickets.
        """
        self._plan_requests = plan_requests
        self._ticket: int | None = None
        self.mission: Mission | None = None
        """What the order becomes once it is understood; None: no order waits."""

    @property
    def waits(self) -> bool:
        """Whether an order waits to be understood."""
        return self.mission is not None

    def counts(self, ticket: int) -> bool:
        """Whether this is the ticket of the order that waits."""
        return self.mission is not None and ticket == self._ticket

    def wait(self, mission: Mission) -> None:
        """Hold an order. There must be none yet."""
        self.mission, self._ticket = mission, None

    def due(self, now: Instant) -> list[RequestPlan]:
        """Return the request for a plan of the order, once, when the palette has settled; else nothing."""
        if self.mission is None or self._ticket is not None or not self._plan_requests.settled(now.wall_s):
            return []
        proposal = self._plan_requests.beside(self.mission)
        self._ticket = proposal.ticket
        return [proposal]

    def take(self) -> tuple[int, Mission]:
        """Give the order up to the caller: return its ticket, 0 where no plan was requested yet, and the order."""
        assert self.mission is not None
        mission, self.mission = self.mission, None
        return self._ticket or 0, mission

    def end(self, kind: str, why: str, now: Instant) -> None:
        """Drop the order, if there is one, and log why.

        Args:
            kind: of the step in the mission log, `refused` or `answered`.
            why: the reason, or the words that answered it.
            now: this moment.
        """
        if self.mission is None:
            return
        _, mission = self.take()
        mission.state, mission.message = MissionState.FAILED, why
        mission.log(LogEntry(now.stamp_s, kind, f'"{plain_line(mission.text)}": {why}', mission.id))
