"""Twin of the electric gripper behind its IO topics: commands set signals, and are acknowledged by time stamp."""

from __future__ import annotations

import json
import math
from collections import deque
from typing import Any

from openral_robot_bridge import intera
from openral_robot_bridge.ros1.messages import MessageTypes
from openral_robot_bridge.twins.arm import TwinArm

REMEMBERED = 16
"""Number of latest commands whose time stamps are in the state."""
REST_CYCLES, REST_M = 5, 1e-4
"""Number of cycles without motion after which the fingers count as at rest, and [m] motion that counts as none."""
FORCE_N = 10.0
"""[N] force of the fingers at an object."""
_KINDS = {bool: "bool", float: "float"}


class TwinGripper:
    """Signals and fingers of one gripper; `cycle` must be called at 20 Hz of the arm's time."""

    def __init__(self, arm: TwinArm, types: MessageTypes) -> None:
        """Begin uncalibrated, as after power-on."""
        self._arm, self._types = arm, types
        self._scale = arm.gripper.max_opening_m / intera.GRIPPER_STROKE_M
        self._set: dict[str, bool | float] = {"position_m": 0.0, "speed_mps": 0.15, "calibrate": False}
        self._calibrated, self._rested, self._seen = False, 0, self.width
        self._commands: deque[tuple[Any, str]] = deque(maxlen=REMEMBERED)

    @property
    def width(self) -> float:
        """[m] between the fingers in the gripper's own scale, 0 (closed) to GRIPPER_STROKE_M."""
        return self._arm.width / self._scale

    @property
    def moving(self) -> bool:
        """Whether the fingers move."""
        return self._rested < REST_CYCLES

    def command(self, message: Any) -> None:
        """Execute an IOComponentCommand, unless one with the same time stamp was executed."""
        if any(message.time == stamp for stamp, _ in self._commands):
            return
        self._commands.append((message.time, self._execute(message.op, message.args)))

    def cycle(self, stamp_s: float) -> Any:
        """Advance by one cycle, and return the state, an IODeviceStatus with stamp `stamp_s` [s]."""
        self._rested = self._rested + 1 if abs(self.width - self._seen) < REST_M else 0
        self._seen = self.width
        if self._set["calibrate"] and not self.moving:
            self._calibrated, self._set["calibrate"] = True, False
        ready = self._types.make("intera_core_msgs/IOStatus", tag="ready", id="io/ready", detail="")
        make = self._types.make
        return make(
            "intera_core_msgs/IODeviceStatus",
            time=self._types.time(stamp_s),
            device=make("intera_core_msgs/IOComponentStatus", name="right_gripper", status=ready),
            ports=[],
            signals=[
                make(
                    "intera_core_msgs/IODataStatus",
                    name=name,
                    format=json.dumps({"type": _KINDS[type(value)], "role": "output"}),
                    data=json.dumps([value]),
                    status=ready,
                )
                for name, value in self._signals().items()
            ],
            commands=[stamp for stamp, _ in self._commands],
            responses=[response for _, response in self._commands],
        )

    def _signals(self) -> dict[str, bool | float]:
        apart = abs(self.width - float(self._set["position_m"])) > 1e-3
        return {
            **self._set,
            "position_response_m": self.width,
            "force_response_n": FORCE_N if apart and not self.moving else 0.0,
            "is_calibrated": self._calibrated,
            "is_moving": self.moving,
            "is_gripping": apart and not self.moving and self._calibrated,
            "has_error": False,
        }

    def _execute(self, op: str, arguments: str) -> str:
        """Execute a command, and return its response in the state."""
        try:
            signals = json.loads(arguments)["signals"] if op == "set" else {}
            values = {name: _value(name, signal["data"][0]) for name, signal in signals.items()}
        except (ValueError, TypeError, KeyError, IndexError, AttributeError):
            return "the arguments are no signals in JSON"
        if op != "set" or not values.keys() <= self._set.keys():
            return f"unknown: {op} {', '.join(values.keys() - self._set.keys())}"
        self._set |= values
        self._rested = 0
        if self._set["calibrate"]:
            self._move(intera.GRIPPER_STROKE_M)
        elif "position_m" in values and self._calibrated:
            self._move(float(self._set["position_m"]))
        return "ok"

    def _move(self, width: float) -> None:
        self._arm.move_fingers(
            width * self._scale, float(self._set["speed_mps"]) * self._scale, 2.0 * FORCE_N
        )


def _value(name: str, value: Any) -> bool | float:
    """Return the value of a signal.

    Raises:
        ValueError: it is no finite number.
        TypeError: it is no number.
    """
    if name == "calibrate":
        return bool(value)
    if not math.isfinite(number := float(value)):
        raise ValueError(f"{name}: {number}")
    return number
