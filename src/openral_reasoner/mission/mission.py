"""The mission: an ordered queue of tasks, each with its state, attempts and outcome, all logged."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum

from openral_reasoner.condition import Guard, Until
from openral_reasoner.mission.goal_report import GoalReport
from openral_reasoner.planner import Plan, PlannedTask

MAX_ATTEMPTS = 3
PER_SKILL = ("go on", "home", "restage", "grasp")
"""Rungs of the ladder that another skill may climb once more."""


class TaskState(str, Enum):
    """States of a task; the values travel in `openral/msg/MissionTask`."""

    PENDING = "pending"
    ACTIVE = "active"
    VERIFYING = "verifying"
    """Both heads are above the threshold, the dwell is not yet full; or the goal is being ended."""
    DONE = "done"
    ABANDONED = "abandoned"
    SKIPPED = "skipped"
    """Its condition did not hold; it never began."""


class MissionState(str, Enum):
    """States of a mission; the values travel in `openral/msg/Mission`."""

    IDLE = "idle"
    ACTIVE = "active"
    DONE = "done"
    FAILED = "failed"
    STOPPED = "stopped"

    @property
    def ended(self) -> bool:
        """Whether nothing will happen any more."""
        return self in (MissionState.DONE, MissionState.FAILED, MissionState.STOPPED)


@dataclass
class Task:
    """One task and what became of it."""

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
    """How many decompositions it comes from; 0: it was planned from the operator's words."""
    tries: int = 0
    """Attempts since the last rung of the ladder."""
    climbed: list[str] = field(default_factory=list)
    """Rungs of the ladder that were used up for it, see `openral_reasoner.mission.ladder.rungs`."""
    tried: list[str] = field(default_factory=list)
    """Skills that failed at it."""
    failed: list[str] = field(default_factory=list)
    """Ways in which it failed, in their order; `first` is as it was planned."""
    report: GoalReport | None = None
    """How the newest goal for it ended, a motion's among them; None: none has, or the newest was never answered."""
    stands_for: PlannedTask | None = None
    """The task whose steps end with this one."""
    way: str = ""
    """Rung by which it is tried now; empty: as it was planned."""

    @property
    def ended_as_asked(self) -> bool:
        """A condition or a bound that its agent gave ended its goal, which says nothing about whether it is done."""
        asked = bool(self.planned.stop_when or self.planned.max_steps)
        return asked and self.report is not None and bool(self.report.stop)


@dataclass(frozen=True)
class LogEntry:
    """One step of a mission, with its reason."""

    stamp_s: float
    """[s] node clock."""
    kind: str
    """prompt, plan, condition, prepare, attempt, reading, abstained, stopped, verdict, measure, silent, done, abandoned
    or mission; of the ladder retry, home, restage, other skill, grasp, motions, decompose, time, question or answer;
    after a restart resume; of an agent steps, says, reason, refused or model; of an agent outside the reasoner call and
    reply; of words that became no mission stop, refused or answered; of the reward monitor's silence monitor."""
    reason: str
    mission: str
    task: int = -1
    """Index of the task, -1: the mission as a whole."""
    text: str = ""
    attempt: int = 0
    progress: float = -1.0
    success: float = -1.0
    outcome: str = ""
    """State of the task, or of the mission where `task` is -1; empty: of words that became no mission."""


@dataclass
class Mission:
    """The operator's sentence, its tasks, and how far they got; what changes is logged."""

    id: str
    text: str
    log: Callable[[LogEntry], None]
    state: MissionState = MissionState.IDLE
    tasks: list[Task] = field(default_factory=list)
    active_task: int = -1
    message: str = ""
    open_ended: bool = False
    """An agent adds the tasks one at a time and says when the mission is over."""
    outside: bool = False
    """That agent is outside the reasoner, and no operator's words began the mission."""
    question: str = ""
    """What the operator is asked just now; empty: nothing."""
    answers: tuple[str, ...] = ()
    """Words that answer the question, one of each kind; empty: any words do."""
    stamp_s: float = 0.0
    """[s] node clock of its last step."""
    begun_s: float | None = None
    """[s] node clock of its first step."""

    @property
    def current(self) -> Task | None:
        """The task in work, if there is one."""
        return self.tasks[self.active_task] if 0 <= self.active_task < len(self.tasks) else None

    def postpone(self, duration_s: float) -> None:
        """Let a time [s] in which the mission's clock stood still not count."""
        if self.begun_s is not None:
            self.begun_s += duration_s

    def say(self, now_s: float, kind: str, reason: str) -> None:
        """Log one step and make its reason the mission's last words."""
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
        """Take a plan's tasks and make the first one current."""
        self.tasks = [Task(planned) for planned in plan.tasks]
        self.state = MissionState.ACTIVE
        steps = "; ".join(f'"{task.text}" with {task.skill.name}' for task in plan.tasks)
        self.say(now_s, "plan", f"{len(plan.tasks)} task{'s' if len(plan.tasks) > 1 else ''}: {steps}")
        self.active_task = 0

    def append(self, planned: PlannedTask, now_s: float, way: str = "") -> None:
        """Add one task and make it current; a way that is a rung of the ladder is how it is tried."""
        self.tasks.append(Task(planned, way=way, climbed=[way] if way else []))
        tried = f", {way}" if way else ""
        self.say(now_s, "plan", f'next: "{planned.text}" with {planned.skill.name}{tried}')
        self.active_task = len(self.tasks) - 1

    def attempt(self, now_s: float) -> Task:
        """Begin the next attempt at the current task."""
        task = self.tasks[self.active_task]
        task.attempts += 1
        task.tries += 1
        task.state = TaskState.ACTIVE
        task.progress = task.success = -1.0
        task.started_s = task.started_s or now_s
        return task

    def complete(self, now_s: float, reason: str) -> None:
        """The current task is done; go on to the next one, or end the mission as done."""
        self._end_task(TaskState.DONE, now_s, reason)
        if self.open_ended:
            self.active_task = -1
        elif self.tasks[self.active_task].planned.until is None:
            self.advance(now_s)  # else the loop's condition decides

    def advance(self, now_s: float) -> None:
        """Go on to the next task that is not skipped, or end the mission as done."""
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
        """Skip what the guard of the current task rules out, and go on."""
        first, last = self.active_task, self.active_task + guard.span
        ruled_out = range(last, last + guard.otherwise) if holds else range(first, last)
        self.say(now_s, "condition", reason)
        for task in self.tasks[ruled_out.start : ruled_out.stop]:
            task.state, task.outcome = TaskState.SKIPPED, reason
        if not holds:
            self.active_task = last - 1
            self.advance(now_s)

    def again(self, until: Until, reason: str, now_s: float) -> None:
        """Put another round of a loop behind the current task, its last one, and go on with it."""
        here = self.active_task + 1
        planned = [task.planned for task in self.tasks[here - until.span : here]]
        planned[-1] = replace(planned[-1], until=replace(until, rounds=until.rounds - 1))
        planned[0] = replace(planned[0], guard=None)
        self.tasks[here:here] = [Task(each) for each in planned]
        self.say(now_s, "condition", reason)
        self.active_task = here

    def leave_out(self, now_s: float, reason: str) -> None:
        """Leave the current task undone and go on; the mission cannot end as done any more."""
        self._end_task(TaskState.ABANDONED, now_s, reason)
        self.advance(now_s)

    def reassign(self, planned: PlannedTask) -> None:
        """Let another skill try the current task; its words, guard and loop stay as they were planned."""
        task = self.tasks[self.active_task]
        before = task.planned
        task.planned = replace(planned, text=before.text, guard=before.guard, until=before.until)
        task.state, task.tries = TaskState.PENDING, 0
        task.climbed = [rung for rung in task.climbed if rung not in PER_SKILL]

    def decompose(self, steps: Sequence[PlannedTask]) -> None:
        """Put steps, one level deeper, in the place of the current task."""
        here = self.active_task
        failed = self.tasks[here]
        self.tasks[here : here + 1] = [Task(step, depth=failed.depth + 1) for step in steps]
        self.tasks[here + len(steps) - 1].stands_for = failed.stands_for or failed.planned

    def history(self) -> tuple[str, ...]:
        """What became of its tasks so far, one line each."""
        lines = ((task.planned.text, task.state.value, task.outcome) for task in self.tasks)
        return tuple(
            f'"{text}": {state}{f", {outcome}" if outcome else ""}' for text, state, outcome in lines
        )

    def abandon(self, now_s: float, reason: str) -> None:
        """Give the current task up, and with it the mission: later tasks may build on it."""
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

        "done" needs every task done the last time it was tried, and a task at all unless nothing had to be done.

        Args:
            done: the agent calls it done.
            words: the agent's, for the operator.
            now_s: [s] node clock.
            nothing_to_do: an observation of this mission showed that no task had to run.
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
        """End the mission; a task in work is abandoned with the same reason."""
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
