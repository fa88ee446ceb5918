"""The mission: a list of tasks in their order, each with its state, attempts and outcome; each change is logged."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum

from openral_reasoner.condition import Guard, Until
from openral_reasoner.mission.goal_report import GoalReport
from openral_reasoner.planner import Plan, PlannedTask

MAX_ATTEMPTS = 3
"""Attempts at a task in one way, where each was broken off by something else than its own failure."""


class TaskState(str, Enum):
    """States of a task; the values travel in `openral/msg/MissionTask`."""

    PENDING = "pending"
    ACTIVE = "active"
    VERIFYING = "verifying"
    """The reward monitor calls it done, but not yet for as many readings as needed; or its goal is being cancelled."""
    DONE = "done"
    ABANDONED = "abandoned"
    SKIPPED = "skipped"
    """Its condition did not hold, so it was not begun."""


class MissionState(str, Enum):
    """States of a mission; the values travel in `openral/msg/Mission`."""

    IDLE = "idle"
    ACTIVE = "active"
    DONE = "done"
    FAILED = "failed"
    STOPPED = "stopped"

    @property
    def ended(self) -> bool:
        """Whether it is done, failed or stopped."""
        return self in (MissionState.DONE, MissionState.FAILED, MissionState.STOPPED)


@dataclass
class Task:
    """One task of a mission, and what came of it so far."""

    planned: PlannedTask
    state: TaskState = TaskState.PENDING
    attempts: int = 0
    progress: float = -1.0
    """0..1 last reading, -1 while unknown."""
    success: float = -1.0
    outcome: str = ""
    started_s: float = 0.0
    """[s] node clock, 0 before it started."""
    ended_s: float = 0.0
    depth: int = 0
    """How many tasks it is nested in that were decomposed; 0: it was planned from the operator's words."""
    tries: int = 0
    """Attempts since the last rung of the ladder was taken."""
    climbed: list[str] = field(default_factory=list)
    """Rungs of the ladder that were taken for it, see `openral_reasoner.mission.ladder.rungs`; none is taken twice."""
    tried: list[str] = field(default_factory=list)
    """Manifest names of the skills that failed at it."""
    failed: list[str] = field(default_factory=list)
    """Rungs by which it was tried and failed, in their order; `first`: as it was planned."""
    report: GoalReport | None = None
    """How its newest goal ended, which may be a motion's; None: none has ended, or the newest without a result."""
    stands_for: PlannedTask | None = None
    """The decomposed task of which this is the last step; None: it is the last step of none."""
    way: str = ""
    """Rung by which it is tried now; empty: as it was planned."""

    @property
    def ended_as_asked(self) -> bool:
        """Whether a stop condition or step budget of its agent ended its goal, which does not say that it is done."""
        asked = bool(self.planned.stop_when or self.planned.max_steps)
        return asked and self.report is not None and bool(self.report.stop)


@dataclass(frozen=True)
class LogEntry:
    """One step in the log of a mission, with its reason."""

    stamp_s: float
    """[s] node clock."""
    kind: str
    """Of a mission: prompt, plan, condition, prepare, attempt, reading, abstained, stopped, verdict, measure, silent,
    done, abandoned or mission. Of the ladder: retry, go on, home, restage, other skill, grasp, motions, decompose,
    time, question or answer. After a restart: resume. Of an agent: steps, says, reason, refused or model; of one
    outside the reasoner also call and reply. Of words that became no mission: stop, refused or answered. Of a reward
    monitor that falls silent: monitor."""
    reason: str
    mission: str
    task: int = -1
    """Index of the task; -1: the mission as a whole."""
    text: str = ""
    attempt: int = 0
    progress: float = -1.0
    success: float = -1.0
    outcome: str = ""
    """State of the task, or of the mission where `task` is -1; empty: of words that became no mission."""


@dataclass
class Mission:
    """The operator's sentence, its tasks, and how far they have come; each change is logged."""

    id: str
    text: str
    log: Callable[[LogEntry], None]
    state: MissionState = MissionState.IDLE
    tasks: list[Task] = field(default_factory=list)
    active_task: int = -1
    message: str = ""
    open_ended: bool = False
    """An agent adds the tasks one at a time and ends the mission."""
    outside: bool = False
    """That agent is outside the reasoner, and began the mission without words of the operator."""
    question: str = ""
    """What the operator is being asked; empty: nothing."""
    answers: tuple[str, ...] = ()
    """One word for each answer to the question; empty: any words are an answer."""
    stamp_s: float = 0.0
    """[s] node clock of its last step."""
    begun_s: float | None = None
    """[s] node clock of its first step."""

    @property
    def current(self) -> Task | None:
        """The task in work; None: there is none."""
        return self.tasks[self.active_task] if 0 <= self.active_task < len(self.tasks) else None

    def postpone(self, duration_s: float) -> None:
        """Take a pause of this duration [s] out of the mission's time."""
        if self.begun_s is not None:
            self.begun_s += duration_s

    def say(self, now_s: float, kind: str, reason: str) -> None:
        """Log one step, and make its reason the mission's message."""
        self.message, self.stamp_s = reason, now_s
        self.begun_s = now_s if self.begun_s is None else self.begun_s
        task = self.current
        self.log(
            LogEntry(
                stamp_s=now_s,
                kind=kind,
                reason=reason,
                mission=self.id,
                task=self.active_task,
                text=task.planned.text if task else self.text,
                attempt=task.attempts if task else 0,
                progress=task.progress if task else -1.0,
                success=task.success if task else -1.0,
                outcome=task.state.value if task else self.state.value,
            )
        )

    def adopt(self, plan: Plan, now_s: float) -> None:
        """Take the tasks of a plan, and make the first one current."""
        self.tasks = [Task(planned) for planned in plan.tasks]
        self.state = MissionState.ACTIVE
        steps = "; ".join(f'"{task.text}" with {task.skill.name}' for task in plan.tasks)
        self.say(now_s, "plan", f"{len(plan.tasks)} task{'s' if len(plan.tasks) > 1 else ''}: {steps}")
        self.active_task = 0

    def append(self, planned: PlannedTask, now_s: float, way: str = "") -> None:
        """Add one task and make it current; `way` is the rung of the ladder by which it is tried, empty: none."""
        self.tasks.append(Task(planned, way=way, climbed=[way] if way else []))
        tried = f", {way}" if way else ""
        self.say(now_s, "plan", f'next: "{planned.text}" with {planned.skill.name}{tried}')
        self.active_task = len(self.tasks) - 1

    def attempt(self, now_s: float) -> Task:
        """Begin the next attempt at the current task, and return the task."""
        task = self.tasks[self.active_task]
        task.attempts += 1
        task.tries += 1
        task.state = TaskState.ACTIVE
        task.progress = task.success = -1.0
        task.started_s = task.started_s or now_s
        return task

    def complete(self, now_s: float, reason: str) -> None:
        """End the current task as done; go on to the next one, or end the mission as done."""
        self._end_task(TaskState.DONE, now_s, reason)
        if self.open_ended:
            self.active_task = -1
        elif self.tasks[self.active_task].planned.until is None:
            self.advance(now_s)  # else the condition of the loop that ends here decides

    def advance(self, now_s: float) -> None:
        """Go on to the next pending task; without one end the mission, as done where every task is done or skipped."""
        left = range(self.active_task + 1, len(self.tasks))
        following = next((i for i in left if self.tasks[i].state is TaskState.PENDING), None)
        if following is not None:
            self.active_task = following
            return
        done = sum(task.state is TaskState.DONE for task in self.tasks)
        skipped = sum(task.state is TaskState.SKIPPED for task in self.tasks)
        if done + skipped < len(self.tasks):
            words = f"{done} of {len(self.tasks)} tasks, the operator left the others out"
            self.end(MissionState.FAILED, now_s, f"mission not done: {words}")
            return
        if not done:
            self.end(MissionState.DONE, now_s, f"nothing had to be done: {self.tasks[-1].outcome}")
            return
        words = f"mission done: {done} of {len(self.tasks)} tasks"
        self.end(MissionState.DONE, now_s, f"{words}, {skipped} not needed" if skipped else words)

    def branch(self, guard: Guard, holds: bool, reason: str, now_s: float) -> None:
        """Skip the tasks that the guard of the current task excludes, by whether its condition holds, and go on."""
        first, last = self.active_task, self.active_task + guard.span
        ruled_out = range(last, last + guard.otherwise) if holds else range(first, last)
        self.say(now_s, "condition", reason)
        for task in self.tasks[ruled_out.start : ruled_out.stop]:
            task.state, task.outcome = TaskState.SKIPPED, reason
        if not holds:
            self.active_task = last - 1
            self.advance(now_s)

    def again(self, until: Until, reason: str, now_s: float) -> None:
        """Insert another round of a loop behind the current task, its last one, and go on with the first task of it."""
        here = self.active_task + 1
        planned = [task.planned for task in self.tasks[here - until.span : here]]
        planned[-1] = replace(planned[-1], until=replace(until, rounds=until.rounds - 1))
        planned[0] = replace(planned[0], guard=None)
        self.tasks[here:here] = [Task(each) for each in planned]
        self.say(now_s, "condition", reason)
        self.active_task = here

    def leave_out(self, now_s: float, reason: str) -> None:
        """Abandon the current task and go on with the next one; the mission can no longer end as done."""
        self._end_task(TaskState.ABANDONED, now_s, reason)
        self.advance(now_s)

    def reassign(self, planned: PlannedTask) -> None:
        """Replace the skill of the current task; its words, guard and loop stay as they were planned."""
        task = self.tasks[self.active_task]
        before = task.planned
        task.planned = replace(planned, text=before.text, guard=before.guard, until=before.until)
        task.state, task.tries = TaskState.PENDING, 0

    def decompose(self, steps: Sequence[PlannedTask]) -> None:
        """Replace the current task by steps that are nested one level deeper."""
        here = self.active_task
        failed = self.tasks[here]
        self.tasks[here : here + 1] = [Task(step, depth=failed.depth + 1) for step in steps]
        self.tasks[here + len(steps) - 1].stands_for = failed.stands_for or failed.planned

    def history(self) -> tuple[str, ...]:
        """Return one line for each task: its words, its state, and its outcome."""
        lines = ((task.planned.text, task.state.value, task.outcome) for task in self.tasks)
        return tuple(
            f'"{text}": {state}{f", {outcome}" if outcome else ""}' for text, state, outcome in lines
        )

    def abandon(self, now_s: float, reason: str) -> None:
        """Abandon the current task, and end the mission as failed, since later tasks may depend on it.

        An open-ended mission goes on: its agent decides what comes next.
        """
        task = self.tasks[self.active_task]
        self._end_task(TaskState.ABANDONED, now_s, reason)
        if self.open_ended:
            self.active_task = -1
            return
        attempts = f"{task.attempts} attempt{'s' if task.attempts != 1 else ''}"
        self.end(
            MissionState.FAILED, now_s, f'"{task.planned.text}" was abandoned after {attempts}: {reason}'
        )

    def finish(self, done: bool, words: str, now_s: float, *, nothing_to_do: bool = False) -> None:
        """End an open-ended mission on an agent's word.

        It ends as done only if every task was done when it was tried last. Without any task it ends as done only if an
        observation showed that none was needed.

        Args:
            done: whether the agent calls it done.
            words: of the agent, for the operator.
            now_s: [s] node clock.
            nothing_to_do: whether an observation of this mission showed that no task had to run.
        """
        newest = {(task.planned.skill.name, task.planned.text): task for task in self.tasks}
        unmet = [task for task in newest.values() if task.state is not TaskState.DONE]
        if done and unmet:
            text, outcome = unmet[0].planned.text, unmet[0].outcome
            self.end(MissionState.FAILED, now_s, f'called done, but "{text}" was not: {outcome}')
        elif done and not self.tasks and nothing_to_do:
            self.end(MissionState.DONE, now_s, f"nothing had to be done: {words}")
        elif done and not self.tasks:
            self.end(
                MissionState.FAILED,
                now_s,
                f"called done, but no skill was run and nothing was observed: {words}",
            )
        else:
            self.end(MissionState.DONE if done else MissionState.FAILED, now_s, words)

    def end(self, state: MissionState, now_s: float, reason: str) -> None:
        """End the mission, and abandon a task in work for the same reason."""
        task = self.current
        if task and task.state in (TaskState.ACTIVE, TaskState.VERIFYING):
            self._end_task(TaskState.ABANDONED, now_s, reason)
        self.state = state
        self.active_task = -1
        self.question, self.answers = "", ()
        self.say(now_s, "mission", reason)

    def _end_task(self, state: TaskState, now_s: float, reason: str) -> None:
        task = self.tasks[self.active_task]
        task.state = state
        task.ended_s = now_s
        task.outcome = reason
        self.say(now_s, state.value, reason)
