"""Conversion of the bridge's observations to the form on which a checkpoint was trained."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from openral_core.adapters.state_layout import state_function
from openral_core.errors import ContractError
from openral_core.manifest import ImagePreprocessing, RSkillManifest, StateContract
from openral_core.scene import DeployScene, SceneCamera
from openral_core.types import Image, Observation, PolicyBatch


class ObservationAdapter:
    """Converts names, image sizes, flips and the state layout for one skill in one scene. Stateless."""

    def __init__(self, manifest: RSkillManifest, scene: DeployScene) -> None:
        """Pair the skill's inputs with the scene's cameras.

        Raises:
            ContractError: a camera that the skill needs is not in the scene, or its state layout is unknown.
        """
        self._preprocessing = manifest.image_preprocessing or ImagePreprocessing()
        self._cameras = [
            (self._preprocessing.input_name(camera.feature_key), camera)
            for camera in cameras_for(manifest, scene)
        ]
        self._state = state_function(manifest)
        self._bottom_up = scene.scene.image_origin == "lower_left"
        self._past_states = (manifest.state_contract or StateContract()).history

    @property
    def history(self) -> tuple[int, ...]:
        """Control steps of the skill's instants relative to the present one (see `FrameHistory`); empty: only that."""
        return self._preprocessing.history

    @property
    def cameras(self) -> tuple[SceneCamera, ...]:
        """The cameras of the scene that the skill uses."""
        return tuple(camera for _, camera in self._cameras)

    def batch(self, observations: Sequence[Observation]) -> PolicyBatch:
        """Adapt B observations.

        Returns:
            images (B, H, W, 3) uint8 RGB by the checkpoint's names, or (B, T, H, W, 3) for a skill with a history;
            state (B, D) float32, or (B, T, D) if the state contract has `history`; B instructions, B episodes.

        Raises:
            ContractError: an image is missing or differs in shape or dtype from the scene's camera, or an observation's
                history differs in length from the skill's.
        """
        if not observations:
            raise ContractError("an empty batch of observations; give at least one")
        for observation in observations:
            self._check_history(observation)
        images = {
            name: np.stack([self._images(camera, observation) for observation in observations])
            for name, camera in self._cameras
        }
        state = np.stack([self._states(observation) for observation in observations])
        instructions = [observation.instruction for observation in observations]
        return PolicyBatch(images, state, instructions, [observation.episode for observation in observations])

    def _images(self, camera: SceneCamera, observation: Observation) -> NDArray[np.uint8]:
        """Return (H, W, 3), or (T, H, W, 3) for a skill with a history."""
        if not self.history:
            return self._image(camera, observation.images)
        return np.stack([self._image(camera, instant.images) for instant in observation.history])

    def _states(self, observation: Observation) -> NDArray[np.float32]:
        """Return (D,), or (T, D) for a skill with a history of states."""
        if not self._past_states:
            return self._state(observation.state)
        return np.stack([self._state(instant.state) for instant in observation.history])

    def _check_history(self, observation: Observation) -> None:
        if self.history and len(observation.history) != len(self.history):
            raise ContractError(
                f"the observation has {len(observation.history)} instants, the skill looks at "
                f"{len(self.history)} ({list(self.history)}); keep them in a FrameHistory of these offsets"
            )

    def _image(self, camera: SceneCamera, images: Mapping[str, Image]) -> Image:
        image = images.get(camera.name)
        if image is None:
            have = ", ".join(images) or "none"
            raise ContractError(
                f"no image of camera '{camera.name}'; have {have}: check that the bridge publishes it"
            )
        check_image(camera, image)
        return _prepare(image, self._preprocessing, self._bottom_up)


def check_image(camera: SceneCamera, image: NDArray[np.generic]) -> None:
    """Raise ContractError, with both forms, unless an image has its camera's shape and dtype."""
    needed = (camera.height, camera.width, 3)
    if image.shape != needed or image.dtype != np.uint8:
        raise ContractError(
            f"camera '{camera.name}' sends {image.shape} {image.dtype}, the scene says {needed} uint8; "
            "fix the camera's width and height in the scene, or the camera"
        )


def cameras_for(manifest: RSkillManifest, scene: DeployScene) -> list[SceneCamera]:
    """Return the scene's cameras that the skill needs, in the manifest's order.

    A requirement with a feature key takes the camera of that key; one without takes the first of the other cameras.

    Raises:
        ContractError: there are too few, or none has the key.
    """
    wanted = [sensor for sensor in manifest.sensors_required if sensor.modality == "rgb"]
    by_key = {camera.feature_key: camera for camera in scene.cameras}
    keyed = [sensor.vla_feature_key for sensor in wanted if sensor.vla_feature_key]
    spare = [camera for camera in scene.cameras if camera.feature_key not in keyed]
    chosen: list[SceneCamera] = []
    for sensor in wanted:
        if sensor.vla_feature_key:
            if sensor.vla_feature_key not in by_key:
                raise ContractError(
                    f"{manifest.name} needs a camera with feature_key {sensor.vla_feature_key}; "
                    f"the scene has {', '.join(by_key)}: give one of its cameras that feature_key"
                )
            chosen.append(by_key[sensor.vla_feature_key])
            continue
        if len(spare) < sensor.count:
            raise ContractError(
                f"{manifest.name} needs {sensor.count} more rgb camera(s), have {len(spare)}: add one"
            )
        chosen += spare[: sensor.count]
        del spare[: sensor.count]
    return chosen


def _prepare(image: Image, preprocessing: ImagePreprocessing, bottom_up: bool) -> Image:
    """Resize an image, then flip it; both commute, and the smaller image is cheaper to flip.

    A skill's flips refer to the images of its benchmark, which may begin with the bottom row; openral's are upright.
    """
    size = preprocessing.image_size
    if size is not None and image.shape[:2] != size:
        height, width = size
        image = cv2.resize(image, (width, height), interpolation=cv2.INTER_AREA).astype(np.uint8, copy=False)
    if preprocessing.flip_180:
        image = image[::-1, ::-1]
    if preprocessing.flip_vertical != bottom_up:
        image = image[::-1]
    return np.ascontiguousarray(image)
