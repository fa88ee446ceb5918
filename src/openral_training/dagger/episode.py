"""One episode of a policy that an operator corrects, on the control loop of deployments.

The chunks of the policy and of the operator go through the same executor. The operator takes the arm over by the rules
of `openral_control.intervention`: the policy's goal waits meanwhile, and both transitions are blended. This happens
when the reward monitor's readings say that the policy stands still, when its goal ends, and when its control steps are
used up. The recorder of deployments records the episode.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from openral_benchmark.harness.goal_host import GoalHost
from openral_benchmark.harness.judges import Judge
from openral_control.admission import Admission
from openral_control.chunk_executor import ChunkExecutor
from openral_control.chunk_queue import Chunk
from openral_control.goal_registry import GoalAnnouncement
from openral_core.instant import Instant
from openral_core.progress_judgement import Progress, ProgressReading, ProgressThresholds, assess
from openral_core.scene import DeployScene
from openral_core.teleoperation_names import TELEOPERATION
from openral_core.types import RobotState
from openral_data.recording.assembler import ExecutedStep
from openral_data.recording.episode_notes import SkillNote
from openral_data.recording.outcome import FAILURE, SUCCESS
from openral_data.recording.recorder import EpisodeRecorder
from openral_reasoner.mission.attempt import SendGoal
from openral_training.experts.world import ExpertWorld

OPERATOR = "scripted expert"
ANNOUNCER = "/openral/teleoperation"
"""Name of the node that announces the operator's goals to the bridge's admission."""
SETTLE = 24
"""Control steps that the operator goes on after success, so that the task is not only just done."""


@dataclass(frozen=True)
class CorrectedParts:
    """What an episode needs."""

    scene: DeployScene
    world: ExpertWorld
    """The simulated world, with the scripted expert that acts as the operator."""
    task: str
    """The simulator's name of the task."""
    succeeds: Callable[[], bool]
    """Returns whether the task is done now, as judged by the simulator."""
    instruction: str
    executor: ChunkExecutor
    recorder: EpisodeRecorder
    policy: tuple[GoalHost, SendGoal, SkillNote] | None
    """The policy's host, its goal, and the recorder's note of it; None: the operator demonstrates the task."""
    judge: Judge
    thresholds: ProgressThresholds
    max_steps: int
    """Control steps of the policy, and then of the operator."""


@dataclass
class AttemptRow:
    """The outcome of one episode."""

    init_id: int
    success: bool = False
    """Whether the task was done, by the policy or the operator, as judged by the simulator."""
    steps: int = 0
    """Number of control steps."""
    taken_over: int | None = None
    """Control step in which the operator took the arm over; None: never."""
    refused: int = 0
    """Chunks that the bridge refused, or whose rest it dropped."""


class CorrectedEpisode:
    """The sink of a control loop for one episode."""

    def __init__(self, parts: CorrectedParts, init_id: int) -> None:
        """Begin the episode; the world must be in its initial state."""
        self._parts = parts
        self.row = AttemptRow(init_id)
        self._admission: Admission | None = None
        self._now = Instant(0.0, 0.0)
        self._state: RobotState | None = None
        self._readings: list[ProgressReading] = []
        self._settled = 0
        self._over = False
        # An episode has two goals; their ids are determined by `init_id`, so that a repeated run has the same ones.
        self._operator_goal = f"{2 * init_id + 1:032x}"

    def connect(self, post: Callable[[Chunk], None]) -> None:
        """Connect operator and policy to the control loop, which chunks are posted to."""
        self._admission = Admission(post, self.rejected)
        if self._parts.policy is not None:
            self._parts.policy[0].connect(post, self.rejected)

    @property
    def goes_on(self) -> bool:
        """Whether another control step is to be taken."""
        return not self._over

    def end(self) -> None:
        """Give the arm back, and tell the recorder how the episode ended; one without a correction is not kept."""
        parts, row = self._parts, self.row
        parts.recorder.mark(SUCCESS if row.success else FAILURE)
        if row.taken_over is not None:
            self._announce("")
        if parts.policy is not None:
            parts.recorder.skill(_with_goal(parts.policy[2], ""))

    # -- the sink ----------------------------------------------------------------------------------

    def together(self) -> AbstractContextManager[None]:
        """Do nothing around the calls of one control step, since they are handled at once."""
        return nullcontext()

    def clock(self, stamp_s: float) -> None:
        """Take the time, which is that of all clocks of a deployment here."""
        self._now = Instant(stamp_s, stamp_s)

    def executed(self, stamp_s: float, action: NDArray[Any], held: bool, goal_id: str) -> None:
        """Record an executed control step."""
        by_hand = self._parts.executor.intervention.is_on
        self._parts.recorder.executed(stamp_s, ExecutedStep(np.asarray(action, np.float32), held, by_hand))

    def state(self, state: RobotState) -> None:
        """Take the state before the first control step and after each one, and let the operator act."""
        parts, row, assembler = self._parts, self.row, self._parts.recorder.assembler
        first, self._state = self._state is None, state
        if first:
            self._begin(state)
        else:
            row.steps += 1
        assembler.joints(state.stamp_s, state.joint_names, state.joint_positions.tolist())
        assembler.pose(state.stamp_s, [*state.ee_position.tolist(), *state.ee_quaternion.tolist()])
        row.success = row.success or parts.succeeds()
        if row.taken_over is None:
            self._over = row.success
            if not row.success and row.steps >= parts.max_steps:
                self._take_over(state)
            return
        self._settled += row.success
        if self._settled > SETTLE or row.steps - row.taken_over >= parts.max_steps:
            self._over = True
            return
        advice = parts.world.advice()
        self._steer(parts.world.hold(advice) if row.success else advice, state)

    def images(self, stamp_s: float, images: Mapping[str, NDArray[np.uint8]]) -> None:
        """Record the images, have the reward model score them, and let the policy answer them."""
        parts, state = self._parts, self._state
        assert state is not None, "the loop passes the state before the images"
        for camera in parts.recorder.columns.cameras:
            parts.recorder.assembler.image(camera.key, stamp_s, images[camera.name])
        parts.recorder.tick()
        if self._over or self.row.taken_over is not None or parts.policy is None:
            return
        reading = parts.judge.look(stamp_s, images, state)
        if reading is not None:
            self._readings.append(reading)
            if assess(self._readings, parts.thresholds).progress is Progress.STANDSTILL:
                self._take_over(state)
                return
        ended = parts.policy[0].observe(self._now, images, state)
        if ended is not None:  # the bridge refused too many of its chunks, or its deadline has passed
            self._take_over(state)

    def begin(self, stamp_s: float) -> None:
        """Do nothing: each episode has a loop of its own, which is not interrupted."""

    def rejected(self, chunk: Chunk, reason: str) -> None:
        """Count a chunk that was refused."""
        self.row.refused += 1

    def cut_short(self, reason: str) -> None:
        """Count a chunk whose rest was dropped."""
        self.row.refused += 1

    def goal_changed(self) -> None:
        """Do nothing; the executor knows its goal."""

    # -- who commands ------------------------------------------------------------------------------

    def _begin(self, state: RobotState) -> None:
        parts = self._parts
        parts.recorder.mission(parts.instruction, parts.task)
        if parts.policy is None:
            self._take_over(state)
            return
        goals, order, note = parts.policy
        goal_id, _ = goals.start(order, self._now, state, monitors=1)
        parts.recorder.skill(_with_goal(note, goal_id))
        parts.recorder.instruction(parts.instruction)
        parts.judge.begin(goal_id, parts.instruction)

    def _take_over(self, state: RobotState) -> None:
        """Give the arm to the operator, whose expert begins in the world's current state."""
        self.row.taken_over = self.row.steps
        self._announce(self._operator_goal)
        self._parts.recorder.instruction(self._parts.instruction)
        self._parts.executor.take_over(OPERATOR, self._operator_goal)
        self._parts.world.begin(self._parts.task)

    def _announce(self, goal_id: str) -> None:
        assert self._admission is not None, "connect goes before the first state"
        said = GoalAnnouncement(ANNOUNCER, TELEOPERATION, active=True, goal_id=goal_id, horizon_s=0.0)
        self._admission.announce(said, self._now.wall_s)
        self._parts.recorder.skill(SkillNote(OPERATOR, TELEOPERATION, "", ANNOUNCER, goal_id))

    def _steer(self, action: NDArray[np.float64], state: RobotState) -> None:
        """Send the next action as a chunk of one control step."""
        assert self._admission is not None, "connect goes before the first state"
        scene, stamp_s = self._parts.scene, state.stamp_s
        chunk = Chunk(
            stamp_s=stamp_s,
            goal_id=self._operator_goal,
            skill=TELEOPERATION,
            instruction=self._parts.instruction,
            representation=scene.action.representation,
            sequence=self.row.steps,
            horizon=1,
            dim=len(action),
            dt=scene.dt,
            data=action.astype(np.float32),
        )
        said = GoalAnnouncement(
            ANNOUNCER, TELEOPERATION, active=True, goal_id=self._operator_goal, horizon_s=0.0
        )
        self._admission.announce(said, self._now.wall_s)
        self._admission.offer(chunk, self._now.wall_s)


def _with_goal(note: SkillNote, goal_id: str) -> SkillNote:
    return SkillNote(note.name, note.kind, note.version, note.node, goal_id)
