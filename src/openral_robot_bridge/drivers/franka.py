"""Driver of a Franka arm by `franky-control`, which runs libfranka's 1 kHz loop in C++ with joint impedance control.

As the arm is commanded by torques, targets may come at any rate and with any delay: at an old target the arm stays
compliantly. Position control by libfranka would need a new position in every millisecond.
"""

from __future__ import annotations

import contextlib
import os
import time
from importlib.metadata import version
from typing import Any

import numpy as np

from openral_control.safety.joint_limits import Vector
from openral_core.errors import InstallationError
from openral_core.hardware.arm_mode import ArmMode
from openral_core.scene_arm import SafetyLimits
from openral_robot_bridge.driver import ArmError, ArmInfo, ArmState
from openral_robot_bridge.drivers.arm_in_use import refuse_held
from openral_robot_bridge.drivers.fci_versions import FR3_VERSION, refused
from openral_robot_bridge.drivers.hand_proxy import HandProcess, hand_at
from openral_robot_bridge.drivers.libfranka_faults import (
    HINT,
    RECOVERY_S,
    fault_names,
    hand_lost,
    words_of,
)
from openral_robot_bridge.urdf_limits import read_limits

STIFFNESS = (600.0, 600.0, 600.0, 600.0, 250.0, 150.0, 50.0)
"""[Nm/rad] stiffness of the joints, from libfranka's example joint_impedance_control."""
DAMPING = (76.0, 79.0, 62.0, 52.0, 12.0, 9.0, 5.0)
"""[Nm s/rad] damping of the joints.

It is critical, 2 sqrt(k m), with the greatest inertia m that the model of the FR3 with its hand has about each joint
within 0.5 rad of the start pose of the tabletop scene."""
DAMPED_RAD_S = 0.1
"""[rad/s] speed of the fastest joint up to which damping alone ends a motion.

The deceleration grows with the speed: by 83 rad/s² for each rad/s (damping over inertia) for the joint with the least
inertia in the model."""
BRAKE_RAMP_S = 0.05
"""[s] in which a stop fades from the last torque to pure damping, to limit the jerk."""
STILL_RAD_S = 0.01
"""[rad/s] speed below which every joint counts as at rest after a stop."""


class FrankaDriver:
    """One FR3 of system image 5.9 or newer, with the Franka Hand if there is one."""

    stops_below_rad_s = DAMPED_RAD_S

    def __init__(self, address: str, joint_names: tuple[str, ...], safety: SafetyLimits) -> None:
        """Prepare the driver without a connection.

        Args:
            address: of the arm's controller.
            joint_names: of robot.yaml.
            safety: limits with the collision thresholds.

        Raises:
            InstallationError: franky-control is not installed.
        """
        try:
            import franky
        except ImportError as error:
            what = "the driver 'franka' needs franky-control (Linux, x86_64)"
            raise InstallationError(f"{what}; run: pip install 'openral[franka]'") from error
        self._franky: Any = franky
        self._address, self._names = address, joint_names
        self._collision_nm, self._collision_n = safety.collision_torque_nm, safety.collision_force_n
        self._robot: Any = None
        self._hand: HandProcess | None = None
        self._tracker: Any = None

    def connect(self) -> ArmInfo:
        """Connect to arm and hand, set the collision thresholds, and read limits and versions.

        Raises:
            ArmError: the arm cannot be connected to, with libfranka's message; or another program is connected to it;
                or it has a hand that does not answer.
        """
        franky = self._franky
        refuse_held(self._address)
        self._hand = hand_at(self._address, "franky")
        try:
            # The default requires a real-time kernel, which is not needed to read states; late commands cause a reflex.
            self._robot = franky.Robot(self._address, realtime_config=franky.RealtimeConfig.Ignore)
            self._robot.set_collision_behavior(self._collision_nm, self._collision_n)
        except (
            Exception
        ) as error:  # franky has exceptions of its own, which all mean that the arm cannot be used
            self.close()
            client = f"franky-control {version('franky-control')}"
            raise refused(self._address, words_of(error), client, FR3_VERSION) from error
        finally:
            _keep_priority_to_this_thread()
        width = 0.0 if self._hand is None else self._hand.max_width_m()
        limits = read_limits(self._robot.model_urdf, self._names)
        return ArmInfo(
            limits, width, versions={"franky-control": version("franky-control"), "FCI": str(FR3_VERSION)}
        )

    def read(self) -> ArmState:
        """Return the newest state of libfranka's loop, or of the arm if no loop runs.

        Raises:
            ArmError: the connection is lost.
        """
        try:
            state = self._robot.state
        except Exception as error:  # as above
            raise ArmError(f"the arm at {self._address} does not answer: {words_of(error)}") from error
        modes = self._franky.RobotMode
        mode = {
            modes.Idle: ArmMode.IDLE,
            modes.Move: ArmMode.MOVING,
            modes.Guiding: ArmMode.GUIDING,
            modes.UserStopped: ArmMode.USER_STOPPED,
            modes.Reflex: ArmMode.REFLEX,
            modes.AutomaticErrorRecovery: ArmMode.REFLEX,  # it is not over yet
        }.get(state.robot_mode, ArmMode.FAULT)
        faults = fault_names(state.current_errors) or (
            fault_names(state.last_motion_errors) if mode is ArmMode.REFLEX else ()
        )
        if self._hand is not None and self._hand.lost:
            faults = (*faults, hand_lost(self._hand.lost))
            mode = ArmMode.FAULT if mode in (ArmMode.IDLE, ArmMode.MOVING) else mode
        return ArmState(
            time.monotonic(),
            np.array(state.q, dtype=np.float64),
            np.array(state.dq, dtype=np.float64),
            np.array(state.tau_ext_hat_filtered, dtype=np.float64),
            self._hand.width_m if self._hand is not None else 0.0,
            mode,
            faults,
            float(state.control_command_success_rate) if mode is ArmMode.MOVING else 1.0,
        )

    def follow(self, positions: Vector, velocities: Vector) -> None:
        """Set the next target of the impedance controller; the first call starts it.

        Raises:
            ArmError: the arm ended the motion by itself, with libfranka's message.
        """
        if self._tracker is None:
            try:
                self._tracker = self._franky.JointImpedanceTracker(
                    self._robot, stiffness=np.array(STIFFNESS), damping=np.array(DAMPING)
                )
            except Exception as error:  # as above
                raise ArmError(f"the arm cannot be moved: {words_of(error)}") from error
        if not self._robot.is_in_control:
            raise ArmError(f"the arm ended its motion: {self._end() or 'no reason was given'}")
        self._tracker.set_target(positions, velocities)

    def stop(self) -> None:
        """Bring the arm to rest, and let its own controller hold it."""
        if self._tracker is not None and self._robot.is_in_control:
            with contextlib.suppress(Exception):  # the arm may have ended the motion first
                self._tracker.stop(self._brake())
            self._tracker = None
        else:
            self._end()

    def recover(self) -> None:
        """Recover from a reflex, and reconnect a lost hand.

        Raises:
            ArmError: the arm does not recover, or the hand stays lost.
        """
        self._end()
        if self._hand is not None and self._hand.lost:
            self._hand.connect_anew()
        try:
            self._robot.recover_from_errors()
        except Exception as error:  # as above
            raise ArmError(f"the arm does not recover ({words_of(error)}); {HINT}") from error
        due = time.monotonic() + RECOVERY_S
        while (state := self.read()).mode is not ArmMode.IDLE:
            if time.monotonic() > due:
                why = ", ".join([state.mode.value, *state.faults])
                raise ArmError(f"the arm does not recover ({why}); {HINT}")

    def grip(self, width_m: float, speed_m_s: float, force_n: float) -> None:
        """Begin to open the hand, or to close it until it holds an object."""
        if self._hand is not None:
            self._hand.grip(width_m, speed_m_s, force_n)

    def close(self) -> None:
        """Bring the arm to rest and disconnect."""
        if self._robot is not None:
            self.stop()
        if self._hand is not None:
            self._hand.close()
        self._robot = self._hand = self._tracker = None

    def _brake(self) -> Any:
        return self._franky.TorqueStopMotion(
            damping=np.array(DAMPING), ramp_duration=BRAKE_RAMP_S, velocity_epsilon=STILL_RAD_S
        )

    def _end(self) -> str:
        """Discard a motion that is over, and return libfranka's message about its end; empty: there is none."""
        if self._tracker is None:
            return ""
        self._tracker = None
        try:
            self._robot.join_motion()
        except Exception as error:  # noqa: BLE001  any exception is the reason to return
            return words_of(error)
        return ""


def _keep_priority_to_this_thread() -> None:
    """Prevent threads and processes from inheriting the priority that libfranka gives to the thread that connects.

    It is that of the control loop, SCHED_FIFO 99, which would let them preempt everything else on the machine.
    """
    policy, priority = os.sched_getscheduler(0), os.sched_getparam(0)
    os.sched_setscheduler(0, policy | os.SCHED_RESET_ON_FORK, priority)
