"""What the reasoner takes from its scene file: the robot's body, the scene's tasks, cameras, and thresholds."""

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
    """The deployment of a scene file. Without one the fields are empty, and every active skill is accepted."""

    embodiment_tags: tuple[str, ...] = ()
    scene_tasks: tuple[str, ...] = ()
    """Task ids that the scene offers, where its backend names them (`backend_options.tasks`)."""
    gate: ProgressThresholds = field(default_factory=ProgressThresholds)
    """Thresholds of the reward skill."""
    cameras: tuple[SceneCamera, ...] = ()
    """The cameras of the scene."""
    reasoner: Mapping[str, object] = field(default_factory=dict)
    """The scene's section about the language model."""
    resume: Resume = "ask"
    """Whether a mission that a restart interrupted goes on: ask, always or never."""
    playbooks: tuple[Procedure, ...] = ()
    """The scene's playbooks."""
    fingers: FingerTravel | None = None
    """Opening of the robot's fingers, empty and closed; None: it has none."""
    has_policies: bool = False
    """Whether the scene deploys skills that are not motions."""


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
