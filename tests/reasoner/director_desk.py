"""A director driven by hand: events in, commands out, on a clock that the test moves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from openral_core.instant import Instant
from openral_core.progress_judgement import ProgressReading, ProgressThresholds
from openral_reasoner.mission.attempt import (
    AskWorld,
    CancelGoal,
    Command,
    DirectorConfig,
    FindThing,
    RequestPlan,
    SendGoal,
    StopSkills,
)
from openral_reasoner.mission.director import Director
from openral_reasoner.mission.goal_report import GoalReport
from openral_reasoner.mission.mission import LogEntry, Mission
from openral_reasoner.offline.planner import OfflinePlanner
from openral_reasoner.palette import MOTION, Palette, Skill, SkillTask
from openral_reasoner.planner import Planner

NAME = "openral/rskill-mini"
SKILL = Skill(
    name=NAME,
    slug="mini",
    node="/openral/policy/mini",
    action_server="/openral/skills/mini/execute",
    tasks=(
        SkillTask("drawer-open-v3", ("open the drawer",)),
        SkillTask("drawer-close-v3", ("close the drawer",)),
    ),
    max_execution_s=10.0,
)
HOME = Skill(
    name="openral/rskill-motion-home",
    slug="motion_home",
    node="/openral/motions",
    action_server="/openral/skills/motion_home/execute",
    kind="ros_action",
    description="Drives the hand home.",
    actions=("home",),
    max_execution_s=6.0,
)


def motion(name: str) -> Skill:
    """The motion of that name."""
    slug = f"motion_{name}"
    server = f"/openral/skills/{slug}/execute"
    kind = f"openral/rskill-motion-{name.replace('_', '-')}"
    return replace(HOME, name=kind, slug=slug, action_server=server, actions=(name.split("_")[0],))


MOVE_TO = motion("move_to")
GATE = ProgressThresholds(default_patience_s=3.0, plateau_window_s=2.0)
CONFIG = DirectorConfig(
    palette_settle_s=0.0, palette_patience_s=5.0, comeback_patience_s=4.0, answer_patience_s=2.0
)


@dataclass
class Desk:
    """A director with a policy node that does as it is told. One clock serves as both."""

    log: list[LogEntry] = field(default_factory=list)
    now: float = 1.0
    sent: list[SendGoal] = field(default_factory=list)
    """Goals of policies."""
    driven: list[SendGoal] = field(default_factory=list)
    """Goals of motions."""
    motion_ends: str = "SUCCEEDED"
    """Outcome of every motion that `motion_fails` does not name; empty: it does not end."""
    motion_fails: tuple[Skill, ...] = ()
    """Motions that end in FAILED."""
    opening_m: Callable[[SendGoal], float | None] = lambda goal: None
    """[m] between the fingers at the end of a motion; None: nobody knows."""
    hand: tuple[float, float, float] | None = None
    """[m] where the hand is at the end of every motion; None: nobody knows."""
    motions_by_hand: bool = False
    """Goals of motions are sent and ended as those of policies are."""
    cancelled: list[int] = field(default_factory=list)
    polite: bool = True
    """The policy node answers cancellations."""
    config: DirectorConfig = CONFIG
    palette: Palette = Palette((SKILL,))  # noqa: RUF009  it is frozen
    planner: Planner = field(default_factory=OfflinePlanner)
    world: Callable[[AskWorld], bool | None] = lambda asked: None
    """What is so in the world; None: nobody can tell."""
    where: Callable[[str], tuple[float, float, float] | None] = lambda words: None
    """Where a thing is; None: it is not found."""
    gripper_m: float | None = None
    """[m] between the fingers at the end of a goal that was cancelled."""
    stops: int = 0
    """How often all skills were told to stop."""

    def __post_init__(self) -> None:
        self.director = Director(self.log.append, gate=GATE, config=self.config)
        self.director.palette(self.palette, self.now)

    @property
    def mission(self) -> Mission:
        return self.director.mission

    def kinds(self) -> list[str]:
        """Kinds of the steps so far, without readings."""
        return [entry.kind for entry in self.log if entry.kind != "reading"]

    def do(self, commands: list[Command]) -> None:
        for command in commands:
            if isinstance(command, RequestPlan):
                plan = self.planner.plan(command.sentence, command.palette)
                self.do(self.director.planned(command.ticket, plan, Instant(self.now, self.now)))
            elif isinstance(command, SendGoal):
                motion = command.skill.kind == MOTION and not self.motions_by_hand
                (self.driven if motion else self.sent).append(command)
                now = Instant(self.now, self.now)
                self.do(self.director.goal_answered(command.key, f"g{command.key}", True, now))
                if motion and self.motion_ends:
                    ends = "FAILED" if command.skill in self.motion_fails else self.motion_ends
                    opening_m = self.opening_m(command)
                    report = GoalReport(ends, "motion", "it was told so", hand=self.hand, gripper_m=opening_m)
                    self.director.goal_ended(command.key, report, now)
                    self.do(self.director.tick(now))
            elif isinstance(command, FindThing):
                point = self.where(command.words)
                why = "the fake says so"
                self.do(self.director.found(command.key, point, why, Instant(self.now, self.now)))
            elif isinstance(command, CancelGoal):
                self.cancelled.append(command.key)
                if self.polite:
                    now = Instant(self.now, self.now)
                    report = GoalReport("CANCELED", "client_cancel", gripper_m=self.gripper_m)
                    self.director.goal_ended(command.key, report, now)
            elif isinstance(command, AskWorld):
                holds = self.world(command)
                self.do(
                    self.director.found_out(
                        command.key, holds, "the fake says so", Instant(self.now, self.now)
                    )
                )
            elif isinstance(command, StopSkills):
                self.stops += 1

    def say(self, text: str, prompt_id: str = "p") -> None:
        self.do(self.director.prompt(prompt_id, text, Instant(self.now, self.now)))

    def end(self, outcome: str, check: str, message: str = "", **fields: Any) -> None:
        key = self.sent[-1].key
        report = GoalReport(outcome, check, message, **fields)
        self.director.goal_ended(key, report, Instant(self.now, self.now))

    def run(self, seconds: float, *progress: float, success: float | None = None) -> None:
        """Let time pass at 3 Hz; progress readings as given, the last one repeated; none at all when
        empty."""
        for i in range(round(seconds * 3)):
            self.now += 1 / 3
            self.director.bridge_alive(self.now)
            if progress and self.sent:
                p = progress[min(i, len(progress) - 1)]
                reading = ProgressReading(self.now, p, p if success is None else success)
                self.director.reading(f"g{self.sent[-1].key}", reading, self.now)
            self.do(self.director.tick(Instant(self.now, self.now)))
