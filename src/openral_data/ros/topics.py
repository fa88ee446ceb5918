"""The recorded topics of a deployment, with their types and QoS profiles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from geometry_msgs.msg import PointStamped, PoseStamped
from openral.msg import (
    ActionChunk,
    ControlStatus,
    ExecutedAction,
    Mission,
    MissionStep,
    Prompt,
    SkillInfo,
    TaskProgress,
)
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import CameraInfo, Image, JointState
from std_msgs.msg import Bool, String
from tf2_msgs.msg import TFMessage

from openral_core.graph.namespaces import DEFAULT_NAMESPACE
from openral_core.ros.qos import LATCHED, MISSION_LOG, SKILLS, STATIC_FRAMES, best_effort
from openral_data.recorded_columns import RecordedColumns

COMPRESSED = "sensor_msgs/msg/CompressedImage"
BEST_EFFORT = best_effort(30)
"""QoS profile of images, with a queue for about one second in which the process is not scheduled."""


@dataclass(frozen=True)
class RecordedTopic:
    """A recorded topic."""

    name: str
    """Name in the recording, which is that of the default namespace for every robot."""
    message_type: Any
    qos: Any
    latched: bool = False
    """Whether its newest message is written at the beginning of each bag."""
    camera: str = ""
    """Feature key of the camera, for topics of images; empty: another topic."""

    @property
    def heard_on(self) -> str:
        """Its name for a node in the namespace of a deployment."""
        return self.name.removeprefix(f"{DEFAULT_NAMESPACE}/")

    @property
    def type_name(self) -> str:
        """Such as sensor_msgs/msg/Image."""
        return f"{self.message_type.__module__.split('.')[0]}/msg/{self.message_type.__name__}"


def recorded_topics(columns: RecordedColumns) -> list[RecordedTopic]:
    """Return the topics of a deployment with these cameras."""
    topics = [
        RecordedTopic("/clock", Clock, BEST_EFFORT),
        RecordedTopic("/joint_states", JointState, 200),
        RecordedTopic("/openral/ee_pose", PoseStamped, 200),
        RecordedTopic("/openral/ee_target", PointStamped, 200),
        RecordedTopic("/openral/executed_action", ExecutedAction, 200),
        RecordedTopic("/openral/action_chunk", ActionChunk, 50),
        RecordedTopic("/openral/control_status", ControlStatus, 50),
        RecordedTopic("/openral/skills", SkillInfo, SKILLS, latched=True),
        RecordedTopic("/openral/mission", Mission, LATCHED, latched=True),
        RecordedTopic("/openral/mission_log", MissionStep, MISSION_LOG),
        RecordedTopic("/openral/progress", TaskProgress, 50),
        RecordedTopic("/openral/prompt", Prompt, 10),
        RecordedTopic("/openral/estop_state", Bool, LATCHED, latched=True),
        RecordedTopic("/tf", TFMessage, 200),
        RecordedTopic("/tf_static", TFMessage, STATIC_FRAMES, latched=True),
        RecordedTopic("/robot_description", String, LATCHED, latched=True),
    ]
    for camera in columns.cameras:
        base = f"/openral/cameras/{camera.name}"
        topics.append(RecordedTopic(f"{base}/image_raw", Image, BEST_EFFORT, camera=camera.key))
        topics.append(RecordedTopic(f"{base}/camera_info", CameraInfo, BEST_EFFORT))
    return topics
