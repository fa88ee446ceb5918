"""The node `console_<pid>`: receives a deployment's topics, and passes the operator's commands on.

It sends no commands by itself: orders go to the reasoner, and stops to the bridge.
"""

from __future__ import annotations

import os
import re
import time
from functools import partial
from typing import Any
from uuid import uuid4

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray
from openral.msg import (
    ControlStatus,
    Mission,
    MissionStep,
    Prompt,
    RecorderStatus,
    SkillInfo,
    TaskProgress,
)
from rcl_interfaces.msg import Log
from rclpy.clock import Clock
from rclpy.clock_type import ClockType
from rclpy.node import Node
from sensor_msgs.msg import CompressedImage, Image
from std_msgs.msg import Bool, String
from std_srvs.srv import Trigger
from tf2_msgs.msg import TFMessage

from openral_console.live.camera_feed import CameraFeed
from openral_console.live.deployment import LiveDeployment
from openral_console.live.urdf_visuals import read_urdf
from openral_console.ros.convert import (
    control_of,
    diagnostic_of,
    mission_of,
    poses_of,
    reading_of,
    recording_of,
    skill_of,
    step_of,
)
from openral_console.ros.fleet_stop import StopAll, deployments_in, is_ros_name
from openral_console.ros.recorder_calls import RecorderCalls
from openral_console.ros.service_call import ServiceCall
from openral_core.cli.printable import plain_line
from openral_core.errors import ContractError
from openral_core.graph.namespaces import COMPRESSED_SUFFIX, DEFAULT_NAMESPACE, frame_prefix, is_of_another
from openral_core.guarded_callbacks import GuardedCallbacks
from openral_core.image_message import ENCODING, decode_compressed, packed_pixels
from openral_core.ros.qos import LATCHED, MAX_SKILLS, MISSION_LOG, NEWEST, SKILLS, STATIC_FRAMES

LOOK_S = 0.5
"""[s] between two checks for cameras, other deployments and open pages."""
MAX_CAMERAS = 12
MAX_PROMPT = 2000
"""Characters of what is said to the reasoner."""
REASONER_S = 2.0
"""[s] that a reasoner has to be found in the graph."""
RAW, PACKED = "sensor_msgs/msg/Image", "sensor_msgs/msg/CompressedImage"


class ConsoleNode(GuardedCallbacks, Node):
    """Fills a `LiveDeployment`; `Controls` for the pages."""

    def __init__(self, deployment: LiveDeployment) -> None:
        """Listen; the node's parameter `compressed` says whether pictures come as JPEG where there are both."""
        super().__init__(f"console_{os.getpid()}", namespace=DEFAULT_NAMESPACE)
        self.compressed = bool(self.declare_parameter("compressed", False).value)
        """Whether pictures are had as JPEG where there are both; what there is one kind of, as that."""
        self._deployment = deployment
        self._images: dict[str, Any] = {}
        """Subscription of each camera, while somebody looks."""
        self._pattern = re.compile(
            re.escape(f"{self.get_namespace()}/cameras/") + rf"(\w+)/image_raw({COMPRESSED_SUFFIX})?"
        )
        self._find_others()
        subscribe = self.create_subscription
        subscribe(Mission, "mission", self._on_mission, LATCHED)
        subscribe(MissionStep, "mission_log", self._on_step, MISSION_LOG)
        subscribe(SkillInfo, "skills", self._on_skill, SKILLS)
        subscribe(ControlStatus, "control_status", self._on_status, 10)
        subscribe(TaskProgress, "progress", self._on_progress, 10)
        subscribe(RecorderStatus, "recorder/status", self._on_recording, LATCHED)
        subscribe(Bool, "estop_state", self._on_estop, LATCHED)
        subscribe(DiagnosticArray, "/diagnostics", self._on_diagnostics, 10)
        subscribe(Log, "/rosout", self._on_log, 1000)
        subscribe(String, "/robot_description", self._on_description, LATCHED)
        subscribe(TFMessage, "/tf", self._on_frames, 10)
        subscribe(TFMessage, "/tf_static", self._on_frames, STATIC_FRAMES)
        self._prompts = self.create_publisher(Prompt, "prompt", 10)
        self._stop, self._release = (ServiceCall(self, Trigger, name) for name in ("estop", "estop_reset"))
        self._stop_all = StopAll(self)
        self._recorder = RecorderCalls(self)
        self.create_timer(LOOK_S, self._look, clock=Clock(clock_type=ClockType.STEADY_TIME))

    # -- what operators ask for (openral_console.live.deployment.Controls) ---------------------------

    def say(self, text: str) -> str:
        """Send an order to the reasoner; return why that failed, or an empty text."""
        words = plain_line(text, MAX_PROMPT)
        if not words:
            return "there are no words to be sent"
        end = time.monotonic() + REASONER_S
        while not self._prompts.get_subscription_count():
            if time.monotonic() > end:
                return f"no reasoner listens on {self._prompts.topic_name}"
            time.sleep(0.05)
        message = Prompt(id=uuid4().hex, text=words, source="console")
        message.header.stamp = self.get_clock().now().to_msg()
        self._prompts.publish(message)
        return ""

    def stop(self) -> str:
        """Latch the emergency stop; return why that failed, or an empty text."""
        return self._stop()

    def stop_all(self) -> str:
        """Latch the emergency stop of every deployment; return which did not confirm, and why, or an empty text."""
        return self._stop_all()

    def release(self) -> str:
        """Reset the emergency stop; return why that failed, or an empty text."""
        return self._release()

    def record(self, order: str, outcome: str = "") -> str:
        """Send a command to the recorder; return why it failed, or an empty text."""
        return self._recorder(order, outcome)

    # -- what the deployment says --------------------------------------------------------------------

    def _on_mission(self, message: Any) -> None:
        self._deployment.mission = mission_of(message)

    def _on_step(self, message: Any) -> None:
        self._deployment.add_step(step_of(message))

    def _on_skill(self, message: Any) -> None:
        skill, known = skill_of(message), self._deployment.skills
        if known.get(skill.name) != skill and (skill.name in known or len(known) < MAX_SKILLS):
            self._deployment.skills = {**known, skill.name: skill}

    def _on_status(self, message: Any) -> None:
        self._deployment.control = control_of(message)

    def _on_progress(self, message: Any) -> None:
        reading = reading_of(message)
        if np.isfinite([reading.stamp_s, reading.progress, reading.success, reading.threshold]).all():
            self._deployment.add_reading(reading)

    def _on_recording(self, message: Any) -> None:
        self._deployment.recording = recording_of(message)

    def _on_estop(self, message: Any) -> None:
        self._deployment.estopped = bool(message.data)

    def _on_diagnostics(self, message: Any) -> None:
        views = [diagnostic_of(status) for status in message.status if not self._of_another(status.name)]
        self._deployment.add_diagnostics({view.name: view for view in views})

    def _on_log(self, message: Any) -> None:
        if self._of_another(message.name):
            return
        clock = time.strftime("%H:%M:%S")
        text = plain_line(message.msg, 1000)
        self._deployment.log.add(int(message.level), clock, plain_line(message.name, 80), text)

    def _on_description(self, message: Any) -> None:
        try:
            self._deployment.robot = read_urdf(message.data)
        except ContractError as error:
            self.get_logger().error(str(error))

    def _on_frames(self, message: Any) -> None:
        self._deployment.frames.update(poses_of(message, frame_prefix(self.get_namespace())))

    # -- what the graph shows ------------------------------------------------------------------------

    def _find_others(self) -> None:
        own = self.get_namespace()
        self._deployment.others = tuple(name for name in deployments_in(self) if name != own)

    def _of_another(self, named: str) -> bool:
        """Return whether a name on a topic of the whole domain belongs to another deployment."""
        return is_of_another(named, self.get_namespace(), self._deployment.others)

    def _look(self) -> None:
        """Update the other deployments, and subscribe to the cameras' images while a page is open."""
        self._find_others()
        if not self._deployment.watchers:
            for subscription in self._images.values():
                self.destroy_subscription(subscription)
            self._images.clear()
            return
        for name, topic in self._camera_topics().items():
            before = self._images.get(name)
            if before is not None and before.topic_name != topic:  # what is wanted was found later
                self.destroy_subscription(self._images.pop(name))
            if name in self._images or len(self._images) >= MAX_CAMERAS:
                continue
            known = self._deployment.cameras
            feed = known.get(name) or CameraFeed(name)
            self._deployment.cameras = {**known, name: feed}
            packed = topic.endswith(COMPRESSED_SUFFIX)
            on_picture = partial(self._on_compressed if packed else self._on_image, feed)
            kind: Any = CompressedImage if packed else Image
            self._images[name] = self.create_subscription(kind, topic, on_picture, NEWEST)

    def _camera_topics(self) -> dict[str, str]:
        """Return camera -> topic of its images, of those that somebody publishes."""
        found: dict[str, str] = {}
        for topic, kinds in self.get_topic_names_and_types():
            match = self._pattern.fullmatch(topic)
            if match is None or not is_ros_name(topic):
                continue  # anybody may announce a name that cannot be subscribed to
            packed = bool(match[2])
            is_there = (PACKED if packed else RAW) in kinds and self.count_publishers(topic) > 0
            if is_there and (packed == self.compressed or match[1] not in found):
                found[match[1]] = topic
        return found

    def _on_compressed(self, feed: CameraFeed, message: Any) -> None:
        picture = decode_compressed(message.data)
        if picture is None:
            feed.fault = f"{len(message.data)} bytes are no picture"
        else:
            feed.add(picture, ENCODING)

    def _on_image(self, feed: CameraFeed, message: Any) -> None:
        width, height, encoding = int(message.width), int(message.height), str(message.encoding)
        try:
            picture = packed_pixels(feed.name, width, height, encoding, int(message.step), message.data)
            feed.add(picture, encoding)
        except ContractError as error:
            feed.fault = plain_line(str(error))
