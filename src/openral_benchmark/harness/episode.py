"""One episode: the control loop, the goals, the judge and the director in one thread, on simulated time.

The control loop runs faster than real time. At every camera image the judge may score it, the running goal answers with
a chunk, and the director decides. While no chunk is there the arm holds and time goes on; these control steps count.
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
"""Limits of the director as in a deployment, except that it need not wait for the palette to settle."""
MOST_DECISIONS = 20
"""Most rounds of the director's commands at one observation, which bounds goals that are refused one after another."""
TOLD = (*(rung.value for rung in Rung), "done")
"""Kinds of log entries that the result's row lists in order (`EpisodeTally.told`)."""


@dataclass(frozen=True)
class EpisodeParts:
    """Parts and limits of one episode."""

    arm: SimulatedArm
    executor: ChunkExecutor
    goals: GoalHost
    judge: Judge
    grounding: Grounding | None
    palette: Palette
    planner: Planner
    """Plans the operator's instruction."""
    by_motions: PlannedTask | None
    """Task that is given to the director as an agent gives it, to be done by motions; None: `planner` plans."""
    gate: ProgressThresholds
    fingers: FingerTravel
    experience: Experience
    """Counts that the ladder reads; the episode adds nothing to their file."""
    left_out: tuple[str, ...]
    """Values of the rungs (`Rung`) that are never taken."""
    instruction: str
    max_steps: int
    """Most control steps, those of motions and holds included."""
    stop_at_success: bool
    """Whether the episode ends at the simulator's first success, since no claim of a judge is measured after it."""


@dataclass
class EpisodeTally:
    """Counts of one episode, from the simulator and the director."""

    steps: int = 0
    """Control steps."""
    success_step: int | None = None
    """Control steps until the simulator's first success; None: there was none."""
    claimed_step: int | None = None
    """Control steps until the mission ended as done; None: it did not."""
    true_at_claim: bool = False
    """Whether the simulator saw success at `claimed_step`."""
    orders: int = 0
    """Times that the task was ordered."""
    attempts: int = 0
    """Goals of the policy."""
    motions: int = 0
    """Goals of motions."""
    located: list[str] = field(default_factory=list)
    """Each request for a position, with its answer [m] in the world."""
    told: list[str] = field(default_factory=list)
    """Kinds of the log entries that are in `TOLD`, in order."""
    refused: int = 0
    """Chunks that the executor refused or cut short."""
    last_words: str = ""
    """Reason of the newest log entry that is no reading."""


class HarnessEpisode:
    """The sink of a control loop. Used once; `loop` calls it from its own thread."""

    def __init__(self, parts: EpisodeParts, log: list[LogEntry]) -> None:
        """Begin the episode; every step of its missions is appended to `log`."""
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
        """Return a context that does nothing, since no other thread waits for these calls."""
        return nullcontext()

    def clock(self, stamp_s: float) -> None:
        """Set the time [s] of the bridge's clock, which also serves as the wall clock."""
        self._now = Instant(stamp_s, stamp_s)

    def executed(self, stamp_s: float, action: NDArray[Any], held: bool, goal_id: str) -> None:
        """Do nothing: `state` counts the control steps."""

    def state(self, state: RobotState) -> None:
        """Take the state before the first control step and after each; count the step and check for success."""
        if self._state is not None:
            self.tally.steps += 1
            if self.tally.success_step is None and self._succeeds:
                self.tally.success_step = self.tally.steps
                self._over = self._parts.stop_at_success
        self._state = state

    def images(self, stamp_s: float, images: Mapping[str, NDArray[np.uint8]]) -> None:
        """Take the images (H, W, 3) of one instant: score them, let the running goal answer, and the director act."""
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
            self._goal_answers(images)  # a goal that has just begun answers this observation, too

    def begin(self, stamp_s: float) -> None:
        """Do nothing: each episode has a loop of its own, which is not interrupted."""

    def rejected(self, chunk: Chunk, reason: str) -> None:
        """Count a chunk that was refused; the goal reads that from the executor's counters."""
        self.tally.refused += 1

    def cut_short(self, reason: str) -> None:
        """Count a chunk whose remaining steps were dropped."""
        self.tally.refused += 1

    def goal_changed(self) -> None:
        """Do nothing: the active goal is read from the executor."""

    # -- the director ------------------------------------------------------------------------------

    @property
    def _succeeds(self) -> bool:
        return bool(self._parts.arm.success[self._column])

    def _decide(self) -> None:
        """Carry out the director's commands until it has none left, for at most `MOST_DECISIONS` rounds."""
        for _ in range(MOST_DECISIONS):
            commands = self._director.tick(self._now)
            self._do(commands)
            if not commands:
                return

    def _look_at_the_mission(self) -> None:
        """Order the task when the director is idle, also after a failure; end the episode when the task is done."""
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
            director.stepwise.add_task(parts.by_motions, self._now, Rung.MOTIONS.value)
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
