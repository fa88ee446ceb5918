"""Replays an episode in a simulator: a bridge of its own, in lockstep, through the interface that policies use."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import rclpy
from domain_coordinator import domain_id
from geometry_msgs.msg import PoseStamped
from openral.msg import ActionChunk, ControlStatus, SkillInfo
from rclpy.clock import Clock
from rclpy.clock_type import ClockType
from rclpy.node import Node
from sensor_msgs.msg import Image, JointState

from openral_core.errors import ControlError, DatasetError
from openral_core.graph.namespaces import DEFAULT_NAMESPACE
from openral_core.guarded_callbacks import GuardedCallbacks
from openral_core.process.wait_or_kill import wait_or_kill
from openral_core.process.with_parent import end_with_parent
from openral_core.robot import load_robot
from openral_core.ros.qos import LATCHED, best_effort
from openral_core.scene import DeployScene, load_scene
from openral_data.recording.outcome import simulator_verdict
from openral_data.replay_deviation import Deviation, ReplayEpisode, deviation

SKILL, KIND = "openral/replay", "replay"
HEARTBEAT_S = 1.0
START_S, ANSWER_S = 60.0, 20.0
"""[s] of wall time for the simulator to start, and for the answer to one chunk."""
TRUTH_S = 5.0
"""[s] for the simulator's record to be written."""


class ReplayNode(GuardedCallbacks, Node):
    """Answers each observation of the bridge with the recorded steps that followed it."""

    def __init__(self, episode: ReplayEpisode, scene: DeployScene) -> None:
        super().__init__(f"replay_{uuid4().hex[:8]}", namespace=DEFAULT_NAMESPACE)
        self._episode, self._representation = episode, scene.action.representation
        joint = load_robot(scene.robot_id).gripper_joint
        self._gripper = joint.name if joint else ""
        self._goal = uuid4().hex
        self._openings: dict[int, float] = {}
        self._poses: dict[int, list[float]] = {}
        self._answered = -1
        self.states: list[list[float]] = []
        """State (8,) of hand and fingers at each observation."""
        self.rejection = ""
        self.over = False
        self._infos = self.create_publisher(SkillInfo, "skills", LATCHED)
        self._chunks = self.create_publisher(ActionChunk, "action_chunk", 10)
        self.create_subscription(JointState, "/joint_states", self._on_joints, 200)
        self.create_subscription(PoseStamped, "ee_pose", self._on_pose, 200)
        self.create_subscription(ControlStatus, "control_status", self._on_status, 10)
        topic = f"cameras/{scene.cameras[0].name}/image_raw"
        self.create_subscription(Image, topic, self._on_image, best_effort(10))
        self.create_timer(HEARTBEAT_S, self._announce, clock=Clock(clock_type=ClockType.STEADY_TIME))
        self._announce()

    def _announce(self) -> None:
        steps = self._episode.actions.shape[1]
        info = SkillInfo(
            name=SKILL,
            slug="replay",
            kind=KIND,
            node=self.get_fully_qualified_name(),
            state="active",
            active=True,
            goal_id=self._goal,
            horizon_s=steps / self._episode.control_hz,
        )
        info.header.stamp = self.get_clock().now().to_msg()
        self._infos.publish(info)

    def _on_joints(self, message: Any) -> None:
        known = dict(zip(message.name, message.position, strict=False))
        self._openings = {self._step(message): known.get(self._gripper, 0.0)}

    def _on_pose(self, message: Any) -> None:
        at, turn = message.pose.position, message.pose.orientation
        opening = next(iter(self._openings.values()), 0.0)
        self._poses = {self._step(message): [at.x, at.y, at.z, turn.x, turn.y, turn.z, turn.w, opening]}

    def _on_status(self, message: Any) -> None:
        if message.rejected_goal == self._goal:
            self.rejection = message.last_rejection

    def _on_image(self, message: Any) -> None:
        """Respond to an observation, which is published repeatedly until it is answered."""
        step = self._step(message)
        pose = self._poses.get(step)
        if self.over or pose is None or step == self._answered:
            return
        steps = self._episode.actions.shape[1]
        if self._answered >= 0 and step < self._answered + steps:
            return
        number = len(self.states)
        self.states.append(pose)
        if number == len(self._episode.actions):
            self.over = True
            return
        self._answered = step
        data = self._episode.actions[number]
        chunk = ActionChunk(
            goal_id=self._goal,
            skill=SKILL,
            instruction=self._episode.sentence,
            representation=self._representation,
            sequence=number,
            horizon=steps,
            dim=data.shape[1],
            dt=1.0 / self._episode.control_hz,
            data=[float(value) for value in data.reshape(-1)],
        )
        chunk.header.stamp = message.header.stamp
        self._chunks.publish(chunk)

    def _step(self, message: Any) -> int:
        stamp = message.header.stamp
        return round((float(stamp.sec) + 1e-9 * float(stamp.nanosec)) * self._episode.control_hz)


def replay(episode: ReplayEpisode) -> Deviation:
    """Send an episode to its scene's simulator, from its initial state, and compare what comes of it.

    Both are in a ROS domain of their own, so that neither meets a deployment that runs.

    Raises:
        ControlError: the simulator did not start, refused a chunk, or did not go on.
        DatasetError: the episode does not say in which initial state it began.
        OpenralError: there is no such scene.
    """
    if episode.seed < 0:  # the bridge would begin in the scene's own state, and nothing would be compared
        raise DatasetError(
            f"episode {episode.number} does not say in which initial state it began (seed is {episode.seed}), as one "
            "of a real arm or of a converted bag; replay one that was recorded beside a simulator"
        )
    scene = load_scene(episode.scene)
    with tempfile.TemporaryDirectory(prefix="openral-replay-") as folder, contextlib.ExitStack() as stack:
        domain = stack.enter_context(domain_id())
        bridge = stack.enter_context(_bridge(episode, folder, domain))
        rclpy.init(domain_id=domain)
        stack.callback(rclpy.try_shutdown)
        node = ReplayNode(episode, scene)
        stack.callback(node.destroy_node)
        _run(node, bridge, Path(folder))
        end_s = node._answered / episode.control_hz + episode.actions.shape[1] / episode.control_hz
        verdict = simulator_verdict(Path(folder) / "truth.npz", 0.0, end_s, episode.task, TRUTH_S)
    states = np.array(node.states[: len(episode.actions)], np.float64)
    return deviation(episode, states, verdict.outcome)


@contextlib.contextmanager
def _bridge(episode: ReplayEpisode, folder: str, domain: int) -> Any:
    """A simulator in lockstep, which ends with the block."""
    parameters = {
        "scene": episode.scene,
        "mode": "lockstep",
        "task": episode.task,
        "init_id": str(episode.seed),
        "run_dir": folder,
    }
    words = [word for name, value in parameters.items() if value for word in ("-p", f"{name}:={value}")]
    log = Path(folder) / "bridge.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "openral_sim_bridge.ros.bridge_node", "--ros-args", *words],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=end_with_parent(),
            env={**os.environ, "ROS_DOMAIN_ID": str(domain)},
        )
    try:
        yield process
    finally:
        process.terminate()
        wait_or_kill(process, 10.0)


def _run(node: ReplayNode, bridge: Any, folder: Path) -> None:
    """Spin until the episode is over."""
    until, seen = time.monotonic() + START_S, 0
    while not node.over:
        rclpy.spin_once(node, timeout_sec=0.1)
        if node.rejection:
            raise ControlError(f"the bridge refused frame {len(node.states) - 1}: {node.rejection}")
        if len(node.states) > seen:
            until, seen = time.monotonic() + ANSWER_S, len(node.states)
        if bridge.poll() is not None or time.monotonic() > until:
            lines = (folder / "bridge.log").read_text(errors="replace").splitlines()[-3:]
            what = "ended" if bridge.poll() is not None else "does not go on"
            raise ControlError(f"the simulator {what} after {seen} frames: {' '.join(lines)}")
