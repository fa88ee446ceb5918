"""The Sawyer's driver and twin under Debian's real roscore, watched by rospy, also while roscore is gone."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator

import numpy as np
import pytest
from leading import STILL, lead, wait_for, wait_until
from real_ros1 import Roscore
from sawyer_arm import OFFSET, connect
from twin_process import TwinProcess

from openral_core.hardware.arm_mode import ArmMode
from openral_robot_bridge.intera import DEFINITIONS
from openral_robot_bridge.process import ArmProcess
from openral_robot_bridge.ros1.messages import MessageTypes

WATCHER = """
import json, sys, rospy
from genpy.dynamic import generate_dynamic
from sensor_msgs.msg import JointState
name = "intera_core_msgs/JointCommand"
kind = generate_dynamic(name, sys.stdin.readline().encode().decode("unicode_escape"))[name]
seen = {"commands": 0, "modes": []}
def command(m):
    seen["commands"] += 1
    seen["modes"] = sorted({m.mode, *seen["modes"]})
def state(m):
    seen["joints"] = dict(zip(m.name, m.position))
rospy.init_node("watcher")
rospy.Subscriber("/robot/limb/right/joint_command", kind, command)
rospy.Subscriber("/robot/joint_states", JointState, state)
print("watching")
for line in sys.stdin:
    print(json.dumps(seen))
"""


@pytest.fixture(scope="module")
def twin(roscore: Roscore) -> Iterator[TwinProcess]:
    made = TwinProcess("sawyer_tabletop", roscore.address)
    yield made
    made.close()


@pytest.fixture
def arm(twin: TwinProcess) -> Iterator[ArmProcess]:
    made = connect(twin.address)
    made.recover()
    yield made
    made.close()


def test_rospy_sees_the_motion_and_its_commands(roscore: Roscore, arm: ArmProcess) -> None:
    watcher = roscore.rospy(WATCHER)
    try:
        definition, _ = MessageTypes(DEFINITIONS).definition("intera_core_msgs/JointCommand")
        ask(watcher, definition.encode("unicode_escape").decode())
        target = arm.read().positions + OFFSET
        lead(arm, OFFSET)
        seen = json.loads(ask(watcher, ""))
        while seen["commands"] == 0 or not np.allclose(joints(seen), target, atol=0.02):
            lead(arm, target - arm.read().positions, 0.2)
            seen = json.loads(ask(watcher, ""))
        assert seen["modes"] == [2]
    finally:
        watcher.kill()
        watcher.communicate()


def ask(watcher: subprocess.Popen[str], line: str) -> str:
    assert watcher.stdin is not None
    assert watcher.stdout is not None
    watcher.stdin.write(line + "\n")
    watcher.stdin.flush()
    return watcher.stdout.readline()


def joints(seen: dict[str, dict[str, float]]) -> list[float]:
    return [seen.get("joints", {}).get(f"right_j{number}", np.inf) for number in range(7)]


@pytest.mark.long
def test_a_motion_goes_on_without_the_master_and_others_find_the_arm_when_it_is_back(
    roscore: Roscore, twin: TwinProcess, arm: ArmProcess
) -> None:
    lead(arm, STILL)
    roscore.stop()
    wait_for(
        arm, lambda s: s.mode is ArmMode.MOVING or bool(arm.recover())
    )  # a busy machine holds up states, too
    target = arm.read().positions - OFFSET
    state = lead(arm, -OFFSET)
    assert np.abs(state.positions - target).max() < 0.01
    arm.halt()
    wait_for(arm, lambda s: s.mode is ArmMode.IDLE)
    wait_until(twin, "idle")
    roscore.start()
    arm.close()
    again = connect(twin.address)  # waits for an arm that registers again
    try:
        target = again.read().positions + 0.05
        assert np.abs(lead(again, np.full(7, 0.05)).positions - target).max() < 0.01
    finally:
        again.close()
