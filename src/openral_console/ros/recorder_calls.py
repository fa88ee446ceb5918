"""The services of the recorder, as far as an operator uses them."""

from __future__ import annotations

from openral.srv import MarkEpisode
from rclpy.node import Node
from std_srvs.srv import Trigger

from openral_console.ros.service_call import ServiceCall

ORDERS = ("start", "stop", "discard", "highlight")
ANSWER_S = 30.0
"""[s] that the recorder has for its answer, since it may have to write queued data first."""
WHO = "recorder"


class RecorderCalls:
    """Waits for the answers, beside the executor's thread."""

    def __init__(self, node: Node) -> None:
        """Prepare clients of a node that another thread spins."""
        self._orders = {
            name: ServiceCall(node, Trigger, f"recorder/{name}", WHO, ANSWER_S) for name in ORDERS
        }
        self._mark = ServiceCall(node, MarkEpisode, "recorder/mark", WHO, ANSWER_S)

    def __call__(self, order: str, outcome: str = "") -> str:
        """Send one of `ORDERS`, or mark the episode's outcome; return why it failed, or an empty text."""
        return self._mark(outcome=outcome) if order == "mark" else self._orders[order]()
