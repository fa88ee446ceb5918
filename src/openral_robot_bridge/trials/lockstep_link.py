"""Replaces the driver's process in lockstep trials: the same driver and trajectory generator, in the twin's time.

During a motion the twin runs only the requested cycles, so that inference, rendering and other processes take none of
the arm's time.
"""

from __future__ import annotations

import contextlib
import os

from openral_control.safety.joint_limits import ArmLimits, Vector
from openral_core.hardware.arm_mode import ArmMode
from openral_robot_bridge.driver import ArmError, ArmInfo, ArmState, PlannedDriver
from openral_robot_bridge.drivers.factory import make_driver
from openral_robot_bridge.process_main import HostSettings, make_follower, may_stop
from openral_robot_bridge.trials.twin_process import CommandedTwin
from openral_robot_bridge.twins.fci.wire import CYCLE_S


class LockstepLink:
    """`ArmLink` to a twin, which can have only one at a time."""

    def __init__(self, twin: CommandedTwin, settings: HostSettings) -> None:
        """Connect to the twin.

        Raises:
            OpenralError: the arm cannot be reached, or its client library is not installed.
        """
        self._twin = twin
        driver = make_driver(settings.arm, settings.limits, settings.start)
        assert not isinstance(driver, PlannedDriver)  # only the twin of a Franka has lockstep
        self._driver = driver
        self.info: ArmInfo = self._driver.connect()
        # Lockstep needs no real-time priority. libfranka gives one to the thread that connects, with which the policy
        # would preempt everything else on the machine.
        os.sched_setscheduler(0, os.SCHED_OTHER | os.SCHED_RESET_ON_FORK, os.sched_param(0))
        self._cycle_s = 1.0 / settings.arm.stream_hz
        self._follower = make_follower(self.info.limits, settings, self._cycle_s)
        self.limits: ArmLimits = self._follower.limits
        self._moving = False
        self._owed_s = 0.0
        self.now_s = 0.0
        """[s] total time of the arm's motions."""

    def read(self) -> ArmState:
        """Return the arm's state."""
        return self._driver.read()

    def lead(self, positions: Vector, velocities: Vector, duration_s: float) -> ArmState:
        """Move the joints to positions (n,) [rad] with velocities (n,) [rad/s] in `duration_s` [s] of the twin's time.

        Raises:
            ArmError: the arm ended the motion by itself.
        """
        if not self._moving:
            self._follower.restart(self.read().positions)
        self._owed_s += duration_s  # a control step need not be a whole number of cycles
        self._follower.lead(positions, velocities, self._owed_s)
        try:
            while self._owed_s > 0.5 * self._cycle_s:
                if not self._moving:
                    self._twin.tell("wait on")
                    self._moving = True
                self._cycle()
                self._owed_s -= self._cycle_s
        except ArmError:
            self.halt()
            raise
        return self.read()

    def go_on(self) -> ArmState:
        """Return the arm's state; this is never called, as no targets are sent ahead."""
        return self.read()

    def halt(self) -> None:
        """Bring the arm to rest and end its motion."""
        with contextlib.suppress(ArmError):  # the arm may have ended the motion by itself
            self._follower.halt()
            while self._moving and not may_stop(self._driver, self._follower):
                self._cycle()
        self._moving, self._owed_s = False, 0.0
        self._twin.tell("wait off")
        self._driver.stop()

    def _cycle(self) -> None:
        self._driver.follow(*self._follower.cycle())
        self._twin.tell(f"run {round(self._cycle_s / CYCLE_S)}")
        self.now_s += self._cycle_s

    def release(self) -> None:
        """Do nothing, as `halt` blocks no later motion."""

    def grip(self, width_m: float, speed_m_s: float, force_n: float) -> ArmState:
        """Command the gripper as `ArmDriver.grip` does, and return the arm's state."""
        self._driver.grip(width_m, speed_m_s, force_n)
        return self.read()

    def recover(self) -> ArmState:
        """End the motion, recover from a reflex, and return the arm's state.

        Raises:
            ArmError: the arm does not recover.
        """
        self.halt()
        if self.read().mode is not ArmMode.IDLE:
            self._driver.recover()
        return self.read()

    def close(self) -> None:
        """Bring the arm to rest and disconnect."""
        self._twin.tell("wait off")
        self._driver.close()
