"""The skills, motions, reward model and locator of a scene, loaded once for many episodes."""

from __future__ import annotations

import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from openral_benchmark.harness.ablations import ROWS, HarnessRow
from openral_benchmark.harness.episode import EpisodeParts, EpisodeTally, HarnessEpisode
from openral_benchmark.harness.goal_host import GoalHost, GoalSkill
from openral_benchmark.harness.judges import Judge, NoJudge, RewardModelJudge, TrueJudge
from openral_benchmark.harness.object_positions import Grounding, LocatorGrounding, TrueGrounding
from openral_benchmark.harness.one_task_planner import OneTask, task_of
from openral_benchmark.harness.perturbations import VARIANTS
from openral_benchmark.harness.shared_resources import SharedParts
from openral_benchmark.harness.world import begin_world
from openral_benchmark.plan import simulator_task
from openral_control.catch_up import CatchUp
from openral_control.chunk_executor import ChunkExecutor
from openral_control.control_loop import ControlLoop, LoopSettings
from openral_control.envelope import Envelope
from openral_control.motions import MotionArm, motion_name
from openral_core.errors import ContractError
from openral_core.robot import load_robot
from openral_core.scene import BenchmarkScene
from openral_core.stop_conditions import FingerTravel
from openral_perception.locator import Locator
from openral_policy_nodes.inference import Inference
from openral_policy_nodes.motion_source import MotionSource, path_check
from openral_reasoner.memory.outcomes import Outcomes
from openral_reasoner.mission.ladder.experience import Experience
from openral_reasoner.mission.mission import LogEntry
from openral_reasoner.palette import Palette, Skill, SkillTask, build_palette
from openral_rskill.compatibility import match, require
from openral_rskill.progress_thresholds import progress_thresholds
from openral_rskill.registry import RSkillPackage, resolve
from openral_sim_bridge.backend import Backend
from openral_sim_bridge.simulated_arm import SimulatedArm


class MissionHarness:
    """Runs episodes of one scene's task in any row and variant, one after the other. Not thread-safe.

    An episode depends on its row, variant and initial state, and on the counts, which are the same for all episodes.
    Nothing is kept from one episode to the next, counts of its own missions included.
    """

    def __init__(
        self,
        scene: BenchmarkScene,
        package: RSkillPackage,
        *,
        attempt_steps: int,
        shared: SharedParts,
        counts: Path | None = None,
        allow_unevaluated: bool = False,
    ) -> None:
        """Check everything against the scene, and load the policy.

        Args:
            scene: with `motions`; where it names no `reward_skill` or no `detector_skill`, the simulator answers, and
                the rows of the result name that (`HarnessRow.deployed_in`).
            package: the policy.
            attempt_steps: control steps of an attempt, in rows with `short`.
            shared: models and worlds, which other harnesses may use in turn; their owner closes them.
            counts: file of counts of what worked on other states, for rows with `counts`; None: there are none.
            allow_unevaluated: whether a task may be run that the policy was not evaluated on.

        Raises:
            OpenralError: something is missing, does not fit or cannot be loaded.
        """
        if not scene.motions:
            raise ContractError(f"scene of {scene.task.id}: missions need motions; add those that it has")
        self._scene, self._robot = scene, load_robot(scene.robot_id)
        self._task = simulator_task(scene)
        self._attempt_s, self._counts = attempt_steps * scene.dt, counts
        self.packages = [package, *(resolve(reference) for reference in scene.motions)]
        self._policy = announced_skill(package)
        self._reward = resolve(scene.reward_skill) if scene.reward_skill else None
        detector = resolve(scene.detector_skill) if scene.detector_skill else None
        for each in (*self.packages, *(beside for beside in (self._reward, detector) if beside)):
            require(
                match(
                    each.manifest,
                    self._robot,
                    scene,
                    folder=each.folder,
                    lockstep=True,
                    task=scene.task.id if each is package else "",
                    accept_noncommercial=package.accept_noncommercial,
                    allow_unevaluated=allow_unevaluated or each is not package,
                )
            )
        self._shared = shared
        self._skills = self._hosted(package)
        self._model = shared.reward_model(self._reward) if self._reward else None
        self._locator = Locator(shared.detector(detector)) if detector else None
        self._gate = progress_thresholds(scene)

    def run(self, row: str, variant: str, init_id: int) -> tuple[dict[str, Any], list[LogEntry]]:
        """Run one episode of a row (`ROWS`) in a variant (`VARIANTS`); see `play`."""
        return self.play(row, ROWS[row], variant, init_id)

    def play(
        self, row: str, parts: HarnessRow, variant: str, init_id: int
    ) -> tuple[dict[str, Any], list[LogEntry]]:
        """Run one episode.

        Args:
            row: name of the deployment, for the result.
            parts: its parts.
            variant: a name in `VARIANTS`.
            init_id: number of the initial state.

        Returns:
            The fields of the episode as results hold them, and the log of its missions.

        Raises:
            OpenralError: the simulator refused, or a model failed.
        """
        begun, varied = time.perf_counter(), VARIANTS[variant]
        parts = parts.deployed_in(self._scene)
        scene = varied.scene(self._scene)
        backend = self._shared.world(scene)
        arm, state = begin_world(backend, scene, self._robot, varied, self._task, init_id)
        executor = ChunkExecutor(
            backend.control_hz,
            Envelope(scene, self._robot),
            backend.hold_action,
            representation=scene.action.representation,
            catch_up=CatchUp(scene.action),
        )
        goals = GoalHost(scene, self._robot, self._skills, executor)
        log: list[LogEntry] = []
        episode = HarnessEpisode(self._parts(parts, backend, arm, executor, goals), log)
        periods = {camera.name: round(scene.control_hz / camera.rate_hz) for camera in scene.cameras}
        loop = ControlLoop(arm, executor, episode, LoopSettings(periods, real_time_factor=0.0), state)
        goals.connect(loop.post, episode.rejected)
        loop.run(lambda: episode.goes_on)
        row_fields = {
            "row": row,
            "variant": variant,
            "task": self._scene.task.id,
            "init_id": init_id,
            "instruction": self._scene.task.instruction,
            "truth": list(parts.truth),
            **_record(episode.tally),
            "motion_steps": goals.motion_steps,
            "held_steps": executor.counters.held,
            "disturbance": arm.disturbance.done if arm.disturbance else "",
            "wall_s": round(time.perf_counter() - begun, 3),
        }
        return row_fields, log

    def _hosted(self, package: RSkillPackage) -> dict[str, GoalSkill]:
        inference = Inference(package.manifest, self._scene, self._shared.policy(package))
        motions = MotionSource(MotionArm.of(self._scene, self._robot), path_check(self._scene))
        return {
            each.manifest.name: GoalSkill(each, inference if each is package else motions)
            for each in self.packages
        }

    def _parts(
        self,
        row: HarnessRow,
        backend: Backend,
        arm: SimulatedArm,
        executor: ChunkExecutor,
        goals: GoalHost,
    ) -> EpisodeParts:
        scene, palette = self._scene, self._palette(row)
        judge: Judge = NoJudge()
        if row.judge == "own":
            assert self._model is not None, "deployed_in looked"
            assert self._reward is not None, "it has a model"
            judge = RewardModelJudge(self._model, self._reward, scene)
        elif row.judge == "true":
            judge = TrueJudge(lambda: bool(arm.success[0]))
        grounding: Grounding | None = None
        if row.grounding == "own":
            assert self._locator is not None, "deployed_in looked"
            camera = next(camera.name for camera in scene.cameras if camera.depth)
            grounding = LocatorGrounding(backend, camera, self._locator)
        elif row.grounding == "true":
            grounding = TrueGrounding(backend)
        return EpisodeParts(
            arm=arm,
            executor=executor,
            goals=goals,
            judge=judge,
            grounding=grounding,
            palette=palette,
            planner=OneTask(self._task, scene.task.instruction),
            by_motions=None if row.policy else task_of(self._policy, self._task, scene.task.instruction),
            gate=self._gate,
            fingers=FingerTravel.of(self._robot),
            experience=Experience(Outcomes(self._counts if row.counts else None, keeps=False)),
            left_out=row.left_out,
            instruction=scene.task.instruction,
            max_steps=int(scene.task.max_steps or 0),
            stop_at_success=row.judge != "own",
        )

    def _palette(self, row: HarnessRow) -> Palette:
        """Return the skills of a row; `HarnessRow.short` decides how long an attempt of the policy may take."""
        motions = self.packages[1:]
        skills = [announced_skill(each) for each in motions if motion_name(each.manifest) in row.motions]
        if row.policy:
            whole_s = int(self._scene.task.max_steps or 0) * self._scene.dt
            longest_s = self._attempt_s if row.short else whole_s
            skills.append(replace(self._policy, max_execution_s=longest_s))
        return build_palette(
            skills, embodiment_tags=self._robot.embodiment_tags, commercial=False, scene_tasks=[self._task]
        )


def announced_skill(package: RSkillPackage) -> Skill:
    """Return a skill as its node would announce it."""
    manifest = package.manifest
    return Skill(
        name=manifest.name,
        slug=package.slug,
        node=f"/openral/{package.slug}",
        action_server=f"/openral/skills/{package.slug}/execute",
        kind=manifest.kind,
        description=" ".join(manifest.description.split()),
        license=manifest.license,
        commercial_use=manifest.is_commercial_use_allowed,
        embodiment_tags=tuple(manifest.embodiment_tags),
        actions=tuple(manifest.actions),
        objects=tuple(manifest.objects),
        scenes=tuple(manifest.scenes),
        tasks=tuple(
            SkillTask(example.task, tuple(example.phrases), example.leaves or manifest.leaves)
            for example in manifest.examples
        ),
        max_execution_s=manifest.latency_budget.max_execution_s or 0.0,
        start_poses=tuple(manifest.start_poses),
        leaves=manifest.leaves,
        goal_params_schema=manifest.goal_params_schema,
    )


def _record(tally: EpisodeTally) -> dict[str, Any]:
    """Return the fields of a tally for a result; `steps` counts until the first success, or all without one."""
    fields = asdict(tally)
    used, first = fields.pop("steps"), fields.pop("success_step")
    return {
        "success": first is not None,
        "steps": used if first is None else first,
        "used_steps": used,
        **fields,
    }
