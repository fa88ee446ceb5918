"""The hand's side of the FCI: answers requests when the fingers have come to rest, and sends its state at 40 Hz."""

from __future__ import annotations

import threading
from dataclasses import dataclass

import numpy as np

from openral_robot_bridge.twins.arm import TwinArm
from openral_robot_bridge.twins.fci.connection import Connection, FciRequest
from openral_robot_bridge.twins.fci.wire import (
    GRASP,
    GRIPPER_HEADER,
    GRIPPER_MOVE,
    GRIPPER_PORT,
    GRIPPER_REPLY,
    GRIPPER_STATE,
    GRIPPER_VERSION,
    GripperCommand,
    GripperReply,
)

STATE_S = 0.025
"""[s] wall time between two states; a client ends the connection after 1 s without one, and the arm's time may stand
still for longer."""
REST_CYCLES = 60
"""Number of cycles (1 ms) without motion after which the fingers count as at rest."""
REST_M = 2e-4
"""[m] motion of the fingers up to which they count as not moving."""
MOVE_FORCE_N = 30.0
"""[N] force of the fingers in commands without a force."""
LEAST_HELD_M = 1e-3
"""[m] least width of an object that a grasp detects."""
TEMPERATURE = 30


@dataclass
class _Task:
    request: FciRequest
    width: float
    low: float
    high: float
    """[m] the task succeeds at widths from `low` to `high`."""
    rested: int = 0
    seen: float = -1.0


class GripperServer:
    """The Franka Hand behind TCP port 1338; `cycle` must be called once per millisecond of the arm's time."""

    def __init__(self, host: str, arm: TwinArm) -> None:
        """Listen on `host`.

        Raises:
            OSError: the port is taken, or the host is not of this machine.
        """
        self._connection = Connection(host, GRIPPER_PORT, GRIPPER_VERSION, GRIPPER_HEADER, GRIPPER_REPLY)
        self._arm = arm
        self._task: _Task | None = None
        self._holds = False
        self.silent = False
        """Whether to send and answer nothing, like a hand with a broken cable."""
        self._closed = threading.Event()
        self._telling = threading.Thread(target=self._tell, name="hand", daemon=True)
        self._telling.start()

    def cycle(self) -> None:
        """Run one cycle of 1 ms."""
        if self.silent:
            return
        for request in self._connection.requests():
            self._serve(request)
        self._watch()

    def close(self) -> None:
        """Close the port."""
        self._closed.set()
        self._telling.join()
        self._connection.close()

    def _tell(self) -> None:
        """Send the hand's state until closed."""
        messages = 0
        while not self._closed.wait(STATE_S):
            if not self.silent:
                messages += 1
                fields = (
                    messages,
                    self._arm.width,
                    self._arm.gripper.max_opening_m,
                    self._holds,
                    TEMPERATURE,
                )
                self._connection.send_state(GRIPPER_STATE.pack(*fields))

    def _serve(self, request: FciRequest) -> None:
        command, payload = request.command, request.payload
        self._end(GripperReply.ABORTED)
        if command == GripperCommand.HOMING:
            self._begin(request, self._arm.gripper.max_opening_m, 0.1, MOVE_FORCE_N)
        elif command == GripperCommand.MOVE and len(payload) == GRIPPER_MOVE.size:
            width, speed = GRIPPER_MOVE.unpack(payload)
            self._begin(request, width, speed, MOVE_FORCE_N)
        elif command == GripperCommand.GRASP and len(payload) == GRASP.size:
            width, inner, outer, speed, force = GRASP.unpack(payload)
            self._begin(request, 0.0, speed, force, max(LEAST_HELD_M, width - inner), width + outer)
        else:
            if command == GripperCommand.STOP:
                self._arm.move_fingers(self._arm.width, 0.1, MOVE_FORCE_N)
            known = command == GripperCommand.STOP
            self._answer(request, GripperReply.SUCCESS if known else GripperReply.FAIL)

    def _begin(
        self,
        request: FciRequest,
        width: float,
        speed: float,
        force: float,
        low: float = -np.inf,
        high: float = np.inf,
    ) -> None:
        self._arm.move_fingers(width, speed, force)
        self._task, self._holds = _Task(request, width, low, high), False

    def _watch(self) -> None:
        """End a task whose fingers are at rest, at their target or at an object."""
        task = self._task
        if task is None:
            return
        width = self._arm.width
        moved = abs(width - task.seen) > REST_M
        task.seen, task.rested = (width, 0) if moved else (task.seen, task.rested + 1)
        if task.rested >= REST_CYCLES:
            is_grasp = task.request.command == GripperCommand.GRASP
            fits = task.low <= width <= task.high
            self._holds = is_grasp and fits
            self._end(GripperReply.SUCCESS if fits else GripperReply.UNSUCCESSFUL)

    def _end(self, reply: GripperReply) -> None:
        if self._task is not None:
            self._answer(self._task.request, reply)
        self._task = None

    def _answer(self, request: FciRequest, reply: GripperReply) -> None:
        self._connection.answer(request.command, request.id, reply)
