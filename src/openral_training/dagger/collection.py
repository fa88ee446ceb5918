"""The episodes of a round: attempts that an operator corrects, or demonstrations, recorded as in a deployment."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterable
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Any

from openral_benchmark.harness.goal_host import NODE, GoalHost, GoalSkill
from openral_benchmark.harness.judges import Judge, NoJudge, RewardModelJudge
from openral_benchmark.harness.mission_harness import announced_skill
from openral_control.catch_up import CatchUp
from openral_control.chunk_executor import ChunkExecutor
from openral_control.control_loop import ControlLoop, LoopSettings
from openral_control.envelope import Envelope
from openral_core.errors import ContractError
from openral_core.robot import load_robot
from openral_core.scene import DeployScene
from openral_data.recorded_columns import RecordedColumns
from openral_data.recording.episode_notes import SkillNote
from openral_data.recording.recorder import EpisodeRecorder
from openral_data.recording.strategy import strategy_of
from openral_data.recording_folder import RecordingFolder
from openral_policy_nodes.families.factory import load_policy
from openral_policy_nodes.inference import Inference
from openral_reasoner.mission.attempt import SendGoal
from openral_reward_monitor.models.reward_model import load_reward_model
from openral_rskill.compatibility import match, require
from openral_rskill.progress_thresholds import progress_thresholds
from openral_rskill.registry import RSkillPackage, resolve
from openral_sim_bridge.backends.factory import make_backend
from openral_sim_bridge.simulated_arm import SimulatedArm
from openral_training.dagger.episode import AttemptRow, CorrectedEpisode, CorrectedParts
from openral_training.experts.factory import experts_of

KEPT = "interventions"
"""Strategy of the recorder: it keeps the episodes in which an operator commanded."""
DEADLINE_S = 60.0
"""[s] deadline of a policy's goal; it is longer than any attempt, which is ended by its number of control steps."""
log = logging.getLogger(__name__)


class CorrectionWorld:
    """One simulated world of a scene, its operator and its reward model. Not thread-safe."""

    def __init__(self, scene: DeployScene, name: str, task: str, instruction: str, max_steps: int) -> None:
        """Build the simulator and load the reward model.

        Args:
            scene: with a `reward_skill`.
            name: of the scene, for the recording.
            task: the simulator's name of the task.
            instruction: of the policy and the reward model.
            max_steps: control steps of the policy, and then of the operator.

        Raises:
            OpenralError: the scene has no reward skill, no scripted experts or not this task, or something cannot be
                loaded.
        """
        if not scene.reward_skill:
            raise ContractError(
                f"{name}: reward_skill is needed, which sees that a policy stands still; add it"
            )
        self._scene, self._name, self._task = scene, name, task
        self._instruction, self._max_steps = instruction, max_steps
        self._robot, self._reward = load_robot(scene.robot_id), resolve(scene.reward_skill)
        self._thresholds = progress_thresholds(scene)
        self._backend = make_backend(scene)
        self._world = experts_of(self._backend, scene)
        with contextlib.ExitStack() as undo:
            undo.callback(self._world.close)
            if task not in self._backend.task_ids:
                known = ", ".join(self._backend.task_ids)
                raise ContractError(
                    f"{name}: has no task {task}, but {known}; name a scene of the task, or another task"
                )
            self._column = self._backend.task_ids.index(task)
            self._model = load_reward_model(self._reward)
            undo.pop_all()

    def demonstrate(self, recording: Path, init_ids: Iterable[int]) -> list[AttemptRow]:
        """Let the operator do the task from initial states; append the episodes to a recording."""
        recorder = self._recorder(recording)
        with closing(recorder):
            return [self._run(recorder, None, init_id) for init_id in init_ids]

    def correct(
        self,
        recording: Path,
        package: RSkillPackage,
        init_ids: Iterable[int],
        interventions: int,
    ) -> list[AttemptRow]:
        """Let a policy attempt the task, and the operator correct it; append the corrected episodes to a recording.

        Args:
            recording: its folder.
            package: the skill.
            init_ids: initial states, taken one after the other until there are enough interventions.
            interventions: how many are enough.

        Raises:
            ContractError: the skill does not fit the scene.
        """
        found = match(
            package.manifest, self._robot, self._scene, folder=package.folder, lockstep=True, task=self._task
        )
        require(found)
        inference = Inference(package.manifest, self._scene, load_policy(package, "cpu"))
        rows: list[AttemptRow] = []
        recorder = self._recorder(recording)
        with closing(recorder), closing(inference):
            for init_id in init_ids:
                rows.append(self._run(recorder, GoalSkill(package, inference), init_id))
                if sum(row.taken_over is not None for row in rows) >= interventions:
                    break
        return rows

    def close(self) -> None:
        """Free the world and the model."""
        self._world.close()
        self._model.close()

    def _recorder(self, recording: Path) -> EpisodeRecorder:
        columns = RecordedColumns.of(self._scene, self._robot, self._name)
        return EpisodeRecorder(
            RecordingFolder(recording),
            columns,
            strategy_of(KEPT),
            truth=None,
            min_free_gb=0.0,
            say=lambda line, trouble: log.log(logging.WARNING if trouble else logging.INFO, line),
        )

    def _run(self, recorder: EpisodeRecorder, skill: GoalSkill | None, init_id: int) -> AttemptRow:
        """Run one episode from an initial state."""
        scene, arm = self._scene, SimulatedArm(self._backend)
        state = arm.reset(self._task, init_id)
        self._world.begin(self._task)
        executor = ChunkExecutor(
            self._backend.control_hz,
            Envelope(scene, self._robot),
            self._backend.hold_action,
            representation=scene.action.representation,
            catch_up=CatchUp(scene.action),
        )
        judge: Judge = NoJudge()
        if skill is not None:
            judge = RewardModelJudge(self._model, self._reward, scene)
        parts = CorrectedParts(
            scene=scene,
            world=self._world,
            task=self._task,
            succeeds=lambda: bool(arm.success[self._column]),
            instruction=self._instruction,
            executor=executor,
            recorder=recorder,
            policy=self._asked(skill, executor, init_id) if skill else None,
            judge=judge,
            thresholds=self._thresholds,
            max_steps=self._max_steps,
        )
        episode = CorrectedEpisode(parts, init_id)
        periods = {camera.name: round(scene.control_hz / camera.rate_hz) for camera in scene.cameras}
        loop = ControlLoop(arm, executor, episode, LoopSettings(periods, real_time_factor=0.0), state)
        episode.connect(loop.post)
        loop.run(lambda: episode.goes_on)
        episode.end()
        return episode.row

    def _asked(
        self, skill: GoalSkill, executor: ChunkExecutor, init_id: int
    ) -> tuple[GoalHost, SendGoal, SkillNote]:
        """Return the policy's host, the goal of an episode, and the recorder's note of the skill."""
        said = announced_skill(skill.package)
        goals = GoalHost(self._scene, self._robot, {said.name: skill}, executor)
        order = SendGoal(2 * init_id + 2, said, self._instruction, "", DEADLINE_S)
        version = str(skill.package.manifest.version)
        return goals, order, SkillNote(said.name, said.kind, version, NODE, "")


def summary(rows: list[AttemptRow]) -> dict[str, Any]:
    """Return the counts and rows of a round's episodes for `result.json`."""
    return {
        "attempts": len(rows),
        "solved_alone": sum(row.success and row.taken_over is None for row in rows),
        "interventions": sum(row.taken_over is not None for row in rows),
        "rows": [asdict(row) for row in rows],
    }
