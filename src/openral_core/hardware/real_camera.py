"""Schema of a real camera in a scene: source of its images, conversion to the scene's size, and pose."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints, model_validator

from openral_core.graph.namespaces import COMPRESSED_SUFFIX
from openral_core.schema import Count, Fault, Finite, Positive, Schema, Vector3, Word, raise_faults

Topic = Annotated[str, StringConstraints(pattern=r"^/[A-Za-z0-9_/]*[A-Za-z0-9_]$", max_length=200)]
Fit = Literal["crop", "pad", "stretch"]
OWN_TOPICS = "/openral/cameras/"
"""Where pictures go; a camera whose driver publishes there itself needs no entry in a scene."""
UNIT = 1e-3
"""Largest deviation of the norm of a quaternion from 1."""


class CameraMount(Schema):
    """Pose of a camera's optical frame (x right, y down, z forward; REP 103) in another frame."""

    frame: Word
    """Of the robot's links, or `world`."""
    position: Vector3
    """[m]"""
    quaternion: Annotated[tuple[Finite, Finite, Finite, Finite], Field(strict=False)]
    """x, y, z, w"""

    @model_validator(mode="after")
    def _is_a_rotation(self) -> CameraMount:
        length = sum(number * number for number in self.quaternion) ** 0.5
        if abs(length - 1.0) > UNIT:
            raise_faults([Fault("quaternion", f"has length {length:.3f}", "write x, y, z, w of length 1")])
        return self


class CaptureMode(Schema):
    """Mode that is requested of a device; the actual one may differ, which `openral robot check` shows."""

    width: Count
    """[px]"""
    height: Count
    """[px]"""
    fps: Positive
    """[Hz]"""


class Pinhole(Schema):
    """Intrinsic parameters for the images of a device, before any conversion."""

    fx: Positive
    """[px]"""
    fy: Positive
    """[px]"""
    cx: Finite
    """[px] of the principal point, from the left."""
    cy: Finite
    """[px] of the principal point, from the top."""


class RealCamera(Schema):
    """One of `arm.cameras` of a scene: a topic of a camera's own driver, or a device that OpenCV opens."""

    topic: Topic | None = None
    """Of sensor_msgs/Image; of sensor_msgs/CompressedImage where it ends in `/compressed`."""
    info_topic: Topic | None = None
    """Of sensor_msgs/CameraInfo; absent: `camera_info` beside the pictures."""
    device: Annotated[str, StringConstraints(min_length=1, max_length=500)] | None = None
    """Number or path of a video device (`/dev/video0`), or a stream's URL."""
    capture: CaptureMode | None = None
    """Mode that is requested of the device; absent: its default."""
    lens: Pinhole | None = None
    """Intrinsic parameters of the device; absent: unknown, so that no camera_info is published."""
    fit: Fit = "crop"
    """How pictures of another shape become the scene's: the middle of them, all of them between black bars, or all of
    them distorted. What the policy was trained on decides."""
    mount: CameraMount | None = None
    """Pose of the camera; absent: unknown, so that it cannot be used to locate objects."""

    @property
    def camera_info(self) -> str:
        """Topic of the camera_info; empty for a device, which has none."""
        if self.topic is None:
            return ""
        return (
            self.info_topic or self.topic.removesuffix(COMPRESSED_SUFFIX).rpartition("/")[0] + "/camera_info"
        )

    @model_validator(mode="after")
    def _has_one_source(self) -> RealCamera:
        faults = []
        if (self.topic is None) == (self.device is None):
            faults.append(Fault("topic", "a camera has either a topic or a device", "write one of them"))
        elif self.topic is not None:
            faults += [
                Fault(name, "is for a device, and this camera has a topic", "remove it")
                for name in ("capture", "lens")
                if getattr(self, name) is not None
            ]
        elif self.info_topic is not None:
            faults.append(Fault("info_topic", "is for a topic; a device has a lens", "write lens"))
        if self.lens is not None and self.capture is None:
            faults.append(Fault("lens", "is of pictures of one size, which is not said", "write capture"))
        if self.topic is not None and self.topic.startswith(OWN_TOPICS):
            what = "is where openral publishes; what a driver publishes there is taken as it is"
            faults.append(Fault("topic", what, "remove the camera from arm.cameras"))
        raise_faults(faults)
        return self
