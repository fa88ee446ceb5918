"""Requests to the planner: when one is made, with which palette, and which answer is awaited.

Each request has a ticket, a number that its answer repeats. The answer to any other ticket than the newest is ignored.
"""

from __future__ import annotations

from openral_core.instant import Instant
from openral_reasoner.mission.attempt import DirectorConfig, RequestPlan
from openral_reasoner.mission.mission import Mission, MissionState
from openral_reasoner.palette import Palette


class PlanRequests:
    """Holds the palette and the ticket whose answer is awaited. Not thread-safe; clocks as in `Director`."""

    def __init__(self, config: DirectorConfig, *, awaits_policies: bool) -> None:
        """Begin without skills.

        Args:
            config: how long skills are waited for.
            awaits_policies: the deployment has policies, so nothing is planned while there are motions alone.
        """
        self._config, self._awaits_policies = config, awaits_policies
        self._palette_wall_s = self._waiting_since_wall_s = 0.0
        self._ticket = self._last_ticket = 0
        self.palette = Palette()
        """The skills that may be used now."""
        self.made = False
        """Whether a plan of the mission in work was requested, or it needs none."""

    def take(self, palette: Palette, wall_s: float) -> None:
        """Take the skills that may be used from now on."""
        if palette != self.palette:
            self.palette, self._palette_wall_s = palette, wall_s

    def wait_anew(self, wall_s: float) -> None:
        """Restart the time for which missing skills are waited for, since the mission has made progress."""
        self._waiting_since_wall_s = wall_s

    def waited_s(self, wall_s: float) -> float:
        """Return the time [s] since the mission last made progress."""
        return wall_s - self._waiting_since_wall_s

    def counts(self, ticket: int) -> bool:
        """Whether an answer to the `RequestPlan` of that ticket is still awaited."""
        return ticket == self._ticket

    def outdate(self) -> None:
        """Ignore the answers to all earlier tickets; the mission needs no further plan."""
        self.made = True
        self._ticket = self._next_ticket()

    def adopt(self, ticket: int) -> None:
        """Await the answer to this ticket alone; the mission needs no further plan."""
        self.made = True
        self._ticket = ticket

    def plan(self, mission: Mission, now: Instant) -> list[RequestPlan]:
        """Return the request for a plan of the mission; none while `ready` is False."""
        if not self.ready(mission, now):
            return []
        self.outdate()
        return [RequestPlan(self._ticket, mission.text, self.palette, history=mission.history())]

    def part(self, wanted: tuple[str, Palette] | None) -> list[RequestPlan]:
        """Return the request for another way to do a task of the mission.

        Args:
            wanted: words of the task and the palette to plan with; None: nothing is requested.
        """
        if wanted is None:
            return []
        self._ticket = self._next_ticket()
        return [RequestPlan(self._ticket, *wanted, part=True)]

    def beside(self, mission: Mission) -> RequestPlan:
        """Return the request for a plan of an order that waits; the ticket of the mission in work stays awaited."""
        return RequestPlan(self._next_ticket(), mission.text, self.palette, beside=True)

    def settled(self, wall_s: float) -> bool:
        """Whether the palette holds skills to plan with, and has not changed for `palette_settle_s`."""
        usable = self.palette.has_policies or (self.palette.skills and not self._awaits_policies)
        return bool(usable) and wall_s - self._palette_wall_s >= self._config.palette_settle_s

    def _next_ticket(self) -> int:
        self._last_ticket += 1
        return self._last_ticket

    def ready(self, mission: Mission, now: Instant) -> bool:
        """Return whether the palette has settled; a mission that has waited for it too long is ended as failed."""
        if self.settled(now.wall_s):
            return True
        if self.waited_s(now.wall_s) > self._config.palette_patience_s:
            why = "; ".join(f"{name}: {reason}" for name, reason in self.palette.excluded.items())
            found = f"not usable: {why}" if why else "no policy node announced itself"
            patience = f"{self._config.palette_patience_s:.0f} s"
            mission.end(MissionState.FAILED, now.stamp_s, f"no skill is ready after {patience} ({found})")
        return False
