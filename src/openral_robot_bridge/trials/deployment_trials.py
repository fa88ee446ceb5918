"""Trials of a skill on the twin of an arm, with a deployment and a scripted operator; each trial is a goal.

Everything between the images and the arm's joints is the same as for a real arm: camera bridge, policy node, robot
bridge with its safety filter, driver, and the arm's client library. Only the twin has an interface that resets its
world to an initial state of the scene between two trials, while the emergency stop is set, and that judges success.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import yaml

from openral_core.errors import ManifestError, NotFoundError, SimulationError
from openral_core.hardware.arm_mode import ended_by_arm
from openral_core.process.launched_deployment import LAUNCH_LOG, running
from openral_core.robot import load_robot
from openral_core.scene import DeployScene, load_scene
from openral_robot_bridge.ros.trial_operator import TrialOperator
from openral_robot_bridge.trials.trial import TrialRow, summary
from openral_robot_bridge.trials.twin_process import CommandedTwin
from openral_rskill.registry import RSkillPackage
from openral_rskill.result_provenance import provenance, write_result
from openral_sim_bridge.backends.fingerprint import fingerprint
from openral_sim_bridge.backends.mjcf.options import read_options
from openral_sim_bridge.backends.mjcf.world import CompiledScene

RESULT = "result.json"
"""File of the result, in the run's folder."""
LAUNCH_FILE = "deploy_robot.launch.py"
READY_S = 180.0
"""[s] timeout of the deployment's start with its skill, on a busy machine."""
PATIENCE_MS = 900.0
"""[ms] wall time that a twin in lockstep waits for a command; libfranka's own timeout is 1 s."""
SETTLE_S = 1.0
"""[s] after a reset, within which images and states of the former world have passed."""


@dataclass(frozen=True)
class TrialPlan:
    """Settings of a series of trials."""

    instruction: str
    """For the policy."""
    first: int
    """Number of the first trial's initial state; the others follow it."""
    count: int
    """Number of trials."""
    max_steps: int
    """Number of control steps after which a trial has failed."""
    address: str
    """Address of this machine on which the twin listens."""
    cameras_port: int
    """HTTP port of the twin's images."""
    patience_ms: float
    """[ms] wall time that the twin's cycle waits for its command."""
    lockstep: bool
    """Whether the twin's time advances only with the commands of its arm, in one process and without ROS."""


def words_of(package: RSkillPackage, scene: DeployScene) -> str:
    """Return the skill's first example phrase for the scene's first task.

    Raises:
        NotFoundError: there is none.
    """
    task = read_options(scene)[0].tasks[0]
    for example in package.manifest.examples:
        if example.task == task:
            return str(example.phrases[0])
    raise NotFoundError(
        f"{package.manifest.name} has no example for {task}; say what to do with --instruction"
    )


def run_trials(
    scene: DeployScene,
    package: RSkillPackage,
    plan: TrialPlan,
    folder: Path,
    progress: Callable[[TrialRow], None],
) -> dict[str, Any]:
    """Run trials of a skill, and return the result, which is written to `RESULT` in the folder after each trial.

    Args:
        scene: with an arm whose driver is franka, and a model of family mjcf.
        package: the skill, which fits the scene.
        plan: settings of the trials.
        folder: of the run, new or empty.
        progress: called with the row of each trial.

    Raises:
        OpenralError: the scene has no such arm or lacks an initial state, which is checked before anything moves; or
            the twin or the deployment ended.
    """
    _require_trials(scene, plan)
    file = _write_scene(scene, package, plan, folder)
    made_by = {**provenance(package, " ".join(sys.argv)), **fingerprint(load_scene(str(file)))}
    rows: list[TrialRow] = []
    content: dict[str, Any] = {}

    def keep(row: TrialRow) -> None:
        rows.append(row)
        content.update(
            {"scene": scene.scene.id, "plan": asdict(plan), "results": summary(rows), "provenance": made_by}
        )
        write_result(folder / RESULT, content)  # after each trial, in case the next one fails
        progress(row)

    (_in_lockstep if plan.lockstep else _deployed)(file, package, plan, folder, keep)
    return content


def _in_lockstep(
    file: Path, package: RSkillPackage, plan: TrialPlan, folder: Path, keep: Callable[[TrialRow], None]
) -> None:
    from openral_robot_bridge.trials.lockstep_trials import lockstep_trials

    init_ids = range(plan.first, plan.first + plan.count)
    with CommandedTwin(file, plan.address, 0, PATIENCE_MS, folder / "twin.log") as twin:
        scene: DeployScene = load_scene(str(file))
        lockstep_trials(scene, package, plan.instruction, init_ids, plan.max_steps, twin, keep)


def _deployed(
    file: Path, package: RSkillPackage, plan: TrialPlan, folder: Path, keep: Callable[[TrialRow], None]
) -> None:
    scene: DeployScene = load_scene(str(file))
    run_dir = folder / "deployment"
    arguments = {
        "scene": str(file),
        "allow_unevaluated": "true",
        "enable_reward_monitor": "false",
        "exit_when_done": "false",
        "run_dir": str(run_dir),
    }
    twin_at = (file, plan.address, plan.cameras_port, plan.patience_ms, folder / "twin.log")
    with (
        CommandedTwin(*twin_at) as twin,
        running(LAUNCH_FILE, arguments, folder / LAUNCH_LOG, lambda line: None) as launched,
        TrialOperator(package.slug, lambda: launched.poll() is None) as operator,
    ):
        operator.until_ready(READY_S)
        for init_id in range(plan.first, plan.first + plan.count):
            keep(_try(twin, operator, plan, init_id, 1.0 / scene.control_hz))


def _try(twin: CommandedTwin, operator: TrialOperator, plan: TrialPlan, init_id: int, dt: float) -> TrialRow:
    operator.stop()
    operator.recover()
    twin.reset(init_id)
    time.sleep(SETTLE_S)
    operator.release()
    operator.take_behind()
    cycles, missed = twin.cycles
    end = operator.run(plan.instruction, 4.0 * plan.max_steps * dt, plan.max_steps, lambda: twin.is_done)
    success, (after, missed_after) = twin.is_done, twin.cycles
    return TrialRow(
        init_id=init_id,
        success=success,
        steps=end.steps,
        wall_s=round(end.wall_s, 3),
        outcome=end.outcome,
        check=end.check,
        latency_p50_ms=round(1e3 * end.latency_p50_s, 2),
        latency_p95_ms=round(1e3 * end.latency_p95_s, 2),
        behind_rad=round(operator.take_behind(), 4),
        twin_s=round(1e-3 * (after - cycles), 3),
        missed=missed_after - missed,
        stopped_by=operator.stopped_by,
        ended_by_arm=not success and ended_by_arm(operator.stopped_by),
    )


def _require_trials(scene: DeployScene, plan: TrialPlan) -> None:
    """Require a scene with an arm whose driver is franka, and with every initial state of the plan.

    Raises:
        ManifestError: the scene has no such arm.
        SimulationError: an initial state is missing.
    """
    if scene.arm is None or scene.arm.driver != "franka" or scene.source is None:
        raise ManifestError(
            f"scene {scene.scene.id}: trials need the twin of `arm.driver: franka`; name such a scene"
        )
    states = CompiledScene(scene, load_robot(scene.robot_id)).states
    for init_id in range(plan.first, plan.first + plan.count):
        try:
            states.require(init_id)
        except SimulationError as error:
            span = f"{plan.count} trials from initial state {plan.first} on"
            raise SimulationError(f"{span}: {error}; give another --init-id or --n-episodes") from error


def _write_scene(scene: DeployScene, package: RSkillPackage, plan: TrialPlan, folder: Path) -> Path:
    """Write a copy of the scene with this skill, and with arm and cameras at the twin's address; return its path."""
    assert scene.arm is not None  # `_require_trials`
    assert scene.source is not None
    content = yaml.safe_load(scene.source.path.read_text(encoding="utf-8"))
    options, _ = read_options(scene)
    content["scene"]["backend_options"]["model"] = str((scene.source.path.parent / options.model).resolve())
    content["skills"] = [str(package.folder.resolve())]
    content["motions"] = []
    content["arm"]["address"] = plan.address
    at = f"http://{plan.address}:{plan.cameras_port}"
    content["arm"]["cameras"] = {
        camera.name: {"device": f"{at}/{camera.name}.mjpg"} for camera in scene.cameras
    }
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "scene.yaml"
    file.write_text(yaml.safe_dump(content), encoding="utf-8")
    return file.resolve()
