"""Driver of a Panda of firmware 4.x by `panda-python`, whose libfranka 0.9.2 uses version 5 of the FCI.

The arm's own joint impedance controller takes a position in each millisecond. The client's process (`arm_client.py`)
interpolates these positions from the targets of this driver.
"""

from __future__ import annotations

import contextlib
import importlib.util
import time
from importlib.metadata import version

import numpy as np

from openral_control.safety.joint_limits import ArmLimits, Vector
from openral_core.errors import InstallationError
from openral_core.hardware.arm_mode import ArmMode
from openral_core.scene_arm import SafetyLimits
from openral_robot_bridge.driver import ArmError, ArmInfo, ArmState
from openral_robot_bridge.drivers.arm_in_use import refuse_held
from openral_robot_bridge.drivers.client_process import ClientProcess
from openral_robot_bridge.drivers.fci_versions import PANDA_VERSION, refused
from openral_robot_bridge.drivers.hand_proxy import HandProcess, hand_at
from openral_robot_bridge.drivers.libfranka_faults import HINT, RECOVERY_S, hand_lost

CONNECT_S = 20.0
"""[s] timeout of the process's imports with the arm's handshake, and of recovery."""
BEGIN_S = 1.0
"""[s] timeout of the start of a motion."""
STOP_S = 2.0
"""[s] timeout of the end of a motion; from its maximum speeds the arm brakes within 0.45 s."""
ASK_S = 1e-3
"""[s] between two checks of a condition that is waited for."""
STALE_S = 1.5
"""[s] age from which on a state is a lost connection; libfranka's own timeout for a state is 1 s."""
AHEAD_CYCLES = 3.0
"""Periods of the stream for which joints continue at a target's velocity if no newer target comes; then they brake."""
_MODES = {
    1: ArmMode.IDLE,
    2: ArmMode.MOVING,
    3: ArmMode.GUIDING,
    4: ArmMode.REFLEX,
    5: ArmMode.USER_STOPPED,
    6: ArmMode.REFLEX,
}
"""Modes by the value of libfranka's `RobotMode`; in the last one the arm is still recovering from a reflex."""


class PandaDriver:
    """One Panda, with the Franka Hand if there is one."""

    stops_below_rad_s = np.inf
    """inf, as `stop` brakes from any speed, with the arm's maximum acceleration and jerk."""

    def __init__(self, address: str, limits: ArmLimits, period_s: float, safety: SafetyLimits) -> None:
        """Prepare the driver without a connection.

        Args:
            address: of the arm's controller.
            limits: of robot.yaml.
            period_s: [s] between two targets.
            safety: limits with the collision thresholds.

        Raises:
            InstallationError: panda-python is not installed.
        """
        if importlib.util.find_spec("panda_py") is None:
            what = "the driver 'panda' needs panda-python (Linux, x86_64)"
            raise InstallationError(f"{what}; run: pip install 'openral[panda]'")
        self._address, self._limits, self._period_s = address, limits, period_s
        self._safety = safety
        self._arm: ClientProcess | None = None
        self._hand: HandProcess | None = None
        self._motion = 0
        self._moving = False

    def connect(self) -> ArmInfo:
        """Connect to arm and hand, and set the collision thresholds; the arm reports no limits.

        Raises:
            ArmError: the arm cannot be connected to, with libfranka's message; or another program is connected to it;
                or it has a hand that does not answer.
        """
        package = __package__
        refuse_held(self._address)
        client, limits = f"panda-python {version('panda-python')}", self._limits
        settings = {
            "address": self._address,
            "ahead_s": AHEAD_CYCLES * self._period_s,
            "collision_nm": self._safety.collision_torque_nm,
            "collision_n": self._safety.collision_force_n,
            "velocity": limits.velocity.tolist(),
            "acceleration": limits.acceleration.tolist(),
            "jerk": limits.jerk.tolist(),
        }
        self._arm = ClientProcess(f"{package}.arm_client", settings)
        self._hand = hand_at(self._address, "panda_py")
        try:
            spoken = self._arm.answer(CONNECT_S)["version"]
        except ArmError as error:
            raise refused(self._address, str(error), client, PANDA_VERSION) from error
        width = 0.0 if self._hand is None else self._hand.max_width_m()
        free = np.full(len(limits.names), np.inf)
        says_nothing = ArmLimits(limits.names, -free, free, free, free, free, np.zeros_like(free), free)
        versions = {"panda-python": client.rpartition(" ")[2], "FCI": str(spoken)}
        return ArmInfo(says_nothing, width, versions=versions)

    def read(self) -> ArmState:
        """Return the newest state that the client's process has published.

        Raises:
            ArmError: the connection is lost.
        """
        state = self._seen()
        mode = _MODES.get(int(state["mode"]), ArmMode.FAULT)
        width = 0.0 if self._hand is None else self._hand.width_m
        faults = tuple(bytes(state["faults"]).decode().split())
        if self._hand is not None and self._hand.lost:
            faults = (*faults, hand_lost(self._hand.lost))
            mode = ArmMode.FAULT if mode in (ArmMode.IDLE, ArmMode.MOVING) else mode
        return ArmState(
            float(state["stamp"]),
            state["q"].copy(),
            state["dq"].copy(),
            state["external"].copy(),
            width,
            mode,
            faults,
            float(state["success_rate"]),
        )

    def follow(self, positions: Vector, velocities: Vector) -> None:
        """Set the next target of the client's process; the first call begins a motion, and waits for its start.

        Raises:
            ArmError: the arm ended the motion by itself, with libfranka's message; or the motion does not begin.
        """
        block = self._connected().block
        begins = not self._moving
        self._motion += begins
        self._moving, due = True, time.monotonic() + BEGIN_S
        while True:
            block.tell(self._motion, True, positions, velocities)
            state = self._seen()
            if int(state["ended"]) == self._motion:
                self._moving = False
                raise ArmError(f"the arm ended its motion: {bytes(state['why']).decode()}")
            if not begins or int(state["begun"]) == self._motion:
                return
            if time.monotonic() > due:
                self.stop()
                raise ArmError(f"the arm did not begin to move within {BEGIN_S:g} s")
            time.sleep(ASK_S)

    def stop(self) -> None:
        """Bring the arm to rest within its limits, and let its own controller hold it."""
        if not self._moving or self._arm is None:
            return
        block, due = self._arm.block, time.monotonic() + STOP_S
        still = np.zeros(len(self._limits.names))
        block.tell(self._motion, False, still, still)
        with contextlib.suppress(ArmError):  # an arm that does not answer is held by its own controller
            while int(self._seen()["ended"]) != self._motion and time.monotonic() < due:
                time.sleep(ASK_S)
        self._moving = False

    def recover(self) -> None:
        """Recover from a reflex, and reconnect a lost hand.

        Raises:
            ArmError: the arm does not recover, or the hand stays lost.
        """
        self.stop()
        if self._hand is not None and self._hand.lost:
            self._hand.connect_anew()
        arm = self._connected()
        arm.tell("recover")
        try:
            arm.answer(CONNECT_S)
        except ArmError as error:
            raise ArmError(f"the arm does not recover ({error}); {HINT}") from error
        due = time.monotonic() + RECOVERY_S
        while (state := self.read()).mode is not ArmMode.IDLE:
            if time.monotonic() > due:
                why = ", ".join([state.mode.value, *state.faults])
                raise ArmError(f"the arm does not recover ({why}); {HINT}")
            time.sleep(ASK_S)

    def grip(self, width_m: float, speed_m_s: float, force_n: float) -> None:
        """Begin to open the hand, or to close it until it holds an object."""
        if self._hand is not None:
            self._hand.grip(width_m, speed_m_s, force_n)

    def close(self) -> None:
        """Bring the arm to rest and disconnect."""
        self.stop()
        for process in (self._arm, self._hand):
            if process is not None:
                process.close()
        self._arm = self._hand = None

    def _connected(self) -> ClientProcess:
        if self._arm is None:
            raise ArmError(f"the arm at {self._address} is not connected")
        return self._arm

    def _seen(self) -> np.void:
        """Return the state that the client's process has published.

        Raises:
            ArmError: the process has ended, or the connection is lost.
        """
        arm = self._connected()
        if not arm.is_alive:
            try:
                arm.answer(0.0)
                why = "its client has ended"
            except ArmError as error:
                why = str(error)
            raise ArmError(f"the arm at {self._address} does not answer: {why}; start again")
        state = arm.block.state()
        age = time.monotonic() - float(state["stamp"])
        if age > STALE_S:
            raise ArmError(f"the arm at {self._address} says nothing for {age:.1f} s; start again")
        return state
