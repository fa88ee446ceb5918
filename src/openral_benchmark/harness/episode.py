"""One episode: the control loop, the goals, the judge and the director in one thread, on simulated time.

The control loop runs unpaced and calls what follows at every camera image: the judge looks, the running goal answers,
the director decides. Time goes on while nobody answers, and the arm holds; every control step counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from openral_benchmark.harness.goal_host import GoalHost
from openral_benchmark.harness.judges import Judge
from openral_benchmark.harness.object_positions import Grounding
from openral_control.chunk_executor import ChunkExecutor
from openral_control.chunk_queue import Chunk
from openral_core.instant import Instant
from openral_core.progress_judgement import ProgressThresholds
from openral_core.stop_conditions import FingerTravel
from openral_core.types import RobotState
from openral_reasoner.mission.attempt import (
    AskWorld,
    CancelGoal,
    Command,
    DirectorConfig,
    FindThing,
    RequestPlan,
    SendGoal,
)
from openral_reasoner.mission.condition_query import ConditionQuery
from openral_reasoner.mission.director import Director
from openral_reasoner.mission.goal_report import GoalReport
from openral_reasoner.mission.ladder.experience import Experience
from openral_reasoner.mission.ladder.rungs import Rung
from openral_reasoner.mission.mission import LogEntry, TaskState
from openral_reasoner.palette import Palette
from openral_reasoner.planner import PlannedTask, Planner
from openral_sim_bridge.simulated_arm import SimulatedArm

CONFIG = DirectorConfig(palette_settle_s=0.0)
"""As a deployment has it; the palette is there from the start."""
MOST_DECISIONS = 20
"""Rounds of commands at one observation; goals that are refused at once, one after the other, end here."""
TOLD = (*(rung.value for rung in Rung), "done")
"""Kinds of log entries that a row repeats: what was tried, in order."""


@dataclass(frozen=True)
class EpisodeParts:
    """What an episode is made of."""

    arm: SimulatedArm
    executor: ChunkExecutor
    goals: GoalHost
    judge: Judge
    grounding: Grounding | None
    palette: Palette
    planner: Planner
    """Of the operator's order."""
    by_motions: PlannedTask | None
    """Nobody plans: this task is ordered as an agent would, done by motions alone; None: the operator orders."""
    gate: ProgressThresholds
    fingers: FingerTravel
    experience: Experience
    """What the ladder knows; nothing is added to it."""
    left_out: tuple[str, ...]
    """Rungs of the ladder that are not climbed."""
    instruction: str
    max_steps: int
    """Control steps, motions and holds among them."""
    stop_at_success: bool
    """Nothing that comes later can change the row: nobody's claim is measured."""


@dataclass
class EpisodeTally:
    """What happened, as the simulator and the director have it."""

    steps: int = 0
    """Control steps."""
    success_step: int | None = None
    """Control steps until the simulator's first success; None: there was none."""
    claimed_step: int | None = None
    """Control steps until the mission ended as done; None: it did not."""
    true_at_claim: bool = False
    """The simulator saw success at that step."""
    orders: int = 0
    attempts: int = 0
    """Goals of the policy."""
    motions: int = 0
    """Goals of motions."""
    located: list[str] = field(default_factory=list)
    """What was asked for, and what was answered."""
    told: list[str] = field(default_factory=list)
    """Rungs of the ladder, in order."""
    refused: int = 0
    """Chunks that the bridge refused."""
    last_words: str = ""


class HarnessEpisode:
    """The sink of a control loop. Used once; `loop` calls it from its own thread."""

    def __init__(self, parts: EpisodeParts, log: list[LogEntry]) -> None:
        """Take the parts; `log` gets every step of the missions."""
        self._parts, self._log = parts, log
        self.tally = EpisodeTally()
        self._column = 0
        self._state: RobotState | None = None
        self._now = Instant(0.0, 0.0)
        self._over = False
        self._director = Director(
            self._note,
            gate=parts.gate,
            config=CONFIG.model_copy(update={"left_out": parts.left_out}),
            experience=parts.experience,
            fingers=parts.fingers,
        )
        self._conditions = ConditionQuery(parts.judge.answer, parts.gate)
        self._director.palette(parts.palette, -1.0)

    @property
    def goes_on(self) -> bool:
        """Whether another control step is to be taken."""
        return not self._over and self.tally.steps < self._parts.max_steps

    # -- the sink ----------------------------------------------------------------------------------

    def together(self) -> AbstractContextManager[None]:
        """Everything is told at once; there is nobody to be woken."""
        return nullcontext()

    def clock(self, stamp_s: float) -> None:
        """Time advanced. All clocks of a deployment are this one."""
        self._now = Instant(stamp_s, stamp_s)

    def executed(self, stamp_s: float, action: NDArray[Any], held: bool, goal_id: str) -> None:
        """A control step was executed; its state says all that counts here."""

    def state(self, state: RobotState) -> None:
        """The state after a control step, and before the first."""
        if self._state is not None:
            self.tally.steps += 1
            if self.tally.success_step is None and self._succeeds:
                self.tally.success_step = self.tally.steps
                self._over = self._parts.stop_at_success
        self._state = state

    def images(self, stamp_s: float, images: Mapping[str, NDArray[np.uint8]]) -> None:
        """An observation: everybody looks, and then decides."""
        if self._over or self._state is None:
            return
        parts, now = self._parts, self._now
        self._director.bridge_alive(now.wall_s, parts.executor.active_goal)
        self._director.perception(can_locate=parts.grounding is not None)
        self._director.monitor(silent=False, there=parts.judge.there)
        reading = parts.judge.look(stamp_s, images, self._state)
        if reading is not None and parts.goals.running:
            self._director.reading(parts.goals.running, reading, now.stamp_s)
            self._decide()
        answered = parts.goals.running
        self._goal_answers(images)
        if finding := self._conditions.tick(now.wall_s):
            self._do(self._director.found_out(*finding, now))
        self._decide()
        self._look_at_the_mission()
        if not self._over and parts.goals.running != answered:
            self._goal_answers(images)  # one that began just now answers this observation

    def rejected(self, chunk: Chunk, reason: str) -> None:
        """A chunk was refused; the goal learns of it by the executor's count."""
        self.tally.refused += 1

    def cut_short(self, reason: str) -> None:
        """What was left of a chunk was dropped."""
        self.tally.refused += 1

    def goal_changed(self) -> None:
        """The executor says so itself when it is asked."""

    # -- the director ------------------------------------------------------------------------------

    @property
    def _succeeds(self) -> bool:
        return bool(self._parts.arm.success[self._column])

    def _decide(self) -> None:
        """Let the director go on until it waits for something."""
        for _ in range(MOST_DECISIONS):
            commands = self._director.tick(self._now)
            self._do(commands)
            if not commands:
                return

    def _look_at_the_mission(self) -> None:
        """Order what is to be done, and again after it has failed; what is done ends the episode."""
        director, tally, parts = self._director, self.tally, self._parts
        agent = director.mission.open_ended
        waits = director.mission.current is None and not parts.goals.running if agent else director.idle
        if not waits:
            return
        tasks = director.mission.tasks
        if tasks and tasks[-1].state is TaskState.DONE:
            tally.claimed_step, tally.true_at_claim, self._over = tally.steps, self._succeeds, True
            return
        tally.orders += 1
        if parts.by_motions is None:
            self._do(director.prompt(f"order-{tally.orders}", parts.instruction, self._now))
        else:
            if not agent:
                director.steered_from_outside("order", parts.instruction, self._now)
            director.add_task(parts.by_motions, self._now, Rung.MOTIONS.value)
        self._decide()

    def _goal_answers(self, images: Mapping[str, NDArray[np.uint8]]) -> None:
        assert self._state is not None
        self._ended(self._parts.goals.observe(self._now, images, self._state))

    def _ended(self, ended: tuple[int, GoalReport] | None) -> None:
        if ended is None:
            return
        self._parts.judge.end()
        self._director.goal_ended(*ended, self._now)

    def _do(self, commands: Sequence[Command]) -> None:
        for command in commands:
            if isinstance(command, RequestPlan):
                plan = self._parts.planner.plan(command.sentence, command.palette)
                self._do(self._director.planned(command.ticket, plan, self._now))
            elif isinstance(command, SendGoal):
                self._send(command)
            elif isinstance(command, CancelGoal):
                assert self._state is not None
                self._ended(self._parts.goals.cancel(self._now, self._state))
            elif isinstance(command, AskWorld):
                self._conditions.ask(command, self._now.wall_s)
            elif isinstance(command, FindThing):
                self._find(command)

    def _send(self, command: SendGoal) -> None:
        assert self._state is not None
        goals, judge = self._parts.goals, self._parts.judge
        monitors = int(judge.there)
        goal_id, refused = goals.start(command, self._now, self._state, monitors)
        self._do(self._director.goal_answered(command.key, goal_id, True, self._now))
        if refused is not None:
            self._director.goal_ended(command.key, refused, self._now)
            return
        judge.begin(goal_id, command.instruction)
        if command.skill.judges_itself:
            self.tally.motions += 1
        else:
            self.tally.attempts += 1

    def _find(self, command: FindThing) -> None:
        grounding = self._parts.grounding
        point, why = (
            (None, "nobody locates")
            if grounding is None
            else grounding.find(command.words, self._now.stamp_s)
        )
        where = "nowhere" if point is None else "({:.3f}, {:.3f}, {:.3f})".format(*point)
        self.tally.located.append(f"{command.words}: {where}; {why}")
        self._do(self._director.found(command.key, point, why, self._now))

    def _note(self, entry: LogEntry) -> None:
        self._log.append(entry)
        if entry.kind in TOLD:
            self.tally.told.append(entry.kind)
        if entry.kind != "reading":
            self.tally.last_words = entry.reason
