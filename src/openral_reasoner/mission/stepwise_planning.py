"""What an agent may do with a mission in place of a plan: take it over, add tasks to it, and end it on its word."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from openral_core.instant import Instant
from openral_reasoner.mission.ladder.experience import Experience
from openral_reasoner.mission.ladder.recovery import Recovery
from openral_reasoner.mission.mission import Mission, MissionState, Task
from openral_reasoner.mission.next_order import NextOrder
from openral_reasoner.mission.plan_requests import PlanRequests
from openral_reasoner.palette import Skill
from openral_reasoner.planner import PlannedTask


class StepwisePlanning:
    """The director's side of an agent that plans step by step. Not thread-safe; clocks as in `Director`."""

    def __init__(
        self,
        mission: Callable[[], Mission],
        plan_requests: PlanRequests,
        next_order: NextOrder,
        recovery: Recovery,
        experience: Experience,
    ) -> None:
        """Serve the missions of a director.

        Args:
            mission: returns the mission in work.
            plan_requests: has the skills that may be used now, and knows which ticket is awaited.
            next_order: the order that waits while another mission is in work.
            recovery: knows which rungs of the ladder a task may be tried by.
            experience: counts of how often each rung worked.
        """
        self._mission, self._plan_requests, self._next = mission, plan_requests, next_order
        self._recovery, self._experience = recovery, experience

    def take_over(self, ticket: int, who: str, now_s: float) -> Mission | None:
        """Leave the mission of a `RequestPlan` to an agent called `who`, which adds tasks to it and ends it.

        Returns:
            The mission; None: the answer to this ticket is no longer awaited.
        """
        mission = self._of(ticket)
        if mission is not None:
            mission.open_ended = True
            mission.say(now_s, "model", f"{who} plans step by step")
        return mission

    def failed(self, ticket: int, reason: str, now_s: float) -> bool:
        """Take note that the agent of a ticket failed; return whether a planner may answer it, as nothing was run."""
        mission = self._of(ticket)
        if mission is None:
            return False
        mission.say(now_s, "model", reason)
        if mission.tasks:
            mission.end(MissionState.FAILED, now_s, f"the language model failed: {reason}")
            return False
        mission.open_ended = False
        return True

    def _of(self, ticket: int) -> Mission | None:
        """Return the mission in work, or the order that waits, whose ticket this is; None: it is no longer awaited."""
        if self._next.counts(ticket):
            return self._next.mission
        mission = self._mission()
        awaited = self._plan_requests.counts(ticket) and mission.state is MissionState.ACTIVE
        return mission if awaited else None

    def find_skill(self, name: str) -> Skill | None:
        """Return the skill of a manifest name; None: it may not be used now."""
        return self._plan_requests.palette.find(name)

    def add_task(self, planned: PlannedTask, now: Instant, way: str = "") -> None:
        """Add a task to an open-ended mission, tried by a rung that `why_not` allows; it begins with the next tick."""
        self._mission().append(planned, now.stamp_s, way)
        self._plan_requests.wait_anew(now.wall_s)

    def why_not(self, way: str, planned: PlannedTask, mission: Mission, now: Instant) -> str:
        """Return why a task of a mission cannot be tried anew by a rung of the ladder; empty: it can."""
        return self._recovery.why_not(way, planned, mission, self._plan_requests.palette, now)

    def worked_before(self, task: Task) -> Mapping[str, int]:
        """Return how often each rung worked in earlier missions, after the same rungs had failed at this task."""
        return self._experience.worked_before(self._mission(), task)

    def finish(
        self, mission: Mission, done: bool, words: str, now: Instant, *, nothing_to_do: bool = False
    ) -> None:
        """End a mission on its agent's word; an order that waits is logged as answered if `done`, else as refused."""
        if mission is self._next.mission:
            self._next.end("answered" if done else "refused", words, now)
        else:
            mission.finish(done, words, now.stamp_s, nothing_to_do=nothing_to_do)
