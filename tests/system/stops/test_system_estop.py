"""Stop and reset by two clients at once, again and again, while the world is reset and goals run: all nodes agree."""

from __future__ import annotations

import random
import threading
import time
from itertools import pairwise

import pytest
import rclpy
from openral.srv import ResetScene
from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import QoSDurabilityPolicy, QoSProfile
from std_msgs.msg import Bool
from std_srvs.srv import Trigger
from system_stack import PATIENCE_S

FEW, MANY, CALLS = 2, 20, 25
"""Rounds of the quick and of the long half, and the calls that each of two clients makes in a round."""
LATCHED = QoSProfile(depth=1, durability=QoSDurabilityPolicy.TRANSIENT_LOCAL)


class Client:
    """A node of its own that presses the two buttons, and keeps what `/openral/estop_state` says."""

    def __init__(self, domain: int, name: str) -> None:
        self._context = rclpy.Context()
        self._context.init(domain_id=domain)
        self._node = rclpy.create_node(name, context=self._context)
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self._node)
        self.heard: list[bool] = []
        self._node.create_subscription(Bool, "/openral/estop_state", self._on_state, LATCHED)
        self._buttons = {
            True: self._node.create_client(Trigger, "/openral/estop"),
            False: self._node.create_client(Trigger, "/openral/estop_reset"),
        }
        self._worlds = self._node.create_client(ResetScene, "/openral/sim/reset")
        for client in (*self._buttons.values(), self._worlds):
            self.until(client.service_is_ready)

    def until(self, condition) -> None:
        end = time.monotonic() + PATIENCE_S
        while not condition():
            assert time.monotonic() < end, "waited in vain"
            self._executor.spin_once(timeout_sec=0.005)

    def press(self, stop: bool) -> None:
        answer = self._buttons[stop].call_async(Trigger.Request())
        self.until(answer.done)
        assert answer.result().success

    def reset_world(self) -> None:
        answer = self._worlds.call_async(ResetScene.Request(seed=1001))
        self.until(answer.done)
        assert answer.result().ok

    def close(self) -> None:
        self._executor.shutdown()
        self._node.destroy_node()
        self._context.try_shutdown()

    def _on_state(self, message) -> None:
        self.heard.append(bool(message.data))


def refuses(operator) -> bool:
    """Whether the policy node holds the stop for latched: it says so when it is asked."""
    result = operator.run_skill("good", "open the drawer", 0.05)()
    return result.check == "estop"


@pytest.mark.parametrize("rounds", [FEW, pytest.param(MANY, marks=pytest.mark.long)])
def test_all_nodes_agree_whatever_the_order(faulty, rounds):
    stack, operator = faulty
    one, two, world = (Client(stack.domain, name) for name in ("one", "two", "world"))
    order = random.Random(3)
    worst_s = {"status": 0.0, "topic": 0.0, "policy": 0.0}

    def hurry(client: Client, seed: int) -> None:
        own = random.Random(seed)
        for _ in range(CALLS):
            client.press(own.random() < 0.5)

    for number in range(rounds):
        threads = [
            threading.Thread(target=hurry, args=(one, 2 * number)),
            threading.Thread(target=hurry, args=(two, 2 * number + 1)),
            threading.Thread(target=world.reset_world),
        ]
        for thread in threads:
            thread.start()
        operator.send_goal("good", "open the drawer", 0.05)
        for thread in threads:
            thread.join()
        stopped = order.random() < 0.5
        one.press(stopped)
        began = time.monotonic()
        two.until(lambda: two.heard and two.heard[-1] == stopped)  # noqa: B023
        worst_s["topic"] = max(worst_s["topic"], time.monotonic() - began)
        operator.until(lambda: operator.status[-1].estopped == stopped, "the bridge's status")  # noqa: B023
        worst_s["status"] = max(worst_s["status"], time.monotonic() - began)
        asked = time.monotonic()
        while refuses(operator) != stopped:
            asked = time.monotonic()
            assert asked < began + PATIENCE_S, "the policy node is of another opinion"
        worst_s["policy"] = max(worst_s["policy"], asked - began)
        counted = len(operator.status)
        operator.until(lambda: len(operator.status) > counted + 3, "more statuses")  # noqa: B023
        assert {status.estopped for status in operator.status[counted:]} == {stopped}, (
            "an older status came later"
        )
        assert refuses(operator) == stopped
    told = {name: f"{1e3 * seconds:.0f} ms" for name, seconds in worst_s.items()}
    print(f"after {2 * rounds * CALLS} calls of two clients the slowest to agree: {told}")
    one.press(False)
    operator.until(lambda: not operator.status[-1].estopped, "the release")
    assert not refuses(operator)
    for client in (one, two, world):
        client.close()
    assert all(later.executed >= earlier.executed for earlier, later in pairwise(operator.status))
