"""Delivery of a node's last messages, which a middleware may drop with the publisher unless they are waited for."""

from __future__ import annotations

import contextlib
from typing import Any

from rclpy._rclpy_pybind11 import RCLError
from rclpy.duration import Duration
from rclpy.publisher import Publisher

DELIVERY_S = 0.5
"""[s] longest time to wait for the delivery of a node's last message to all subscribers."""


def wait_until_delivered(publisher: Publisher[Any]) -> None:
    """Return when every subscriber has received what was published, or after DELIVERY_S.

    A middleware without acknowledgements, as rmw_zenoh_cpp, sends at once and is not waited for.
    """
    with contextlib.suppress(RCLError):
        publisher.wait_for_all_acked(Duration(seconds=DELIVERY_S))
