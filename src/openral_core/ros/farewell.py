"""The last words of a node, which a middleware drops with the publisher unless somebody waits for them to arrive."""

from __future__ import annotations

import contextlib
from typing import Any

from rclpy._rclpy_pybind11 import RCLError
from rclpy.duration import Duration
from rclpy.publisher import Publisher

FAREWELL_S = 0.5
"""[s] How long the last words of a node may take to every listener."""


def wait_until_heard(publisher: Publisher[Any]) -> None:
    """Return when every listener has what was published, or after FAREWELL_S.

    A middleware without acknowledgements, as rmw_zenoh_cpp, sends at once and is not waited for.
    """
    with contextlib.suppress(RCLError):
        publisher.wait_for_all_acked(Duration(seconds=FAREWELL_S))
