"""The arm's side of the FCI: answers requests, sends a state each millisecond, and takes the command in reply."""

from __future__ import annotations

import time
from xml.etree import ElementTree

import mujoco
import numpy as np

from openral_robot_bridge.twins.fci.connection import Connection, FciRequest
from openral_robot_bridge.twins.fci.controller import ArmController
from openral_robot_bridge.twins.fci.wire import (
    ARM_HEADER,
    ARM_PORT,
    ARM_REPLY,
    CYCLE_S,
    DEVIATIONS,
    ArmReply,
    Command,
    Controller,
    FciFault,
    FciProtocol,
    Mode,
    MoveReply,
)

_HAND_IN_FLANGE = np.array(
    [[0.7071068, 0.7071068, 0, 0], [-0.7071068, 0.7071068, 0, 0], [0, 0, 1, 0.1034], [0, 0, 0, 1]]
)
"""(4, 4) pose [m] of the point between the fingertips in the flange's frame, as Franka sets it for its own hand."""
HAND_MASS_KG = 0.73
_COLLISION_TORQUES = slice(21, 28)
"""Elements of SetCollisionBehavior's payload with the upper nominal torque thresholds."""
_NUMBERS = {Command.SET_COLLISION_BEHAVIOR: 52, Command.SET_LOAD: 13}
"""Count of the float64 numbers in the payload of the commands whose payload is read."""
_NOT_THERE = (None, Command.CONNECT, Command.MOVE, Command.GET_CARTESIAN_LIMIT, Command.LOAD_MODEL_LIBRARY)
"""Commands that are answered with NOT_POSSIBLE: unknown or malformed ones, virtual walls, Franka's model library."""


class ArmServer:
    """One arm behind TCP port 1337; `cycle` must be called repeatedly from one thread, and paces itself."""

    def __init__(
        self, host: str, controller: ArmController, protocol: FciProtocol, urdf: str, patience_s: float
    ) -> None:
        """Listen.

        Args:
            host: address of this machine.
            controller: of the arm.
            protocol: version of the FCI.
            urdf: answer to GetRobotModel.
            patience_s: [s] least wall time that a cycle waits for its command; a real arm waits for one cycle.

        Raises:
            OSError: the port is taken, or the host is not of this machine.
        """
        self._connection = Connection(host, ARM_PORT, protocol.version, ARM_HEADER, ARM_REPLY)
        self._controller, self._protocol, self._urdf = controller, protocol, urdf.encode()
        self._move_id = 0
        self._patience_s = patience_s
        self._state = np.zeros(1, protocol.state)
        self._fill_constants()
        self._due = time.monotonic()
        self.lose = 0
        """Number of the next commands to discard."""
        self.cycles = self.answered = 0
        """Number of cycles since the start, and of those with a command of the client."""
        self.missed = 0
        """Number of cycles without a command, in motions whose first command has come."""

    def cycle(self) -> None:
        """Run one cycle of 1 ms; the arm's time never runs ahead of wall time, and delays are not caught up."""
        for request in self._connection.requests():
            self._serve(request)
        controller = self._controller
        if controller.motion is not None and not self._connection.connected:
            controller.stop()
        self._fill()
        self._connection.send_state(self._state.tobytes())
        now = time.monotonic()
        self._due = max(self._due + CYCLE_S, now + CYCLE_S / 2)
        command = self._await_command()
        self.cycles += 1
        if controller.motion is not None and controller.motion.heard:
            self.missed += command is None
        self.answered += command is not None
        self._finish(controller.cycle(command))
        time.sleep(max(0.0, self._due - time.monotonic()))

    def press_user_stop(self, pressed: bool) -> None:
        """Press or release the user stop beside the arm."""
        self._finish(self._controller.user_stop(pressed))

    def fail(self, fault: FciFault) -> None:
        """Put the arm into a reflex with a fault."""
        self._finish(self._controller.fail(fault))

    def close(self) -> None:
        """Close the port."""
        self._connection.close()

    def _await_command(self) -> np.void | None:
        """Return the command that answers the state just sent; None: it did not come in time, or was discarded."""
        due, layout = max(self._due, time.monotonic() + self._patience_s), self._protocol.command
        while self._controller.motion is not None:
            data = self._connection.receive_datagram(layout.itemsize, due - time.monotonic())
            if data is None:
                return None
            if not data:
                continue
            command: np.void = np.frombuffer(data, layout)[0]
            if command["message_id"] == self._state["message_id"][0]:
                if self.lose > 0:
                    self.lose -= 1
                    return None
                return command
        return None

    def _serve(self, request: FciRequest) -> None:
        controller, move = self._controller, self._protocol.move
        known = self._protocol.commands
        command = known[request.command] if request.command < len(known) else None
        if command is Command.MOVE and len(request.payload) == move.size:
            mode, generator, *rest = move.unpack(request.payload)
            by_itself = len(rest) > DEVIATIONS and rest[DEVIATIONS]
            begun = MoveReply.NOT_POSSIBLE if by_itself else controller.start(mode, generator)
            if begun is MoveReply.MOTION_STARTED:
                self._move_id = request.id
            self._answer_move(request.id, begun)
            return
        reply, text = ArmReply.SUCCESS, b""
        if command in _NUMBERS and len(request.payload) != 8 * _NUMBERS[command]:
            reply = ArmReply.INVALID_ARGUMENT
        elif command is Command.STOP_MOVE:
            self._finish(controller.stop())
        elif command is Command.AUTOMATIC_ERROR_RECOVERY:
            reply = ArmReply.SUCCESS if controller.recover() else ArmReply.NOT_POSSIBLE
        elif command is Command.GET_ROBOT_MODEL:
            text = self._urdf
        elif command is Command.SET_COLLISION_BEHAVIOR:
            controller.thresholds = np.frombuffer(request.payload, "<f8")[_COLLISION_TORQUES].copy()
        elif command is Command.SET_LOAD:
            load = np.frombuffer(request.payload, "<f8")
            self._state["m_load"], self._state["F_x_Cload"] = load[0], load[1:4]
            self._state["I_load"] = load[4:13]
        elif command in _NOT_THERE:
            reply = ArmReply.NOT_POSSIBLE
        self._connection.answer(request.command, request.id, reply, text)

    def _finish(self, reply: MoveReply | None) -> None:
        """Send the final answer to a Move, if there is one."""
        if reply is not None:
            self._fill()
            self._connection.send_state(self._state.tobytes())
            self._answer_move(self._move_id, reply)

    def _answer_move(self, id_: int, reply: MoveReply) -> None:
        number = self._protocol.commands.index(Command.MOVE)
        self._connection.answer(number, id_, self._protocol.number_of(reply))

    def _fill_constants(self) -> None:
        state = self._state
        eye = np.eye(4).T.ravel()
        state["F_T_EE"] = state["F_T_NE"] = _HAND_IN_FLANGE.T.ravel()
        state["EE_T_K"] = state["NE_T_EE"] = eye
        state["m_ee"] = HAND_MASS_KG
        state["F_x_Cee"] = (-0.01, 0.0, 0.03)
        state["I_ee"] = np.diag([0.001, 0.0025, 0.0017]).ravel()

    def _fill(self) -> None:
        """Update the state, with a new message id."""
        controller, state = self._controller, self._state
        arm = controller.arm
        state["message_id"] += 1
        position, turn = arm.hand
        pose = np.zeros(9)
        mujoco.mju_quat2Mat(pose, turn)
        matrix = np.eye(4)
        matrix[:3, :3], matrix[:3, 3] = pose.reshape(3, 3), position
        state["O_T_EE"] = state["O_T_EE_d"] = state["O_T_EE_c"] = matrix.T.ravel()
        state["q"] = state["theta"] = arm.positions
        state["dq"] = state["dtheta"] = arm.velocities
        state["q_d"], state["dq_d"], state["ddq_d"] = (
            controller.position,
            controller.velocity,
            controller.acceleration,
        )
        state["tau_J_d"] = controller.torque
        state["tau_J"] = controller.torque + arm.carried
        state["tau_ext_hat_filtered"] = controller.external
        state["elbow"] = state["elbow_d"] = (arm.positions[2], -1.0 if arm.positions[3] < 0 else 1.0)
        motion = controller.motion
        state["motion_generator_mode"] = motion.generator + 1 if motion is not None else 0
        state["controller_mode"] = motion.controller if motion is not None else Controller.OTHER
        state["robot_mode"] = controller.mode
        for name, faults in (("errors", controller.faults), ("reflex_reason", controller.reflex)):
            state[name] = False
            state[name][0, list(faults)] = True
        state["control_command_success_rate"] = controller.success_rate

    @property
    def mode(self) -> Mode:
        """Present mode of the arm."""
        return self._controller.mode


def own_urdf(urdf: str, prefix: str) -> str:
    """Return a robot's URDF as its arm sends it: up to the flange, and without a prefix of the names.

    libfranka uses the flange by the name `link8`, without a check that it exists (robot_model.cpp).
    """
    root = ElementTree.fromstring(urdf)
    kept = {f"{prefix}link{number}" for number in range(9)}
    for element in list(root):
        child = element.find("child")
        name = element.get("name", "") if child is None else child.get("link", "")
        if name not in kept:
            root.remove(element)
    for element in root.iter():
        for key in ("name", "link"):
            if key in element.attrib:
                element.attrib[key] = element.attrib[key].removeprefix(prefix)
    return ElementTree.tostring(root, encoding="unicode")
