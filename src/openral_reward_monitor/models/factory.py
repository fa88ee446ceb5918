"""Assembles the parts of a monitor: a reward skill that fits, its model, its calibration and its cameras."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from openral_core.errors import NotFoundError
from openral_core.manifest import Reward
from openral_core.robot import load_robot
from openral_core.scene import SceneCamera, load_scene
from openral_reward_monitor.camera_views import cameras_of, default_view, require_view, side_by_side
from openral_reward_monitor.models.calibration import Calibration, load_calibration
from openral_reward_monitor.models.reward_model import RewardModel, checked, load_reward_model
from openral_rskill.compatibility import match, package_findings, require
from openral_rskill.registry import RSkillPackage, resolve

WARM_UP_SIZE = 224
"""[px] side of the black frames for warming up the model if no scene gives the size of the camera's frames."""


@dataclass(frozen=True)
class WatchableModel:
    """A loaded reward model with its skill, calibration and cameras."""

    package: RSkillPackage
    reward: Reward
    model: RewardModel
    calibration: Calibration | None
    views: tuple[str, ...]
    """What is watched (`openral_reward_monitor.camera_views`), the preferred view first."""
    cameras: dict[str, SceneCamera | None]
    """The views' cameras by name; None: its size is that of its first image."""

    @property
    def summary(self) -> str:
        """Skill, cameras and calibration, as one line for the log."""
        manifest, names = self.package.manifest, ", ".join(self.views)
        known = sorted(self.calibration.cameras) if self.calibration else []
        judged = f"calibrated for {', '.join(known)}" if known else "uncalibrated: raw scores count"
        return f"{manifest.name} {manifest.version} watches camera {names} ({judged})"


def assemble(
    scene_ref: str, skill_ref: str, cameras: Sequence[str], device: str, allow_unevaluated: bool
) -> WatchableModel:
    """Check the reward skill, against the scene if there is one, load its model and score two black frames.

    Args:
        scene_ref: name or path of the scene; empty: there is none, and any robot is accepted.
        skill_ref: name, reference or folder of the skill; empty: the scene's `reward_skill`.
        cameras: names, or views of several (`corner2+behindGripper`), the preferred one first; empty: those that the
            skill asks for.
        device: torch device of the model, such as `cpu` or `cuda:0`.
        allow_unevaluated: whether the skill may run in a scene that it was not evaluated in.

    Raises:
        OpenralError: something is missing, does not fit or may not be used; the text has one line for each.
    """
    scene = load_scene(scene_ref) if scene_ref else None
    ref = skill_ref or (scene.reward_skill if scene else None)
    if not ref:
        raise NotFoundError("no reward skill: set the parameter skill, or reward_skill in the scene")
    package = resolve(ref)
    manifest = package.manifest
    if scene is None:
        require(package_findings(manifest, folder=package.folder))
    else:
        robot = load_robot(scene.robot_id)
        require(match(manifest, robot, scene, folder=package.folder, allow_unevaluated=allow_unevaluated))
    if not cameras and scene is None:
        raise NotFoundError("no camera: without a scene, name them in the parameter cameras")
    views = tuple(cameras) if scene is None or cameras else (default_view(manifest, scene),)
    for view in views:
        require_view(view, manifest, scene)
    known = {camera.name: camera for camera in scene.cameras} if scene else {}
    watched = {name: known.get(name) for view in views for name in cameras_of(view)}
    calibration = load_calibration(package) if manifest.kind == "reward" else None
    model = load_reward_model(package, device)
    assert manifest.reward is not None, "the schema gives every manifest of kind reward its reward section"
    try:
        _warm_up(model, [watched[name] for name in cameras_of(views[0])], manifest.description)
    except BaseException:
        model.close()
        raise
    return WatchableModel(package, manifest.reward, model, calibration, views, watched)


def _warm_up(model: RewardModel, cameras: Sequence[SceneCamera | None], words: str) -> None:
    sizes = [(camera.height, camera.width) if camera else (WARM_UP_SIZE, WARM_UP_SIZE) for camera in cameras]
    black = side_by_side([np.zeros((*size, 3), np.uint8) for size in sizes])
    checked(model.score(np.stack([black, black]), words), 2)
