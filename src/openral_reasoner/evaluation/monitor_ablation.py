"""An ablation of the reward monitor: the same missions with and without it, with skills of which every second stalls.

Director, gate and ladder are the real ones, the clock is simulated. A random number decides before each attempt whether
it succeeds after some seconds, or makes a little progress and stops there. A skill runs until it is cancelled or its
deadline passes, as a policy does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from openral_core.instant import Instant
from openral_core.progress_judgement import ProgressReading, ProgressThresholds
from openral_core.statistics import wilson_interval
from openral_reasoner.evaluation.motions import carry_out, with_motions
from openral_reasoner.mission.attempt import (
    CancelGoal,
    Command,
    DirectorConfig,
    FindThing,
    RequestPlan,
    SendGoal,
)
from openral_reasoner.mission.director import Director
from openral_reasoner.mission.goal_report import GoalReport
from openral_reasoner.mission.mission import MissionState
from openral_reasoner.palette import MOTION, Palette, Skill, SkillTask
from openral_reasoner.planner import Plan, PlannedTask

STALLS = 0.5
"""Probability that an attempt stalls."""
TICK_S = 0.1
READING_S = 0.3
"""[s] between two readings."""
NOISE = 0.03
"""Standard deviation of a reading."""
DEADLINE_S = 12.0
"""[s] of an attempt."""
LOOK_S = 5.0
"""[s] that the operator takes to look and answer."""
LIMIT_S = 3600.0
"""[s] simulated time of one mission."""
TASKS = ("open the drawer", "close the drawer", "open the window", "close the window", "press the button")
GATE = ProgressThresholds(default_patience_s=3.0, plateau_window_s=2.0)


@dataclass(frozen=True)
class Variant:
    """One row of the table."""

    name: str
    watched: bool
    """Whether a reward monitor publishes readings."""
    skills: int = 2
    """How many skills there are, each of which can do every task."""
    operator: bool = False
    """Whether an operator answers questions, correctly."""


VARIANTS = (
    Variant("monitor, two skills", watched=True),
    Variant("monitor, one skill", watched=True, skills=1),
    Variant("no monitor, nobody to ask", watched=False),
    Variant("no monitor, an operator who looks", watched=False, operator=True),
)


@dataclass(frozen=True)
class MissionOutcome:
    """The outcome of one mission."""

    done: bool
    """Whether the reasoner calls it done, and every task is."""
    claimed: bool
    """Whether the reasoner calls it done."""
    seconds: float
    """[s] simulated time."""
    attempts: int
    questions: int


class _World:
    """One mission in one variant."""

    def __init__(self, variant: Variant, tasks: Sequence[str], seed: int) -> None:
        self._variant, self._tasks = variant, tasks
        self._coins, self._noise = np.random.default_rng([seed, 0]), np.random.default_rng([seed, 1])
        self._now, self._next_reading = 1.0, 0.0
        self._goal: SendGoal | None = None
        self._works_at = np.inf
        self._begun = 0.0
        self._finished: set[str] = set()
        self._asked_at: float | None = None
        self.attempts = self.questions = 0
        patience_s = 60.0 if variant.operator else 0.0
        self.director = Director(
            lambda entry: None,
            gate=GATE,
            config=DirectorConfig(palette_settle_s=0.0, ask_patience_s=patience_s),
        )
        self._palette = Palette(tuple(_skill(f"flaky-{n + 1}") for n in range(variant.skills)))
        self.director.palette(with_motions(self._palette), self._now)
        self.director.perception(can_locate=True)

    def run(self) -> MissionOutcome:
        """Give the order, and simulate until the mission has ended."""
        director = self.director
        self._do(director.prompt("p", ", then ".join(self._tasks), Instant(self._now, self._now)))
        while not director.mission.state.ended and self._now < LIMIT_S:
            self._now += TICK_S
            director.bridge_alive(self._now)
            self._work()
            self._answer()
            self._do(director.tick(Instant(self._now, self._now)))
        claimed = director.mission.state is MissionState.DONE
        done = claimed and self._finished == set(self._tasks)
        return MissionOutcome(done, claimed, self._now - 1.0, self.attempts, self.questions)

    def _work(self) -> None:
        goal = self._goal
        if goal is None:
            return
        elapsed = self._now - self._begun
        if elapsed >= self._works_at:
            self._finished.add(goal.instruction)
        if self._variant.watched and self._now >= self._next_reading:
            self._next_reading = self._now + READING_S
            self.director.reading(f"g{goal.key}", self._reading(goal.instruction, elapsed), self._now)
        if elapsed >= goal.deadline_s:
            self._end("DEADLINE", "deadline")

    def _reading(self, instruction: str, elapsed_s: float) -> ProgressReading:
        """Return a noisy reading: progress rises to 1, or to 0.3 where the attempt stalls; success is high at 1."""
        works = np.isfinite(self._works_at)
        progress = min(1.0, elapsed_s / self._works_at) if works else min(0.3, elapsed_s / 8)
        success = 0.95 if instruction in self._finished else 0.5 * progress
        heads = np.array([progress, success]) + self._noise.normal(0, NOISE, 2)
        return ProgressReading(self._now, *np.clip(heads, 0.0, 1.0).tolist())

    def _answer(self) -> None:
        """Answer a question as an operator who looks does; asked what to do, that the task is tried again."""
        question = self.director.question
        if not question:
            self._asked_at = None
            return
        self._asked_at = self._asked_at or self._now
        if not self._variant.operator or self._now - self._asked_at < LOOK_S:
            return
        task = self.director.mission.current
        done = task is not None and task.planned.instruction in self._finished
        self.director.operator_says("retry" if "Retry" in question else "yes" if done else "no")
        self.questions += 1
        self._asked_at = None

    def _do(self, commands: Sequence[Command]) -> None:
        for command in commands:
            if isinstance(command, RequestPlan):
                plan = Plan(_plan(command.sentence, command.palette))
                self._do(self.director.planned(command.ticket, plan, Instant(self._now, self._now)))
            elif isinstance(command, FindThing) or (
                isinstance(command, SendGoal) and command.skill.kind == MOTION
            ):
                wanted, self._now = carry_out(self.director, command, self._now)
                self._do(wanted)
            elif isinstance(command, SendGoal):
                self._goal, self._begun = command, self._now
                self.attempts += 1
                duration_s = self._coins.uniform(2.0, 5.0)
                self._works_at = np.inf if self._coins.random() < STALLS else duration_s
                self._do(
                    self.director.goal_answered(
                        command.key, f"g{command.key}", True, Instant(self._now, self._now)
                    )
                )
            elif isinstance(command, CancelGoal):
                self._end("CANCELED", "client_cancel")

    def _end(self, outcome: str, check: str) -> None:
        goal, self._goal = self._goal, None
        if goal is not None:
            self.director.goal_ended(goal.key, GoalReport(outcome, check), Instant(self._now, self._now))


def run_variant(
    variant: Variant, missions: int, seed: int, progress: Callable[[], object] = lambda: None
) -> list[MissionOutcome]:
    """Run missions of one to three tasks; the same seed gives every variant the same orders and coins.

    Args:
        variant: what is there.
        missions: how many.
        seed: of orders, coins and noise.
        progress: called after each mission.
    """
    outcomes = []
    for number in range(missions):
        orders = np.random.default_rng([seed, number])
        tasks = orders.choice(TASKS, size=orders.integers(1, 4), replace=False).tolist()
        outcomes.append(_World(variant, tasks, 1000 * seed + number).run())
        progress()
    return outcomes


def row_of(variant: Variant, outcomes: Sequence[MissionOutcome]) -> dict[str, Any]:
    """Return the row of a variant as plain values: shares with a Wilson interval, and means."""
    done = sum(outcome.done for outcome in outcomes)
    low, high = wilson_interval(done, len(outcomes))
    return {
        "variant": variant.name,
        "missions": len(outcomes),
        "done": done,
        "success": round(done / len(outcomes), 4),
        "interval": [round(low, 4), round(high, 4)],
        "false_claims": sum(outcome.claimed and not outcome.done for outcome in outcomes),
        "seconds_mean": round(float(np.mean([outcome.seconds for outcome in outcomes])), 1),
        "attempts_mean": round(float(np.mean([outcome.attempts for outcome in outcomes])), 2),
        "questions_mean": round(float(np.mean([outcome.questions for outcome in outcomes])), 2),
    }


def _skill(slug: str) -> Skill:
    tasks = tuple(SkillTask(text.replace(" ", "-"), (text,)) for text in TASKS)
    return Skill(
        name=f"openral/rskill-{slug}",
        slug=slug,
        node=f"/openral/policy/{slug}",
        objects=("drawer", "window", "button"),
        tasks=tasks,
        action_server=f"/openral/skills/{slug}/execute",
        max_execution_s=DEADLINE_S,
    )


def _plan(sentence: str, palette: Palette) -> tuple[PlannedTask, ...]:
    """Return the tasks of a sentence that is made of the skills' own phrases, since planning is not measured here."""
    skill = palette.skills[0]
    texts = sentence.split(", then ")
    return tuple(PlannedTask(text, skill, text.replace(" ", "-"), text, 1.0) for text in texts)
