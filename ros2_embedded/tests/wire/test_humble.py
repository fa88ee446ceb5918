"""`ROS_DISTRO=humble`: a constant in the place of type hashes, and messages as they were then."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

TALK = """
import json, rclpy, rclpy.executors
from controller_manager_msgs.msg import ControllerState
from controller_manager_msgs.srv import ListControllers, SwitchController
from sensor_msgs.msg import Range

def answer(request, response):
    response.controller = [ControllerState(name="arm", state="active")]
    return response

rclpy.init()
arm, asking = rclpy.create_node("arm"), rclpy.create_node("asking")
heard = []
arm.create_service(ListControllers, "list_controllers", answer)
publisher = arm.create_publisher(Range, "range", 10)
asking.create_subscription(Range, "range", heard.append, 10)
client = asking.create_client(ListControllers, "list_controllers")
assert client.wait_for_service(60.0)
executor = rclpy.executors.SingleThreadedExecutor()
executor.add_node(arm)
executor.add_node(asking)
future = client.call_async(ListControllers.Request())
executor.spin_until_future_complete(future, 60.0)
while not heard:
    publisher.publish(Range(range=2.5))
    executor.spin_once(0.1)
(info,) = asking.get_publishers_info_by_topic("range")
print(json.dumps({
    "key": publisher._endpoint.key,
    "hash": str(info.topic_type_hash),
    "range": heard[0].range,
    "controllers": [state.name for state in future.result().controller],
    "state": list(ControllerState.get_fields_and_field_types()),
    "switch": list(SwitchController.Request.get_fields_and_field_types()),
}))
rclpy.shutdown()
"""


def test_endpoints_meet_under_the_constant() -> None:
    said = _talk("humble")
    assert said["key"].endswith("/range/sensor_msgs::msg::dds_::Range_/TypeHashNotSupported")
    assert said["hash"] == "INVALID"
    assert (said["range"], said["controllers"]) == (2.5, ["arm"])
    assert _talk("jazzy")["key"].rpartition("/")[2].startswith("RIHS01_")


def test_controllers_are_described_as_they_were_then() -> None:
    humble, jazzy = _talk("humble"), _talk("jazzy")
    newer = {"is_async", "update_rate", "exported_state_interfaces"}
    assert [name for name in jazzy["state"] if name not in newer] == humble["state"]
    assert newer < set(jazzy["state"])
    assert {"start_controllers", "stop_controllers", "start_asap"} == set(humble["switch"]) - set(
        jazzy["switch"]
    )


def _talk(distro: str) -> dict[str, Any]:
    variables = {**os.environ, "ROS_DISTRO": distro}
    command = [sys.executable, "-c", TALK]
    said = subprocess.run(
        command, env=variables, text=True, check=True, capture_output=True, timeout=120
    ).stdout
    found: dict[str, Any] = json.loads(said)
    return found
