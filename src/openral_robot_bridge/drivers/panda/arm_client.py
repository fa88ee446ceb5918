"""Body of the process of a Panda's libfranka client: `python -m … FILE`, with settings and `recover` on its input.

panda-python holds the interpreter lock while libfranka waits for the arm's next state, so that no other Python code can
run in this process. Trajectory generation (Ruckig) and the bridge's requests run in the driver's process.
"""

from __future__ import annotations

import gc
import json
import select
import signal
import sys
import time
from typing import Any

import numpy as np

from openral_robot_bridge.drivers.libfranka_faults import fault_names, words_of
from openral_robot_bridge.drivers.panda.setpoint_filter import SetpointFilter
from openral_robot_bridge.drivers.shared_block import JOINTS, SharedBlock

GIVEN_UP_S = 0.2
"""[s] without a target after which the motion ends; the joints have come to rest by then."""
LOOK_S = 0.004
"""[s] between two readings of an arm without a motion."""
NO_FILTER_HZ = 1000.0
"""[Hz] cut-off frequency that disables libfranka's low-pass filter, which would add lag to setpoints already smooth."""


class _ArmClient:
    """Moves one arm to the targets in the shared memory, and publishes its state there."""

    def __init__(self, robot: Any, library: Any, block: SharedBlock, settings: dict[str, Any]) -> None:
        self._robot, self._library, self._block = robot, library, block
        limits = [np.array(settings[name]) for name in ("velocity", "acceleration", "jerk")]
        self._tracker = SetpointFilter(*limits)
        self._ahead_s = float(settings["ahead_s"])
        self._done = int(block.target()["motion"])
        self._cycles = self._missed = 0

    def serve(self) -> None:
        """Publish the arm's state, and move it when a motion is wanted, until the input is closed.

        Raises:
            RuntimeError: the connection is lost.
        """
        while True:
            self.look()
            target = self._block.target()
            if target["is_wanted"] and target["motion"] != self._done:
                self._move(int(target["motion"]))
            elif select.select([sys.stdin], [], [], LOOK_S)[0]:
                if not sys.stdin.readline():
                    return
                self._recover()

    def look(self) -> None:
        """Read and publish the state of an arm without a motion."""
        state = self._robot.read_once()
        faults = fault_names(state.current_errors)
        if state.robot_mode == self._library.RobotMode.kReflex and not faults:
            faults = fault_names(state.last_motion_errors)
        mode = int(state.robot_mode)
        self._publish(state, mode=mode, faults=" ".join(faults).encode(), success_rate=1.0)

    def _publish(self, state: Any, **fields: Any) -> None:
        self._block.say(q=state.q, dq=state.dq, external=state.tau_ext_hat_filtered, **fields)

    def _recover(self) -> None:
        try:
            self._robot.automatic_error_recovery()
            self.look()  # the last state may be seconds old, as after brakes that opened
            _say({})
        except RuntimeError as error:
            _say({"error": words_of(error)})

    def _move(self, number: int) -> None:
        """Move the arm until the motion is no longer wanted or the arm ends it, and publish the reason of its end."""
        self._number, self._begun = number, False
        why = "it was stopped"
        try:
            mode = self._library.ControllerMode.kJointImpedance
            self._robot.control_joint_position(self._next, mode, True, NO_FILTER_HZ)
            if time.monotonic() - float(self._block.target()["stamp"]) > GIVEN_UP_S:
                why = f"nobody led it for {GIVEN_UP_S:g} s"
        except RuntimeError as error:
            why = words_of(error)
        self._done = number
        self.look()
        self._block.say(ended=number, why=why.encode()[:400])

    def _next(self, state: Any, passed: Any) -> Any:
        """Return the joint positions (7,) [rad] of the next cycle (1 ms); called by libfranka.

        Args:
            state: libfranka's RobotState.
            passed: time since the last call; more than one cycle if commands were missed.
        """
        cycles = int(passed.to_msec())
        if not self._begun:
            self._tracker.begin(state.q_d)
            self._begun, cycles = True, 1
            self._block.say(begun=self._number)
        self._cycles += 1
        self._missed += max(0, cycles - 1)
        target = self._block.target()
        age = time.monotonic() - float(target["stamp"])
        led = bool(target["is_wanted"]) and age <= self._ahead_s
        for cycle in range(max(1, cycles)):  # with the cycles whose commands the arm missed
            if led:
                ahead = age - (cycles - 1 - cycle) * 1e-3
                positions = self._tracker.follow(target["q"] + target["dq"] * ahead, target["dq"])
            else:
                positions = self._tracker.brake()
        move = int(self._library.RobotMode.kMove)
        rate = state.control_command_success_rate
        self._publish(
            state, mode=move, faults=b"", success_rate=rate, cycles=self._cycles, missed=self._missed
        )
        command = self._library.JointPositions(positions.tolist())
        over = not target["is_wanted"] or age > GIVEN_UP_S
        command.motion_finished = over and self._tracker.is_still
        return command


def _say(answer: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


def main() -> None:
    """Connect to the arm, report its version or an error, and serve the driver."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the driver's process ends this one
    gc.disable()  # a collection may take longer than the arm waits for a command
    from panda_py import libfranka

    settings = json.loads(sys.stdin.readline())
    try:
        robot = libfranka.Robot(settings["address"], libfranka.RealtimeConfig.kIgnore)
        torques, forces = [settings["collision_nm"]] * JOINTS, [settings["collision_n"]] * 6
        robot.set_collision_behavior(torques, torques, forces, forces)
        client = _ArmClient(robot, libfranka, SharedBlock(int(sys.argv[1])), settings)
        client.look()
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # likewise; a motion is not cut off
        _say({"version": robot.server_version()})
        client.serve()
    except RuntimeError as error:
        _say({"error": words_of(error)})


if __name__ == "__main__":
    main()
