"""A Franka arm by `franky-control`, which runs libfranka's 1 kHz loop in C++: joint impedance around a moving target.

The arm is led by torques, so that targets may come at any rate and with any delay: what the arm does with an old one is
to stay there, compliantly. Position streaming by libfranka would have to be exact to the millisecond.
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
from openral_core.scene_arm import SafetyLimits
from openral_robot_bridge.driver import ArmError, ArmInfo, ArmMode, ArmState
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
"""[Nm/rad] of the joints, those of libfranka's example joint_impedance_control."""
DAMPING = (76.0, 79.0, 62.0, 52.0, 12.0, 9.0, 5.0)
"""[Nm s/rad] critical, 2 sqrt(k m), for the greatest inertia m that the model of the FR3 with its hand has about each
joint within 0.5 rad of where the tabletop scene begins."""
DAMPED_RAD_S = 0.1
"""[rad/s] of the quickest joint up to which damping alone ends a motion. Its deceleration grows with the speed: for the
joint of which the model has the least inertia, by 83 rad/s² for each rad/s (DAMPING over the inertia)."""
BRAKE_RAMP_S = 0.05
"""[s] in which a stop goes over from the last torque to mere damping, so that no joint jerks."""
STILL_RAD_S = 0.01
"""[rad/s] below which every joint is at rest after a stop."""


class FrankaDriver:
    """One FR3 of system image 5.9 or newer, with the Franka Hand if there is one."""

    stops_below_rad_s = DAMPED_RAD_S

    def __init__(self, address: str, joint_names: tuple[str, ...], safety: SafetyLimits) -> None:
        """Take the controller's address, the joints' names in robot.yaml, and what the arm may do.

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
            ArmError: libfranka's own words, and what to do; or another program holds the arm. An arm without a hand is
                an arm; one whose hand does not answer is not.
        """
        franky = self._franky
        refuse_held(self._address)
        self._hand = hand_at(self._address, "franky")
        try:
            # The default demands a real-time kernel, which few have who only watch; a late command ends in a reflex.
            self._robot = franky.Robot(self._address, realtime_config=franky.RealtimeConfig.Ignore)
            self._robot.set_collision_behavior(self._collision_nm, self._collision_n)
        except (
            Exception
        ) as error:  # franky raises kinds of its own, which all mean that the arm cannot be used
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
        """Return the newest state of libfranka's loop, or ask the arm where none runs.

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
            modes.AutomaticErrorRecovery: ArmMode.IDLE,
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
        """Give the impedance controller its next target; the first call starts it.

        Raises:
            ArmError: the arm ended the motion by itself, with libfranka's words.
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
        """Come to rest, and let the arm's own controller hold it."""
        if self._tracker is not None and self._robot.is_in_control:
            with contextlib.suppress(Exception):  # it stands as well where the arm ended the motion first
                self._tracker.stop(self._brake())
            self._tracker = None
        else:
            self._end()

    def recover(self) -> None:
        """Leave a reflex, and connect a lost hand anew. Raises ArmError: the arm stays in it, or the hand lost."""
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
        """Begin to open, or to close until something is held."""
        if self._hand is not None:
            self._hand.grip(width_m, speed_m_s, force_n)

    def close(self) -> None:
        """Come to rest and disconnect."""
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
        """Forget a motion that is over; return why it ended, in libfranka's words."""
        if self._tracker is None:
            return ""
        self._tracker = None
        try:
            self._robot.join_motion()
        except Exception as error:  # noqa: BLE001  the reason is what is asked for
            return words_of(error)
        return ""


def _keep_priority_to_this_thread() -> None:
    """Have no other thread and no process inherit the priority that libfranka gives the thread that makes its robot.

    It is that of the control loop, SCHED_FIFO 99, before which nothing else runs, a hand's client as little as a shell.
    """
    policy, priority = os.sched_getscheduler(0), os.sched_getparam(0)
    os.sched_setscheduler(0, policy | os.SCHED_RESET_ON_FORK, priority)
