"""What a reward model looks through: one camera, or several whose pictures of one instant stand side by side.

Several cameras have one name, such as `corner2+behindGripper`, under which they are watched, calibrated and asked for.
Their pictures make one frame, from left to right in that order, so that everything else handles a single camera.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import cv2
import numpy as np

from openral_core.adapters.observation_adapter import cameras_for
from openral_core.errors import ContractError, NotFoundError
from openral_core.manifest import RSkillManifest
from openral_core.scene import DeployScene
from openral_core.types import Image

_AND = "+"
"""Between the names of cameras; no camera's own name can contain it."""

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,59}")
"""Name of a camera, as scenes and topics have it."""


def cameras_of(view: str) -> tuple[str, ...]:
    """Return the names of a view's cameras, from left to right."""
    return tuple(name.strip() for name in view.split(_AND))


def cameras_needed(manifest: RSkillManifest) -> int:
    """Return the number of cameras that a reward skill looks through: those that it asks for by key, or one."""
    keyed = [s for s in manifest.sensors_required if s.modality == "rgb" and s.vla_feature_key]
    return max(1, len(keyed))


def default_view(manifest: RSkillManifest, scene: DeployScene) -> str:
    """Return the view of a reward skill: the cameras that it asks for by key, or the scene's first.

    Raises:
        ContractError: the scene has no camera of such a key.
    """
    if cameras_needed(manifest) == 1:
        return scene.cameras[0].name
    return _AND.join(camera.name for camera in cameras_for(manifest, scene))


def require_view(view: str, manifest: RSkillManifest, scene: DeployScene | None) -> None:
    """Check that a reward skill can look through a view.

    Raises:
        ContractError: it looks through more or fewer cameras, one is named twice, or a name is none of a camera.
        NotFoundError: the scene, if there is one, lacks a camera.
    """
    names = cameras_of(view)
    if len(names) != (needed := cameras_needed(manifest)):
        raise ContractError(
            f"{manifest.name} looks through {needed} camera(s), and {view} has {len(names)}; "
            f"name {needed}, with {_AND} between them"
        )
    known = [camera.name for camera in scene.cameras] if scene is not None else names
    for name in names:
        if names.count(name) > 1:
            raise ContractError(f"{name} is named twice in {view}; name each camera once")
        if scene is None and not _NAME.fullmatch(name):
            raise ContractError(f"'{name}' in {view} is no name of a camera; write letters, digits and _")
        if name not in known:
            raise NotFoundError(f"the scene has no camera '{name}'; it has {', '.join(known)}")


def side_by_side(pictures: Sequence[Image]) -> Image:
    """Return the frame (H, V * W, 3) of V pictures; those of another size than the first are brought to it, (H, W)."""
    height, width = pictures[0].shape[:2]
    if len(pictures) == 1:
        return pictures[0]
    frame = np.empty((height, len(pictures) * width, 3), np.uint8)
    for index, picture in enumerate(pictures):
        place = frame[:, index * width : (index + 1) * width]
        place[:] = (
            picture
            if picture.shape[:2] == (height, width)
            else cv2.resize(picture, (width, height), interpolation=cv2.INTER_AREA)
        )
    return frame


class JointFrame:
    """The pictures of one instant, put side by side when the frame is first used: most frames never are."""

    def __init__(self, pictures: Sequence[Image]) -> None:
        """Keep V pictures (H, W, 3) uint8 RGB, at least one; they must not be written to afterwards."""
        self._pictures = tuple(pictures)

    @property
    def image(self) -> Image:
        """The frame (H, V * W, 3), see `side_by_side`; the pictures are kept no longer than until it is made."""
        if len(self._pictures) > 1:
            self._pictures = (side_by_side(self._pictures),)
        return self._pictures[0]
