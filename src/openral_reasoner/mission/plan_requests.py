"""What is asked of the planner, when, and with which palette. A plan has a ticket; an answer to an older is late."""

from __future__ import annotations

from openral_core.instant import Instant
from openral_reasoner.mission.attempt import DirectorConfig, Propose
from openral_reasoner.mission.mission import Mission, MissionState
from openral_reasoner.palette import Palette


class Proposals:
    """The palette that may be planned with, and the plan that is awaited. Not thread-safe; clocks as in `Director`."""

    def __init__(self, config: DirectorConfig, *, awaits_policies: bool) -> None:
        """Begin without skills.

        Args:
            config: how patient the director is.
            awaits_policies: motions alone are no palette to plan with; policies are still to come.
        """
        self._config, self._awaits_policies = config, awaits_policies
        self._palette_wall_s = self._waiting_since_wall_s = 0.0
        self._ticket = self._last_ticket = 0
        self.palette = Palette()
        """What may be used now."""
        self.made = False
        """A planner was asked for a plan of the mission, or the mission needs none."""

    def take(self, palette: Palette, wall_s: float) -> None:
        """The usable skills are these."""
        if palette != self.palette:
            self.palette, self._palette_wall_s = palette, wall_s

    def wait_anew(self, wall_s: float) -> None:
        """The mission got on: the patience with skills that are not there begins anew."""
        self._waiting_since_wall_s = wall_s

    def waited_s(self, wall_s: float) -> float:
        """Return for how long the mission has not got on [s]."""
        return wall_s - self._waiting_since_wall_s

    def counts(self, ticket: int) -> bool:
        """Whether an answer to the `Propose` of that ticket is still awaited."""
        return ticket == self._ticket

    def outdate(self) -> None:
        """Answers that are still on their way count no more; the mission needs no plan."""
        self.made = True
        self._ticket = self._next_ticket()

    def adopt(self, ticket: int) -> None:
        """The answer that counts is that to the `Propose` of this ticket; the mission needs no other plan."""
        self.made = True
        self._ticket = ticket

    def plan(self, mission: Mission, now: Instant) -> list[Propose]:
        """Ask for a plan of the mission, once the palette has settled; see `ready`."""
        if not self.ready(mission, now):
            return []
        self.outdate()
        return [Propose(self._ticket, mission.text, self.palette, history=mission.history())]

    def part(self, wanted: tuple[str, Palette] | None) -> list[Propose]:
        """Ask for another way to do a task, in the words and with the palette that are wanted, if any are."""
        if wanted is None:
            return []
        self._ticket = self._next_ticket()
        return [Propose(self._ticket, *wanted, part=True)]

    def beside(self, mission: Mission) -> Propose:
        """Ask what an order means that waits beside the mission in work, whose own ticket goes on to count."""
        return Propose(self._next_ticket(), mission.text, self.palette, beside=True)

    def settled(self, wall_s: float) -> bool:
        """Whether the palette has not changed for a while, and can be planned with."""
        usable = self.palette.has_policies or (self.palette.skills and not self._awaits_policies)
        return bool(usable) and wall_s - self._palette_wall_s >= self._config.palette_settle_s

    def _next_ticket(self) -> int:
        self._last_ticket += 1
        return self._last_ticket

    def ready(self, mission: Mission, now: Instant) -> bool:
        """Whether the palette has settled; a mission that waited too long for it has failed."""
        if self.settled(now.wall_s):
            return True
        if self.waited_s(now.wall_s) > self._config.palette_patience_s:
            why = "; ".join(f"{name}: {reason}" for name, reason in self.palette.excluded.items())
            found = f"not usable: {why}" if why else "no policy node announced itself"
            patience = f"{self._config.palette_patience_s:.0f} s"
            mission.end(MissionState.FAILED, now.stamp_s, f"no skill is ready after {patience} ({found})")
        return False
