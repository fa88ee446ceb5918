"""The subscription to the simulator's own positions, for deployments that use them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from rclpy.lifecycle import LifecycleNode
from tf2_msgs.msg import TFMessage

from openral_core.errors import ContractError
from openral_core.image_message import parse_stamp
from openral_core.message_field_checks import MAX_NAME, text_field
from openral_perception.geometry import NotLocatedError
from openral_perception.ros.intake import COMPLAINT_PERIOD_S, WORLD, world_frame
from openral_perception.truth import TruePositions

MAX_THINGS = 512
"""Most objects in one message."""


class TruthIntake:
    """Keeps the newest message of `sim/positions`; `newest` may be called from any thread."""

    def __init__(self, node: LifecycleNode, now_s: Callable[[], float], group: Any) -> None:
        """Subscribe; `now_s` returns the node's clock [s]."""
        self._node, self._now_s = node, now_s
        self._world = world_frame(node)
        self._lock = threading.Lock()
        self._newest: TruePositions | None = None
        self._arrived_s = 0.0
        self._subscription = node.create_subscription(
            TFMessage, "sim/positions", self._on_positions, 1, callback_group=group
        )

    def newest(self) -> TruePositions:
        """Return the newest positions, with their age. Raises NotLocatedError: none have arrived."""
        with self._lock:
            found, arrived_s = self._newest, self._arrived_s
        if found is None:
            raise NotLocatedError(
                "no positions of the simulator have come yet; start its bridge with sim_positions"
            )
        age_s = max(0.0, self._now_s() - found.stamp_s, time.monotonic() - arrived_s)
        return TruePositions(found.stamp_s, age_s, found.positions)

    def close(self) -> None:
        """Stop the subscription."""
        self._node.destroy_subscription(self._subscription)

    def _on_positions(self, message: TFMessage) -> None:
        try:
            read = self._read(message)
        except ContractError as error:
            self._node.get_logger().warning(
                f"dropped the simulator's positions: {error}", throttle_duration_sec=COMPLAINT_PERIOD_S
            )
            return
        with self._lock:
            self._newest, self._arrived_s = read, time.monotonic()

    def _read(self, message: TFMessage) -> TruePositions:
        frames = message.transforms
        if not 0 < len(frames) <= MAX_THINGS:
            raise ContractError(f"{len(frames)} frames; send 1 to {MAX_THINGS}")
        positions, stamps = {}, []
        for frame in frames:
            child = text_field("child_frame_id", frame.child_frame_id, MAX_NAME)
            name = child.removeprefix(self._world.removesuffix(WORLD))
            shift = frame.transform.translation
            position = np.array([shift.x, shift.y, shift.z])
            if frame.header.frame_id != self._world or not np.isfinite(position).all():
                raise ContractError(f"{name} is no finite position in the frame {self._world}")
            positions[name] = position
            stamp = frame.header.stamp
            stamps.append(parse_stamp("simulator", stamp.sec, stamp.nanosec, self._now_s()))
        return TruePositions(max(stamps), 0.0, positions)
