"""What the reasoner knows about its deployment: the robot's body, the scene's tasks, the thresholds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from openral_core.progress_judgement import ProgressThresholds
from openral_core.robot import load_robot
from openral_core.scene import DeployScene, Resume, SceneCamera, load_scene
from openral_core.stop_conditions import FingerTravel
from openral_rskill.playbook_procedure import Procedure, load_playbook
from openral_rskill.progress_thresholds import progress_thresholds
from openral_rskill.registry import resolve


@dataclass(frozen=True)
class Deployment:
    """Empty fields filter nothing: a reasoner without a scene file takes every active skill."""

    embodiment_tags: tuple[str, ...] = ()
    scene_tasks: tuple[str, ...] = ()
    """Task ids the scene offers, where its backend names them (`backend_options.tasks`)."""
    gate: ProgressThresholds = field(default_factory=ProgressThresholds)
    cameras: tuple[SceneCamera, ...] = ()
    """What an agent may look through."""
    reasoner: Mapping[str, object] = field(default_factory=dict)
    """The scene's section about the language model."""
    resume: Resume = "ask"
    """What becomes of a mission that a restart broke off."""
    playbooks: tuple[Procedure, ...] = ()
    """Written procedures."""
    fingers: FingerTravel | None = None
    """How far the robot's fingers go."""
    has_policies: bool = False
    """The scene deploys skills that are more than motions."""


def load_deployment(scene: str) -> Deployment:
    """Read a scene file (path or name; empty: no scene), its robot and the manifest of its reward skill.

    Raises:
        OpenralError: a file is missing or wrong.
    """
    if not scene:
        return Deployment()
    loaded: DeployScene = load_scene(scene)
    tasks, robot = loaded.scene.backend_options.get("tasks"), load_robot(loaded.robot_id)
    return Deployment(
        embodiment_tags=tuple(robot.embodiment_tags),
        scene_tasks=tuple(str(task) for task in tasks) if isinstance(tasks, (list, tuple)) else (),
        gate=progress_thresholds(loaded),
        cameras=loaded.cameras,
        reasoner=loaded.reasoner,
        resume=loaded.resume,
        playbooks=tuple(load_playbook(resolve(reference)) for reference in loaded.playbooks),
        fingers=FingerTravel.of(robot) if robot.end_effectors else None,
        has_policies=bool(loaded.skills),
    )
