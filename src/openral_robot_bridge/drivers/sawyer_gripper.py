"""Sawyer's electric gripper behind its IO topics, which acknowledge a command by its time stamp.

The force is set only if the gripper has a signal for it; that of Intera 5.3 has none, and grips with up to 10 N.
"""

from __future__ import annotations

import json
import math
import threading
import time
from typing import Any

from openral_robot_bridge import intera
from openral_robot_bridge.ros1.node import Ros1Node

FIRST_S = 1.0
"""[s] timeout of the gripper's first state."""
AGAIN_S = 0.1
"""[s] after which a command without acknowledgement is sent again (intera_io, io_interface.py)."""
ACKNOWLEDGED_S = 2.0
"""[s] without acknowledgement after which a command counts as lost."""
CALIBRATED_S = 5.0
"""[s] timeout of a calibration."""
LEAST_SPEED, MOST_SPEED = 0.15, 0.3
"""[m/s] range of the speed of the fingers (intera_interface, Gripper)."""
MOST_FORCE = 10.0
"""[N] largest holding force (intera_interface, Gripper)."""


class SawyerGripper:
    """Latest width and latest command of one gripper; only `is_there` and `close` wait."""

    def __init__(self, node: Ros1Node) -> None:
        """Subscribe to the gripper's state, and advertise its commands.

        Raises:
            Ros1Error: the master does not answer.
        """
        self._node = node
        self._signals: dict[str, Any] = {}
        self.width_m = 0.0
        """[m] between the fingers, the last that was told as a finite number."""
        self._acknowledged: set[tuple[int, int]] = set()
        self._wanted: tuple[float, float, float] | None = None
        self._change, self._closed = threading.Event(), threading.Event()
        self._commands = node.publish(intera.GRIPPER_COMMAND, "intera_core_msgs/IOComponentCommand")
        node.subscribe(intera.GRIPPER_STATE, "intera_core_msgs/IODeviceStatus", self._on_state)
        self._thread = threading.Thread(target=self._run, name="gripper", daemon=True)
        self._thread.start()

    def is_there(self) -> bool:
        """Wait for the gripper's first state, and return whether it came."""
        due = time.monotonic() + FIRST_S
        while not self._signals and time.monotonic() < due:
            time.sleep(0.01)
        return bool(self._signals)

    def grip(self, width_m: float, speed_m_s: float, force_n: float) -> None:
        """Move the fingers to a width [m]; this replaces a command that has not begun."""
        self._wanted = (width_m, speed_m_s, force_n)
        self._change.set()

    def close(self) -> None:
        """End the thread; the gripper stays as it is."""
        self._closed.set()
        self._change.set()
        self._thread.join(ACKNOWLEDGED_S)

    def _run(self) -> None:
        # A fault of the gripper does not stop the arm; it shows as a width that does not change.
        while not self._closed.is_set():
            self._change.wait()
            self._change.clear()
            wanted = self._wanted
            if wanted is None or self._closed.is_set():
                continue
            width, speed, force = wanted
            if not self._signals.get("is_calibrated"):
                self._set("calibrate", "bool", True)
                self._wait(lambda: bool(self._signals.get("is_calibrated")), CALIBRATED_S)
            if "holding_force_n" in self._signals:
                self._set("holding_force_n", "float", min(force, MOST_FORCE))
            self._set("speed_mps", "float", min(max(speed, LEAST_SPEED), MOST_SPEED))
            self._set("position_m", "float", min(max(width, 0.0), intera.GRIPPER_STROKE_M))

    def _set(self, signal: str, kind: str, value: bool | float) -> None:
        """Set a signal: send the command until it is acknowledged, a newer one waits, or it counts as lost."""
        types = self._node.types
        stamp = types.time(time.time())
        arguments = {"signals": {signal: {"format": {"type": kind}, "data": [value]}}}
        message = types.make(
            "intera_core_msgs/IOComponentCommand", time=stamp, op="set", args=json.dumps(arguments)
        )
        due = time.monotonic() + ACKNOWLEDGED_S
        while time.monotonic() < due and not (self._closed.is_set() or self._change.is_set()):
            self._commands.publish(message)
            if self._wait(lambda: (stamp.sec, stamp.nanosec) in self._acknowledged, AGAIN_S):
                return

    def _wait(self, what: Any, patience_s: float) -> bool:
        due = time.monotonic() + patience_s
        while not what():
            if time.monotonic() > due or self._closed.wait(0.01):
                return False
        return True

    def _on_state(self, message: Any) -> None:
        signals = {}
        for signal in message.signals:
            try:
                data = json.loads(signal.data)
            except ValueError:
                continue
            signals[signal.name] = data[0] if isinstance(data, list) and data else None
        width = signals.get("position_response_m")
        if isinstance(width, (int, float)) and math.isfinite(width):
            self.width_m = float(width)
        self._signals = signals
        self._acknowledged = {(stamp.sec, stamp.nanosec) for stamp in message.commands}
