"""Body of the process of an arm's driver: it keeps the motion smooth, and ends it when commands cease.

If the bridge has died or hangs, this process brings the arm to rest within the limits of acceleration and jerk; the arm
is then held by its own controller.
"""

from __future__ import annotations

import contextlib
import select
import signal
import threading
import time
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

from openral_control.safety.joint_limits import ArmLimits, Vector
from openral_control.safety.online_trajectory import OnlineTrajectory
from openral_core.errors import OpenralError
from openral_core.hardware.arm_mode import ArmMode
from openral_core.scene_arm import SceneArm
from openral_robot_bridge.driver import (
    ArmDriver,
    ArmError,
    ArmState,
    NotLedError,
    PlannedDriver,
    StreamedDriver,
)
from openral_robot_bridge.drivers.factory import make_driver
from openral_robot_bridge.setpoint_streaming import Leader, PlanLeader, StreamLeader
from openral_robot_bridge.trajectory_plan import FINE_S


@dataclass(frozen=True)
class HostSettings:
    """Settings of the process."""

    arm: SceneArm
    limits: ArmLimits
    """Joint limits of robot.yaml."""
    start: Vector
    """(n,) [rad] start pose of the scene."""


HALT_SHARE = 0.6
"""Least share of the arm's maximum acceleration and jerk that a halt uses.

On the twin of an FR3, whose impedance controller oscillates about its target, measured accelerations reached 0.95 of
the arm's own limit with this share, and 1.3 of it with a share of 0.8."""


def used_limits(own: ArmLimits, robot: ArmLimits, dynamics_share: float) -> ArmLimits:
    """Return the limits of an arm's motion: the narrower of both, with a share of acceleration and jerk."""
    both = robot.within(own)
    return replace(both, acceleration=both.acceleration * dynamics_share, jerk=both.jerk * dynamics_share)


def require_sound(own: ArmLimits) -> None:
    """Require that limits which an arm reports are numbers in their ranges, since a NaN would pass any comparison.

    Raises:
        ArmError: those of a joint, which the message names, are not.
    """
    positive = (
        np.array([own.high - own.low, own.velocity, own.acceleration, own.jerk, own.deceleration]) > 0.0
    )
    sound = positive.all(axis=0) & ~np.isnan(own.velocity_offset)
    if not sound.all():
        joint = int(np.argmin(sound))
        low, high, speed, slowing = (
            values[joint] for values in (own.low, own.high, own.velocity, own.deceleration)
        )
        raise ArmError(
            f"the arm's own limits of {own.names[joint]} are none: {low:g} to {high:g} rad, {speed:g} rad/s, "
            f"{own.acceleration[joint]:g} rad/s², slowing by {slowing:g} rad/s²; correct the arm's description"
        )


def make_follower(own: ArmLimits, settings: HostSettings, cycle_s: float) -> OnlineTrajectory:
    """Return the jerk-limited trajectory generator, of cycle `cycle_s` [s], for an arm that reports limits `own`."""
    share = settings.arm.safety.dynamics_share
    limits, braking = (used_limits(own, settings.limits, used) for used in (share, max(share, HALT_SHARE)))
    return OnlineTrajectory(limits, cycle_s, braking)


def may_stop(driver: ArmDriver, leader: Leader | OnlineTrajectory) -> bool:
    """Return whether `ArmDriver.stop` may be called at the arm's present speed."""
    return leader.at_rest or bool(np.abs(driver.read().velocities).max() <= driver.stops_below_rad_s)


def serve(connection: Connection, settings: HostSettings) -> None:
    """Connect to the arm, report that, and serve requests until one to close, or until the connection is lost."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the bridge ends this process
    driver: StreamedDriver | PlannedDriver | None = None
    try:
        driver = make_driver(settings.arm, settings.limits, settings.start)
        info = driver.connect()
        require_sound(info.limits)
        leader: Leader
        cycle_s = 1.0 / settings.arm.stream_hz
        if isinstance(driver, PlannedDriver):
            leader = PlanLeader(driver, make_follower(info.limits, settings, FINE_S), cycle_s)
        else:
            leader = StreamLeader(driver, make_follower(info.limits, settings, cycle_s))
        host = _Host(connection, driver, leader, settings.arm)
        # A service manager tells all processes of a deployment to end at once, this one in the midst of a motion.
        signal.signal(signal.SIGTERM, lambda number, frame: host.close())
        connection.send((0, info))
        host.run()
    except OpenralError as error:
        with contextlib.suppress(OSError):
            connection.send((0, error))
    finally:
        if driver is not None:
            driver.close()


class _Host:
    """Serves requests between the cycles of a stream."""

    def __init__(self, connection: Connection, driver: ArmDriver, leader: Leader, arm: SceneArm) -> None:
        self._connection, self._driver, self._leader = connection, driver, leader
        self._cycle_s = 1.0 / arm.stream_hz
        self._timeout_s = arm.safety.command_timeout_s
        self._moving = self._ending = self._halted = self._silent = False
        self._stopping: threading.Thread | None = None
        self._led_at = 0.0
        self._fault = ""
        self._closed = False

    def close(self) -> None:
        """End `run` as soon as the arm is at rest; may be called by the handler of a signal."""
        self._closed = True

    def run(self) -> None:
        """Cycle until closed and at rest; cycles missed by a delay are skipped."""
        due = time.monotonic()
        while not self._closed or self._moving:
            due = max(due + self._cycle_s, time.monotonic())
            if self._closed:
                self._halt()
                time.sleep(max(0.0, due - time.monotonic()))
            else:
                self._serve(due)
            if self._moving:
                self._cycle()
        self._finish_stopping()

    def _cycle(self) -> None:
        try:
            if time.monotonic() - self._led_at > self._timeout_s and not self._ending:
                self._leader.stop()
                self._silent = True
            self._leader.cycle()
            if self._ending and may_stop(self._driver, self._leader):
                self._end()
        except OpenralError as error:
            self._fault = str(error)
            self._end()

    def _halt(self) -> None:
        """Decelerate the arm, and end the motion as soon as the driver can."""
        if not self._moving or self._ending:
            return
        self._ending = True
        try:
            self._leader.halt()
        except OpenralError as error:
            self._fault = str(error)
        if self._fault or np.isinf(self._driver.stops_below_rad_s):
            self._end()

    def _end(self) -> None:
        """End the arm's motion in a thread that waits for rest, while requests are served."""
        self._moving = self._ending = False
        self._stopping = threading.Thread(target=self._driver.stop, name="stop", daemon=True)
        self._stopping.start()

    def _finish_stopping(self) -> None:
        if self._stopping is not None:
            self._stopping.join()
            self._stopping = None

    def _serve(self, until_s: float) -> None:
        """Serve requests as they arrive, until a monotonic time [s]."""
        try:
            while self._is_asked(until_s - time.monotonic()) and not self._closed:
                number, verb, arguments = self._connection.recv()
                answer = self._do(verb, arguments)
                if number:
                    self._connection.send((number, answer))
        except (EOFError, OSError):
            self._closed = True

    def _is_asked(self, patience_s: float) -> bool:
        """Return whether a request arrives in time; `Connection.poll` would round the time up to milliseconds."""
        return bool(select.select([self._connection], [], [], max(patience_s, 0.0))[0])

    def _do(self, verb: str, arguments: tuple[Any, ...]) -> Any:
        try:
            if verb == "lead":
                self._lead(*arguments)
            elif verb == "go_on":
                self._go_on()
            elif verb == "halt":
                self._halted = True
                self._halt()
            elif verb == "release":
                self._halted = False
            elif verb == "recover":
                if self._moving:
                    self._end()
                self._finish_stopping()
                self._driver.recover()
                self._fault = ""
            elif verb == "grip":
                self._driver.grip(*arguments)
            elif verb == "close":
                self.close()
            return self._state()
        except OpenralError as error:
            return error

    def _lead(self, positions: Vector, velocities: Vector, duration_s: float) -> None:
        if self._is_ended():
            return
        if not self._moving:
            self._finish_stopping()
            self._leader.restart(self._driver.read().positions)
            self._moving = True
        self._leader.lead(np.atleast_2d(positions), np.atleast_2d(velocities), duration_s)
        self._led_at, self._silent = time.monotonic(), False

    def _go_on(self) -> None:
        if self._silent or not self._moving:
            raise NotLedError("the arm was led to rest, for nobody led it in time")
        if not self._is_ended():
            self._leader.go_on()
            self._led_at = time.monotonic()

    def _is_ended(self) -> bool:
        """Return whether targets are to be ignored.

        Raises:
            ArmError: the arm has a fault.
        """
        if self._fault:
            raise ArmError(self._fault)
        return self._halted or self._ending or (self._stopping is not None and self._stopping.is_alive())

    def _state(self) -> ArmState:
        state = self._driver.read()
        if self._fault and state.mode in (ArmMode.IDLE, ArmMode.MOVING):
            return replace(state, mode=ArmMode.FAULT, faults=(self._fault,))
        return state
