"""Trials in one process and without ROS, in which the twin's time advances only with the commands of its arm.

Kinematics, safety filter, trajectory generator, driver, client library, adapters and policy are those of a deployment;
episodes run as in a simulator's rollout. The ROS graph with its latencies and cameras over a network are left out, so
that results do not depend on the speed of the machine.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from openral_control.catch_up import CatchUp
from openral_core.adapters.action_adapter import ActionAdapter
from openral_core.adapters.observation_adapter import ObservationAdapter
from openral_core.robot import load_robot
from openral_core.scene import DeployScene
from openral_core.types import RobotState
from openral_policy_nodes.families.factory import load_policy
from openral_robot_bridge.driver import ArmError
from openral_robot_bridge.robot_arm import RobotArm
from openral_robot_bridge.trials.lockstep_link import LockstepLink
from openral_robot_bridge.trials.trial import TrialRow
from openral_robot_bridge.trials.twin_process import CommandedTwin
from openral_rskill.registry import RSkillPackage
from openral_sim_bridge.backend import Snapshot, StepResult
from openral_sim_bridge.backends.mjcf.world import CompiledScene
from openral_sim_bridge.rendering.renderer import OffscreenRenderer, profile
from openral_sim_bridge.rollout import EpisodeJob, EpisodeRow, roll_out


class _ArmEndedTrial(Exception):
    """The arm cannot be moved any more, due to the reflex, fault or user stop in the message."""


class TwinWorld:
    """One twin behind the real client library, with a simulator's interface for rollouts; close it after use."""

    num_envs = 1

    def __init__(self, scene: DeployScene, twin: CommandedTwin) -> None:
        """Connect to the twin of a scene's arm.

        Raises:
            OpenralError: the scene is invalid, or the arm cannot be reached.
        """
        self.control_hz = scene.control_hz
        compiled = CompiledScene(scene, load_robot(scene.robot_id))
        self.task_ids = compiled.options.tasks
        self._model, self._data = compiled.model, mujoco.MjData(compiled.model)
        look = profile(compiled.options.render_profile)
        size = scene.scene.observation_width, scene.scene.observation_height
        self._renderer = OffscreenRenderer(
            compiled.model, *size, look, hidden_groups=compiled.options.hidden_groups
        )
        self._twin = twin
        made: list[LockstepLink] = []

        def connect(settings: Any) -> LockstepLink:
            made.append(LockstepLink(self._twin, settings))
            return made[0]

        self.arm = RobotArm(scene, connect=connect, clock=lambda: made[0].now_s)
        self.steps = 0
        """Number of control steps since the last reset."""

    def close(self) -> None:
        """Disconnect."""
        self._renderer.close()
        self.arm.close()

    def reset(
        self, task_ids: Sequence[str], init_ids: Sequence[int], envs: Sequence[int] | None = None
    ) -> list[RobotState]:
        """End the arm's motion, set the world to an initial state, and return the robot's state there."""
        self.steps = 0
        self.arm.recover()
        self._twin.reset(init_ids[0])
        self.arm.recover()
        self.arm.take_behind()
        return [self.arm.robot_state()]

    def step(self, actions: NDArray[Any], envs: Sequence[int] | None = None) -> StepResult:
        """Execute actions (1, A) for one control step, as far as the safety filter allows.

        Raises:
            _ArmEndedTrial: the arm cannot be moved any more.
        """
        self.arm.beat()
        state = self.arm.step(actions[0])
        self.steps += 1
        if self.arm.blocked_by:
            raise _ArmEndedTrial(self.arm.blocked_by)
        done = np.zeros((1, len(self.task_ids)), dtype=bool)
        done[0, 0] = self._twin.is_done
        return StepResult([state], done, np.zeros(1, dtype=bool), None)

    def render(
        self, cameras: Sequence[str], envs: Sequence[int] | None = None
    ) -> Mapping[str, NDArray[np.uint8]]:
        """Return (1, H, W, 3) uint8 RGB for each camera."""
        self._data.qpos[:] = self._twin.world
        mujoco.mj_forward(self._model, self._data)
        return {camera: self._renderer.render(self._data, camera)[None] for camera in cameras}

    def snapshot(self, env: int = 0) -> Snapshot:
        """Return the state (qpos) of the twin's model."""
        return Snapshot(self._twin.world, np.full(3, np.nan))


def lockstep_trials(
    scene: DeployScene,
    package: RSkillPackage,
    instruction: str,
    init_ids: Sequence[int],
    max_steps: int,
    twin: CommandedTwin,
    progress: Callable[[TrialRow], None],
) -> list[TrialRow]:
    """Run a trial of a skill from each initial state, and return their rows.

    Args:
        scene: with an arm whose driver is franka, at the twin's address, and a model of family mjcf.
        package: the skill, which fits the scene.
        instruction: for the policy.
        init_ids: numbers of the initial states.
        max_steps: number of control steps after which a trial has failed.
        twin: of the scene's arm.
        progress: called with the row of each trial.

    Raises:
        OpenralError: the arm cannot be reached, or its twin has ended.
    """
    manifest, task = package.manifest, str(scene.task_ids[0]).rpartition("/")[2]
    observe, act = ObservationAdapter(manifest, scene), ActionAdapter(manifest, scene)
    rows: list[TrialRow] = []
    policy, cameras = load_policy(package, "cpu"), [camera.name for camera in observe.cameras]

    def roll(world: TwinWorld, job: EpisodeJob) -> EpisodeRow:
        [row] = roll_out(
            world,
            policy,
            observe,
            act,
            [job],
            catch_up=CatchUp(scene.action),
            cameras=cameras,
            n_action_steps=manifest.replay_steps,
            horizon=max_steps,
        )
        return row

    try:
        for row in tried(scene, twin, [EpisodeJob(task, init_id, instruction) for init_id in init_ids], roll):
            rows.append(row)
            progress(row)
    finally:
        policy.close()
    return rows


def tried(
    scene: DeployScene,
    twin: CommandedTwin,
    jobs: Sequence[EpisodeJob],
    roll: Callable[[TwinWorld, EpisodeJob], EpisodeRow],
) -> Iterator[TrialRow]:
    """Yield the row of each job; a job that the arm ends has a row, too, and the next job follows.

    Args:
        scene: with the arm.
        twin: of the arm.
        jobs: episodes to run.
        roll: runs one episode.

    Raises:
        OpenralError: the arm cannot be connected to, or its twin has ended.
    """
    world = TwinWorld(scene, twin)
    try:
        for job in jobs:
            began, ended, answers = time.perf_counter(), "", True
            try:
                row = roll(world, job)
            except (_ArmEndedTrial, ArmError) as error:
                ended, answers = str(error), isinstance(error, _ArmEndedTrial)
                spent = round(time.perf_counter() - began, 3)
                row = replace(EpisodeRow.lost(job), steps=world.steps, wall_s=spent)
            yield _trial(row, world, scene.dt, ended)
            if not answers:
                world.close()
                world = TwinWorld(scene, twin)
    finally:
        world.close()


def _trial(row: EpisodeRow, world: TwinWorld, dt: float, ended: str) -> TrialRow:
    """Return the row of a trial.

    Args:
        row: of the episode.
        world: after the episode.
        dt: [s] of a control step.
        ended: reason for which the arm ended the trial; empty: it did not.
    """
    outcome = "done" if row.success else "not done"
    return TrialRow(
        init_id=row.init_id,
        success=row.success,
        steps=row.steps,
        wall_s=row.wall_s,
        outcome="ended by the arm" if ended else outcome,
        check="" if row.success else ended or "max_steps",
        latency_p50_ms=row.latency_p50_ms,
        latency_p95_ms=row.latency_p95_ms,
        behind_rad=round(world.arm.take_behind(), 4),
        twin_s=round(row.steps * dt, 3),
        missed=0,
        stopped_by=ended or world.arm.stopped_by,
        ended_by_arm=bool(ended),
    )
