"""Resumes a mission after a restart of its node, so that no motion is repeated unasked.

Whatever still moves is cancelled first. Then the mission goes on only if the deployment or the operator allows it. The
reward monitor is asked about the task that was in work before anything moves: if it is done, it counts as done; if not,
the ladder decides about another attempt; if nobody can tell, it is treated as an attempt that could not be verified.
"""

from __future__ import annotations

from collections.abc import Callable

from openral_core.instant import Instant
from openral_core.scene import Resume
from openral_reasoner.condition import Condition
from openral_reasoner.mission.attempt import AskWorld, Command, StopSkills
from openral_reasoner.mission.mission import Mission, MissionState, TaskState
from openral_reasoner.mission.question import YES_OR_NO, AskOperatorFor
from openral_reasoner.mission.verify_gate import GateVerdict, Judgement

KEY = -1
"""Key of the one `AskWorld` of a resumption; those of `Branching` are positive."""
REST_PATIENCE_S = 30.0
"""[s] wall time that motion begun before the restart may take to end."""
STOP_PERIOD_S = 1.0
"""[s] wall time between two cancellations of such motion."""


class Resumption:
    """What happens to one mission between the restart and its next task. Not thread-safe."""

    def __init__(self, mission: Mission, policy: Resume, patience_s: float, ask: AskOperatorFor) -> None:
        """Begin.

        Args:
            mission: as it was recorded; its current task is the one that was in work.
            policy: `always`: it goes on; `ask`: if the operator says so; `never`: it is stopped.
            patience_s: [s] wall time the operator has for an answer.
            ask: asks the operator.
        """
        self._mission, self._policy = mission, policy
        self._patience_s, self._ask = patience_s, ask
        self._allowed = self._asking = self._looking = self._rested = False
        self._rest_since_wall_s: float | None = None
        self._stopped_wall_s = float("-inf")

    def begin(self, now_s: float) -> None:
        """Log how far the mission had come."""
        mission, task = self._mission, self._mission.current
        done = sum(task.state is TaskState.DONE for task in mission.tasks)
        where = (
            f'in "{task.planned.text}", attempt {task.attempts}'
            if task and task.attempts
            else "between two tasks"
        )
        mission.question = ""
        stamp_s = mission.stamp_s
        mission.say(
            now_s,
            "resume",
            f"the reasoner was restarted {where}; {done} of {len(mission.tasks)} tasks are done",
        )
        mission.stamp_s = stamp_s  # the clock may have begun anew, and is compared with this

    def step(self, now: Instant, ready: Callable[[], bool], active_goal: str | None) -> list[Command] | None:
        """Go on as far as possible.

        Args:
            now: this moment.
            ready: returns whether the skills are there; it ends the mission if they do not come in time.
            active_goal: hex UUID of the goal that the bridge executes, empty: none; None: the bridge is not heard yet.

        Returns:
            Commands to carry out; None: all is found out, and the mission goes on.
        """
        mission = self._mission
        commands = self._stop(now.wall_s, active_goal)
        if now.stamp_s <= 0:
            return commands
        if now.stamp_s < mission.stamp_s:
            mission.end(
                MissionState.STOPPED,
                now.stamp_s,
                "stopped: the world began anew since, so nothing of it holds",
            )
        elif not self._at_rest(now, ready, active_goal) or self._asking:
            return commands
        elif not self._allowed:
            self._ask_permission(now, ready)
        else:
            return self._look(now.stamp_s)
        return commands

    def judge(self, holds: bool | None, why: str) -> Judgement:
        """Return the judgement of the interrupted attempt, by whether its task is done now (None: nobody can tell)."""
        if holds is None:
            return Judgement(GateVerdict.UNVERIFIED, f"the restart broke it off: {why}")
        if holds:
            return Judgement(GateVerdict.SUCCEEDED, f"it was done when the reasoner came back: {why}")
        reason = f"the restart broke it off, and it is not done: {why}"
        return Judgement(GateVerdict.STALLED, reason, broken_off=True)

    def _ask_permission(self, now: Instant, ready: Callable[[], bool]) -> None:
        mission = self._mission
        if self._policy == "never":
            mission.end(
                MissionState.STOPPED,
                now.stamp_s,
                "stopped: the reasoner was restarted, and here nothing is resumed",
            )
            return
        if not ready():
            return
        if self._policy == "always":
            self._allow(now.stamp_s, "it goes on, because this deployment always resumes")
            return

        def answered(choice: str | None, now: Instant) -> None:
            self._asking = False
            if choice == "yes":
                self._allow(now.stamp_s, "it goes on, the operator wants it")
            else:
                mission.end(
                    MissionState.STOPPED,
                    now.stamp_s,
                    "stopped: the reasoner was restarted, and nobody said to go on",
                )

        self._asking = True
        text = f'The reasoner was restarted in the middle of "{mission.text}". Go on, yes or no?'
        self._ask(text, self._patience_s, answered, now, YES_OR_NO)

    def _allow(self, now_s: float, reason: str) -> None:
        self._allowed = True
        self._mission.say(now_s, "resume", reason)

    def _look(self, now_s: float) -> list[Command] | None:
        task = self._mission.current
        if task is None or task.state not in (TaskState.ACTIVE, TaskState.VERIFYING):
            return None
        if self._looking:
            return []
        self._looking = True
        self._mission.say(now_s, "resume", f'is "{task.planned.text}" done?')
        words = task.planned.instruction
        return [AskWorld(KEY, Condition(text=f'"{task.planned.text}" is done', task=words))]

    def _stop(self, wall_s: float, active_goal: str | None) -> list[Command]:
        """Cancel what still moves, once a period, since the node that executes it may be discovered late."""
        if not active_goal or self._rested or wall_s - self._stopped_wall_s < STOP_PERIOD_S:
            return []
        self._stopped_wall_s = wall_s
        return [StopSkills()]

    def _at_rest(self, now: Instant, ready: Callable[[], bool], active_goal: str | None) -> bool:
        """Return whether nothing moves any more; the mission is ended as failed if that takes too long."""
        self._rested = self._rested or active_goal == ""
        if self._rested or not ready():
            return self._rested
        self._rest_since_wall_s = self._rest_since_wall_s or now.wall_s
        if now.wall_s - self._rest_since_wall_s > REST_PATIENCE_S:
            what = "the bridge is silent" if active_goal is None else f"goal {active_goal} does not end"
            self._mission.end(
                MissionState.FAILED, now.stamp_s, f"the mission cannot go on after the restart: {what}"
            )
        return False
