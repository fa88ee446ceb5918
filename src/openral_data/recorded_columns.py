"""The columns of a recorded dataset: images, state, commanded and executed actions, and interventions."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import pyarrow as pa

from openral_core.errors import DatasetError
from openral_core.robot import RobotDescription
from openral_core.scene import DeployScene
from openral_data.dataset_schema import ACTION_NAMES, is_folder_name
from openral_data.video_format import CODEC, PIXELS

STATE_NAMES = ("ee_x", "ee_y", "ee_z", "ee_qx", "ee_qy", "ee_qz", "ee_qw", "gripper_opening")
"""Pose of the hand [m, unit quaternion x, y, z, w] in the world frame, and the opening of the fingers [m]."""
_KINDS = {"float32": pa.float32(), "float64": pa.float64(), "int64": pa.int64(), "bool": pa.bool_()}


@dataclass(frozen=True)
class CameraColumn:
    """One camera of the dataset."""

    name: str
    """Name in the scene, and in `/openral/cameras/<name>/image_raw`."""
    key: str
    """Feature key in the dataset, such as observation.images.camera1."""
    height: int
    """[px]"""
    width: int
    """[px]"""

    def __post_init__(self) -> None:
        """Raise DatasetError: videos cannot have the name of its feature."""
        if not is_folder_name(self.key):
            raise DatasetError(
                f"camera '{self.name}': videos are in a folder named by feature_key, and '{self.key}' names none; "
                "leave out slashes"
            )


@dataclass(frozen=True)
class RecordedColumns:
    """The content of frames, and their rate relative to control steps."""

    fps: float
    """[Hz] rate of frames."""
    steps: int
    """K, number of control steps from one frame to the next."""
    cameras: tuple[CameraColumn, ...]
    """Cameras; frames are aligned to the first image of the first one."""
    joints: tuple[str, ...]
    """J names of joints, as in the robot's description."""
    gripper: str
    """Joint whose position is the opening of the fingers [m]; empty: the robot has none."""
    action_dim: int
    """A"""
    robot_type: str
    scene: str

    @property
    def control_hz(self) -> float:
        """[Hz] rate of control steps."""
        return self.fps * self.steps

    @property
    def actions(self) -> tuple[str, ...]:
        """A names of the values of an action."""
        return ACTION_NAMES.get(self.action_dim) or tuple(f"action_{i}" for i in range(self.action_dim))

    def vectors(self) -> dict[str, tuple[str, tuple[str, ...] | None, int]]:
        """Return dtype, names and length of every column of numbers that a recorder measures."""
        every_step = tuple(f"{name}.{step}" for step in range(self.steps) for name in self.actions)
        return {
            "observation.state": ("float32", STATE_NAMES, len(STATE_NAMES)),
            "observation.joints": ("float32", self.joints, len(self.joints)),
            "action": ("float32", self.actions, self.action_dim),
            "action.executed": ("float32", every_step, len(every_step)),
            "action.commanded": ("float32", every_step, len(every_step)),
            "action.held": ("bool", None, self.steps),
            "intervention": ("bool", None, 1),
            "stamp_s": ("float64", None, 1),
        }

    def features(self) -> dict[str, Any]:
        """Return the `features` of `meta/info.json`."""
        numbers = {
            name: {"dtype": dtype, "shape": [size], "names": list(names) if names else None}
            for name, (dtype, names, size) in self.vectors().items()
        }
        index = {"dtype": "int64", "shape": [1], "names": None}
        return {
            **{camera.key: self._video(camera) for camera in self.cameras},
            **numbers,
            "timestamp": {"dtype": "float32", "shape": [1], "names": None},
            **dict.fromkeys(("frame_index", "episode_index", "index", "task_index"), index),
        }

    def journal_schema(self) -> pa.Schema:
        """Return the Arrow types of the rows of a segment."""
        return pa.schema(
            [
                pa.field(name, _KINDS[dtype] if size == 1 else pa.list_(_KINDS[dtype], size))
                for name, (dtype, _, size) in self.vectors().items()
            ]
        )

    def as_json(self) -> dict[str, Any]:
        """Return the columns as JSON values, for `from_json`."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> RecordedColumns:
        """Return the columns of a result of `as_json`."""
        cameras = tuple(CameraColumn(**camera) for camera in values["cameras"])
        return cls(**{**values, "cameras": cameras, "joints": tuple(values["joints"])})

    @classmethod
    def of(cls, scene: DeployScene, robot: RobotDescription, name: str) -> RecordedColumns:
        """Return the columns of a scene's deployment, with a frame for each image of its slowest camera.

        Raises:
            DatasetError: a camera's image has an odd width or height, which the video format does not allow.
        """
        for camera in scene.cameras:
            if camera.width % 2 or camera.height % 2:
                raise DatasetError(
                    f"camera '{camera.name}': {camera.width}x{camera.height} px cannot be recorded as video; "
                    "write an even width and height into the scene"
                )
        steps = max(round(scene.control_hz / camera.rate_hz) for camera in scene.cameras)
        gripper = robot.gripper_joint
        return cls(
            fps=scene.control_hz / steps,
            steps=steps,
            cameras=tuple(
                CameraColumn(camera.name, camera.feature_key, camera.height, camera.width)
                for camera in scene.cameras
            ),
            joints=robot.joint_names,
            gripper=gripper.name if gripper else "",
            action_dim=scene.action.dim,
            robot_type=robot.name,
            scene=name,
        )

    def _video(self, camera: CameraColumn) -> dict[str, Any]:
        return {
            "dtype": "video",
            "shape": [camera.height, camera.width, 3],
            "names": ["height", "width", "channels"],
            "info": {
                "video.height": camera.height,
                "video.width": camera.width,
                "video.codec": CODEC,
                "video.pix_fmt": PIXELS,
                "video.is_depth_map": False,
                "video.fps": whole(self.fps),
                "video.channels": 3,
                "has_audio": False,
            },
        }


def whole(fps: float) -> int | float:
    """Return a rate [Hz] as LeRobot writes it, as an integer if it is integral."""
    return round(fps) if abs(fps - round(fps)) < 1e-9 else fps
