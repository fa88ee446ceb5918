"""Reads the messages of a deployment for a recorder, whether they come from the graph or from a bag."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import CompressedImage

from openral_core.errors import ContractError
from openral_core.graph.namespaces import COMPRESSED_SUFFIX
from openral_core.image_message import ENCODINGS, decode_compressed, decode_image, encode_jpeg, require_size
from openral_core.message_field_checks import MAX_INSTRUCTION, text_field
from openral_core.scene_parts import SceneCamera
from openral_data.recorded_columns import CameraColumn
from openral_data.recording.assembler import ExecutedStep
from openral_data.recording.episode_notes import SkillNote
from openral_data.recording.recorder import EpisodeRecorder
from openral_data.ros.topics import COMPRESSED, RecordedTopic

JPEG_QUALITY = 90
"""JPEG quality of the images in bags, 0 to 100."""
EXECUTED, STATIC = "/openral/executed_action", "/tf_static"


class MessageIntake:
    """Passes the content of messages to a recorder, and the messages to its bag. Not thread-safe."""

    def __init__(self, recorder: EpisodeRecorder) -> None:
        """Read for a recorder."""
        self._recorder = recorder
        self._cameras = {camera.key: _scene_camera(camera) for camera in recorder.columns.cameras}
        self._readers: dict[str, Callable[[Any], None]] = {
            "/joint_states": self._joints,
            "/openral/ee_pose": self._pose,
            EXECUTED: self._executed,
            "/openral/action_chunk": self._chunk,
            "/openral/control_status": self._status,
            "/openral/skills": self._skill,
            "/openral/mission": self._mission,
            "/openral/progress": self._progress,
        }

    def take(self, topic: RecordedTopic, data: bytes, received_ns: int) -> None:
        """Take a message in CDR. Raises ContractError: it says what cannot be."""
        if topic.camera:
            self._picture(topic, data, received_ns)
            return
        reader = self._readers.get(topic.name)
        recorder, name = self._recorder, topic.name
        message: Any = _read(name, data, topic.message_type) if reader or name == STATIC else None
        if name == EXECUTED and not message.data:
            recorder.began_anew(_stamp_s(message))  # an episode and its bag end here, so that no bag needs it
            return
        latched = f"{name}{_part_of(name, message)}" if topic.latched else ""
        recorder.message(name, topic.type_name, data, received_ns, latched=latched)
        if reader is not None:
            reader(message)

    def take_compressed(self, topic: RecordedTopic, data: bytes, received_ns: int) -> None:
        """Take a picture in CDR (sensor_msgs/CompressedImage). Raises ContractError: it is none of its camera."""
        message = _read(topic.name, data, CompressedImage)
        pixels = decode_compressed(message.data)
        if pixels is None:
            raise ContractError(f"{topic.name}: {len(message.data)} bytes are no picture")
        require_size(self._cameras[topic.camera], pixels.shape[1], pixels.shape[0], "the picture")
        self._recorder.assembler.image(topic.camera, _stamp_s(message), pixels)
        name = f"{topic.name}{COMPRESSED_SUFFIX}"
        self._recorder.message(name, COMPRESSED, data, received_ns, latched="")

    def _picture(self, topic: RecordedTopic, data: bytes, received_ns: int) -> None:
        message = _read(topic.name, data, topic.message_type)
        pixels = decode_image(self._cameras[topic.camera], message, ENCODINGS)
        self._recorder.assembler.image(topic.camera, _stamp_s(message), pixels)
        if self._recorder.notes is not None:
            compressed = CompressedImage(
                header=message.header, format="jpeg", data=encode_jpeg(pixels, JPEG_QUALITY)
            )
            name, packed = f"{topic.name}{COMPRESSED_SUFFIX}", serialize_message(compressed)
            self._recorder.message(name, COMPRESSED, packed, received_ns, latched="")

    def _joints(self, message: Any) -> None:
        self._recorder.assembler.joints(_stamp_s(message), message.name, message.position)

    def _pose(self, message: Any) -> None:
        at, turn = message.pose.position, message.pose.orientation
        self._recorder.assembler.pose(_stamp_s(message), [at.x, at.y, at.z, turn.x, turn.y, turn.z, turn.w])

    def _executed(self, message: Any) -> None:
        action = np.array(message.data, np.float32)
        if action.shape != (self._recorder.columns.action_dim,):
            raise ContractError(f"an executed action has {action.size} numbers, the scene's have others")
        by_hand = self._recorder.by_hand(message.goal_id)
        self._recorder.executed(_stamp_s(message), ExecutedStep(action, bool(message.held), by_hand))

    def _chunk(self, message: Any) -> None:
        horizon, dim = int(message.horizon), int(message.dim)
        if not horizon:
            self._recorder.assembler.goal_ended()
        elif len(message.data) == horizon * dim:
            data = np.array(message.data, np.float32).reshape(horizon, dim)
            self._recorder.assembler.chunk(_stamp_s(message), data)

    def _status(self, message: Any) -> None:
        self._recorder.commands(str(getattr(message, "commanded_by", "")))
        self._recorder.instruction(text_field("instruction", message.instruction, MAX_INSTRUCTION))

    def _skill(self, message: Any) -> None:
        goal = message.goal_id if message.active else ""
        self._recorder.skill(SkillNote(message.name, message.kind, message.version, message.node, goal))

    def _mission(self, message: Any) -> None:
        task = message.tasks[message.active_task] if 0 <= message.active_task < len(message.tasks) else None
        self._recorder.mission(message.text, task.skill_task if task else "")

    def _progress(self, message: Any) -> None:
        self._recorder.reading(message.goal_id, bool(message.succeeded), bool(message.abstained))


def _part_of(topic: str, message: Any) -> str:
    """Return what a message of a latched topic is about, if several nodes publish there, each of its own."""
    if topic == "/openral/skills":
        return f" {message.node} {message.name}"
    if topic == STATIC:  # the arm's bridge says where its links are, that of the cameras where these are
        return f" {sorted(transform.child_frame_id for transform in message.transforms)}"
    return ""


def _read(topic: str, data: bytes, kind: Any) -> Any:
    """Return a message in CDR. Raises ContractError: the bytes, which may be anybody's, are none."""
    try:
        return deserialize_message(data, kind)
    except (ValueError, RuntimeError) as error:  # of the embedded runtime, and of ROS 2
        raise ContractError(f"{topic}: {len(data)} bytes are no {kind.__name__}: {error}") from error


def _stamp_s(message: Any) -> float:
    return float(message.header.stamp.sec) + 1e-9 * float(message.header.stamp.nanosec)


def _scene_camera(camera: CameraColumn) -> SceneCamera:
    return SceneCamera(
        name=camera.name, feature_key=camera.key, width=camera.width, height=camera.height, rate_hz=1.0
    )
