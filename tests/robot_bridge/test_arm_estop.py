"""The emergency stop of a real arm outlives the deployment in which it was called."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import rclpy
from arm_scenes import read_arm_scene, write_arm_scene
from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import DurabilityPolicy, QoSProfile
from std_msgs.msg import Bool
from std_srvs.srv import Trigger
from warm_processes import run_module

LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
PATIENCE_S = 90.0


@pytest.fixture
def deployed(tmp_path: Path) -> Callable[[str], object]:
    """Return a function that runs the bridge of an arm, in a run of its own, for the duration of a block."""
    content = read_arm_scene("fr3_tabletop")
    content["arm"]["driver"] = "fake"
    scene = write_arm_scene(tmp_path, content)
    environment = {**os.environ, "XDG_STATE_HOME": str(tmp_path / "state"), "OMP_NUM_THREADS": "1"}

    @contextmanager
    def run(name: str, namespace: str = "/openral") -> Iterator[None]:
        words = ("-p", f"scene:={scene}", "-p", f"run_dir:={tmp_path / name}", "-r", f"__ns:={namespace}")
        module = "openral_robot_bridge.ros.bridge_node"
        process = run_module(module, "--ros-args", *words, environment=environment)
        try:
            yield
        finally:
            process.terminate()
            process.wait()

    return run


@contextmanager
def operator(namespace: str = "/openral") -> Iterator[Callable[..., bool]]:
    """Yield a function that calls a service, if one is named, and returns whether the stop is latched then."""
    with rclpy.init(context=(context := rclpy.Context())):
        node = rclpy.create_node("operator", context=context)
        executor = SingleThreadedExecutor(context=context)
        executor.add_node(node)
        said: list[bool] = []
        node.create_subscription(
            Bool, f"{namespace}/estop_state", lambda state: said.append(state.data), LATCHED
        )

        def until(condition: Callable[[], object]) -> None:
            end = time.monotonic() + PATIENCE_S
            while not condition():
                assert time.monotonic() < end
                executor.spin_once(timeout_sec=0.1)

        def press(name: str = "", latched: bool | None = None) -> bool:
            if name:
                client = node.create_client(Trigger, f"{namespace}/{name}")
                until(client.service_is_ready)
                answer = client.call_async(Trigger.Request())
                until(answer.done)
                assert answer.result().success
            until(lambda: said and latched in (None, said[-1]))
            return said[-1]

        yield press
        node.destroy_node()


def test_it_holds_in_the_next_deployment_until_it_is_reset(deployed) -> None:
    with deployed("first"), operator() as press:
        assert not press()
        assert press("estop", latched=True)
    with deployed("second", "/arm2"), operator("/arm2") as press:
        assert press(), "the arm is the same, and whoever stopped it has not freed it"
        assert not press("estop_reset", latched=False)
    with deployed("third"), operator() as press:
        assert not press()
