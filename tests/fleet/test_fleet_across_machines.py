"""A robot on another machine, behind a long, thin cable, and the commands of an operator.

The machines are network namespaces; the cable has 150 ± 50 ms in each direction, loses one packet in a hundred and
carries a megabyte a second.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "ros2_embedded" / "tests" / "security"))
from network_machines import OPERATOR, ROBOT, Heard, Machines, opened

CUT_S = 30.0
PATIENT = ("--handshake-s", "6")
"""A busy machine adds to the five round trips in which a link opens."""
LISTENER = """
import json
import rclpy
from rclpy.qos import DurabilityPolicy, QoSProfile
from std_msgs.msg import Bool
rclpy.init()
node = rclpy.create_node("listener", namespace="/openral")
latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
node.create_subscription(Bool, "estop_state", lambda message: print(json.dumps(message.data), flush=True), latched)
rclpy.spin(node)
"""
OPENRAL = "import sys; from openral_cli.app import main; sys.exit(main())"
ROS2 = "import sys; from ros2cli.cli import main; sys.exit(main())"


@pytest.fixture(scope="module")
def machines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machines]:
    with opened(tmp_path_factory.mktemp("fleet"), thin={}) as found:
        yield found


@pytest.fixture
def robot(machines: Machines, fake_scene: Path) -> None:
    machines.router("hub", "hub")
    machines.router(ROBOT, "robot", "--join", *PATIENT)
    machines.router(OPERATOR, "operator", "--join", *PATIENT)
    bridge = ("openral_sim_bridge.ros.bridge_node", "--ros-args", "-p", f"scene:={fake_scene}")
    machines.run(ROBOT, "-m", *bridge, OMP_NUM_THREADS="1")


def told(machines: Machines, machine: int, program: str, *words: str) -> tuple[int, str]:
    """Run a command on a machine; return its exit code and what it said."""
    process = machines.run(machine, "-c", program, *words)
    output, _ = process.communicate(timeout=120)
    return process.returncode, output


@pytest.mark.long
@pytest.mark.timeout(400)
def test_an_operator_stops_a_robot_and_knows_it_again_after_a_cut(machines: Machines, robot: None) -> None:
    heard = Heard(machines.run(OPERATOR, "-c", LISTENER))
    heard.until(lambda stopped: stopped is False)
    code, said = told(machines, OPERATOR, OPENRAL, "fleet", "stop", "/openral", "--search", "20")
    assert code == 0, said
    heard.until(lambda stopped: stopped is True)
    machines.cable(plugged=False)
    heard.forget()
    reset = ("service", "call", "/openral/estop_reset", "std_srvs/srv/Trigger")
    code, said = told(machines, ROBOT, ROS2, *reset)
    assert code == 0, said
    assert "success=True" in said
    assert heard.during(CUT_S) == []
    machines.cable(plugged=True)
    heard.until(lambda stopped: stopped is False)
    code, said = told(machines, OPERATOR, OPENRAL, "fleet", "stop", "/openral", "--search", "20")
    assert code == 0, said
    heard.until(lambda stopped: stopped is True)
