"""A deployment on an arm of ros2_control that a policy moves by what free-running cameras show."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rclpy
import yaml
from diagnostic_msgs.msg import DiagnosticArray
from openral.msg import ActionChunk
from sensor_msgs.msg import Image, JointState
from std_msgs.msg import Empty
from system_operator import Operator
from system_stack import BIN, Stack, domain_id

sys.path.append(str(Path(__file__).parents[2] / "robot_bridge"))
from arm_scenes import read_arm_scene, write_arm_scene

DEADLINE = 3
EMPTY_SAFETENSORS = (2).to_bytes(8, "little") + b"{}"
SKILL = {
    "name": "tests/rskill-looking-arm",
    "version": "0.1.0",
    "license": "apache-2.0",
    "kind": "vla",
    "model_family": "fake",
    "description": "Goes to the side, whatever it sees",
    "embodiment_tags": ["franka_panda"],
    "sensors_required": [
        {"modality": "rgb", "vla_feature_key": f"observation.images.camera{number}"} for number in (1, 2)
    ],
    "actuators_required": [
        {"kind": "cartesian_delta", "control_mode_semantics": {"mode": "delta", "reference_frame": "base"}}
    ],
    "weights_uri": "local://model.safetensors",
    "latency_budget": {"per_chunk_ms": 50.0, "max_execution_s": 20.0},
    "chunk_size": 8,
    "n_action_steps": 2,
    "state_contract": {"layout": "ee_pos3_rot6_gripper1", "dim": 10},
    "action_contract": {"dim": 7, "representation": "delta_ee_6d_plus_gripper", "step_m": 0.02},
    "actions": ["push"],
    "objects": ["cube"],
    "examples": [{"task": "push-cube", "phrases": ["push the cube"]}],
    "evaluated_tasks": ["fr3_ros2_control"],
    "policy_extras": {"action": [0.0, 0.1, 0.0, 0.0, 0.0, 0.0, -1.0]},
}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def write_scene(folder: Path, domain: int, port: int) -> Path:
    """The FR3 behind ros2_control, with the twin's cameras and a skill that looks through them."""
    skill = folder / "looking-arm"
    skill.mkdir(parents=True)
    (skill / "rskill.yaml").write_text(yaml.safe_dump(SKILL))
    (skill / "model.safetensors").write_bytes(EMPTY_SAFETENSORS)
    content = read_arm_scene("fr3_ros2_control")
    content["scene"]["observation_height"] = content["scene"]["observation_width"] = 96
    content["skills"], content["motions"] = [str(skill)], content["motions"][:1]
    arm = content["arm"]
    arm["address"], arm["safety"]["slow_start_s"] = str(domain), 0.5
    arm["ros2_control"]["states_timeout_s"] = 1.0
    arm["cameras"] = {name: {"device": f"http://127.0.0.1:{port}/{name}.mjpg"} for name in ("front", "wrist")}
    return write_arm_scene(folder, content)


class LookingDeployment:
    """The launch, the twin with its cameras, and an operator who holds to run."""

    def __init__(self, stacks: ExitStack, folder: Path) -> None:
        arms = stacks.enter_context(domain_id())
        port = free_port()
        scene = write_scene(folder, arms, port)
        self.twin = subprocess.Popen(
            [str(BIN / "openral"), "robot", "twin", str(scene), "--cameras-port", str(port)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
        )
        stacks.callback(self.twin.communicate)
        stacks.callback(self.twin.kill)
        assert self._line().startswith("ready")
        words = [f"scene:={scene}", f"run_dir:={folder / 'run'}", "exit_when_done:=false"]
        self.stack = stacks.enter_context(
            Stack(folder, "ros2", "launch", "openral", "deploy_robot.launch.py", *words)
        )
        self.operator = stacks.enter_context(Operator(self.stack))
        self.chunks: list[Any] = []
        self.states: list[Any] = []
        self.pictures: dict[str, list[Any]] = {"front": [], "wrist": []}
        self.health: list[Any] = []
        subscribe = self.operator.subscribe
        subscribe(ActionChunk, "/openral/action_chunk", self.chunks.append, 100)
        subscribe(JointState, "/joint_states", self.states.append, 100)
        for name, seen in self.pictures.items():
            subscribe(Image, f"/openral/cameras/{name}/image_raw", seen.append, 10)
        subscribe(DiagnosticArray, "/diagnostics", self._on_diagnostics, 10)
        self._over = threading.Event()
        context = rclpy.Context()
        context.init(domain_id=self.stack.domain)
        node = rclpy.create_node("hand_on_the_button", context=context)
        beats = node.create_publisher(Empty, "/openral/hold_to_run", 1)

        def beat() -> None:
            while not self._over.wait(0.05):
                beats.publish(Empty())
            node.destroy_node()
            context.try_shutdown()

        thread = threading.Thread(target=beat, daemon=True)
        thread.start()
        stacks.callback(thread.join)
        stacks.callback(self._over.set)
        self.operator.until_active("looking_arm", "motion_home")

    def tell(self, line: str) -> str:
        assert self.twin.stdin is not None
        self.twin.stdin.write(line + "\n")
        return self._line()

    def hand(self) -> np.ndarray:
        self.operator.until(lambda: self.operator.positions, "the hand's pose")
        return np.array(self.operator.positions[-1])

    def _line(self) -> str:
        assert self.twin.stdout is not None
        return self.twin.stdout.readline()

    def _on_diagnostics(self, message: Any) -> None:
        self.health += [status for status in message.status if "camera_bridge" in status.name]


pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def deployment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LookingDeployment]:
    with ExitStack() as stacks:
        yield LookingDeployment(stacks, tmp_path_factory.mktemp("looking"))


def nanoseconds(message: Any) -> int:
    return int(message.header.stamp.sec) * 10**9 + int(message.header.stamp.nanosec)


def test_a_policy_that_looks_moves_the_arm(deployment: LookingDeployment) -> None:
    pictures = deployment.pictures.values()
    deployment.operator.until(lambda: all(len(seen) > 10 for seen in pictures), "pictures")
    before = deployment.hand()
    result = deployment.operator.run_skill("looking_arm", "push the cube", 3.0)()
    assert (result.outcome, result.check) == (DEADLINE, "deadline"), result.message
    moved = deployment.hand() - before
    assert moved[1] > 0.02
    assert abs(moved[1]) > 2 * max(abs(moved[0]), abs(moved[2]))
    answered = {nanoseconds(chunk) for chunk in deployment.chunks if chunk.horizon}
    assert len(answered) > 5
    assert answered <= {nanoseconds(state) for state in deployment.states}
    assert {status.name for status in deployment.health} == {
        f"openral/camera_bridge: {name}" for name in ("front", "wrist")
    }
    assert "rejected=0" in deployment.tell("status")


def test_a_controller_that_dies_ends_the_goal_and_recover_brings_the_arm_back(
    deployment: LookingDeployment,
) -> None:
    deployment.tell("kill controller")
    operator = deployment.operator
    operator.until(lambda: "inactive" in operator.status[-1].stopped_by, "the fault")
    still = deployment.hand()
    result = operator.run_skill("looking_arm", "push the cube", 1.0)()
    assert result.check == "deadline"
    assert np.abs(deployment.hand() - still).max() < 0.005
    operator.press("/openral/recover")
    operator.until(lambda: not operator.status[-1].stopped_by, "the end of the fault")
    result = operator.run_skill("looking_arm", "push the cube", 3.0)()
    assert result.check == "deadline", (result.message, operator.status[-1].stopped_by)
    assert deployment.hand()[1] - still[1] > 0.005
