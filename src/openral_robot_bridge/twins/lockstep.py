"""The twin of a Franka whose time passes only as its arm is led: the real client, whatever the machine is busy with.

In a motion the twin's cycles wait until they are asked for, so that inference, pictures and other processes cost the
arm no time. libfranka gives a controller up that is silent for a second; the twin breathes before that.
"""

from __future__ import annotations

import queue
import threading

from openral_control.safety.arm_limits import ArmLimits, Vector
from openral_control.safety.follower import MotionFollower
from openral_core.errors import SimulationError
from openral_core.scene import DeployScene
from openral_robot_bridge.driver import ArmError, ArmInfo, ArmMode, ArmState
from openral_robot_bridge.drivers.factory import make_driver
from openral_robot_bridge.process_main import HostSettings, used_limits
from openral_robot_bridge.twins.fci.twin import FciTwin
from openral_robot_bridge.twins.fci.wire import CYCLE_S

PATIENCE_S = 0.9
"""[s] that a cycle waits for the client's command."""
BREATH_S = 0.3
"""[s] after which a twin that nobody leads lets one cycle pass."""
ANSWER_S = 30.0
"""[s] that the twin has to do what it is told, and the client to begin a motion."""


class LockstepTwin:
    """An `FciTwin` in a thread of its own. Use it as a context manager."""

    def __init__(self, scene: DeployScene, address: str) -> None:
        """Begin to serve. Raises SimulationError: the ports of `address` are taken."""
        self._answers: queue.Queue[str] = queue.Queue()
        self._twin = FciTwin(scene, address, self._answers.put, PATIENCE_S)
        self._twin.before_cycle = self._wait
        self.arm = self._twin.arm
        """The model; to be looked at while the arm is led and no cycle is asked for."""
        self._asked = threading.Condition()
        self._left = 0
        self._waits = self._ended = False
        self._thread = threading.Thread(target=self._serve, name="twin", daemon=True)
        self._thread.start()

    def __enter__(self) -> LockstepTwin:
        return self

    def __exit__(self, *error: object) -> None:
        self.let_go()
        self._twin.tell("quit")
        self._thread.join(ANSWER_S)

    def run(self, cycles: int) -> None:
        """Let so many cycles pass, fewer where the motion ends; without a motion time passes by itself."""
        with self._asked:
            self._waits, self._left = True, cycles
            self._asked.notify_all()
            self._asked.wait_for(lambda: not self._left or not self._twin.is_moved or self._ended, ANSWER_S)

    def until_moved(self) -> None:
        """Wait until the client's motion has begun; no cycle of it passes. Raises SimulationError: it does not begin."""
        with self._asked:
            self._waits, self._left = True, 0
            if not self._asked.wait_for(lambda: self._twin.is_moved, ANSWER_S):
                raise SimulationError("the arm's client begins no motion")

    def let_go(self) -> None:
        """Let time pass by itself."""
        with self._asked:
            self._waits = False
            self._asked.notify_all()

    def reset(self, init_id: int) -> None:
        """Put the world into an initial state. Raises SimulationError: with its reason."""
        self._twin.tell(f"state {init_id}")
        answer = self._answers.get(timeout=ANSWER_S)
        if answer != f"state {init_id}":
            raise SimulationError(f"the twin's world was not reset: {answer}")

    def _wait(self) -> None:
        """Wait until the next cycle is asked for, where the arm is being led."""
        with self._asked:
            if not self._twin.is_moved:
                self._left = 0
                self._asked.notify_all()
            elif self._left:
                self._left -= 1
            elif self._waits:
                self._asked.notify_all()
                self._asked.wait_for(lambda: self._left > 0 or not self._waits, BREATH_S)
                self._left = max(0, self._left - 1)
            if not self._left:
                self._asked.notify_all()

    def _serve(self) -> None:
        try:
            self._twin.serve()
        finally:
            with self._asked:
                self._ended = True
                self._asked.notify_all()


class LockstepLink:
    """In the place of the driver's process: the same driver and the same follower, in the twin's time."""

    def __init__(self, twin: LockstepTwin, settings: HostSettings) -> None:
        """Connect. Raises OpenralError: the arm cannot be reached, or its client is not installed."""
        self._twin = twin
        self._driver = make_driver(settings.arm, settings.limits, settings.start)
        self.info: ArmInfo = self._driver.connect()
        self.limits: ArmLimits = used_limits(
            self.info.limits, settings.limits, settings.arm.safety.dynamics_share
        )
        self._cycle_s = 1.0 / settings.arm.stream_hz
        self._follower = MotionFollower(self.limits, self._cycle_s)
        self._moving = False
        self.now_s = 0.0
        """[s] that the arm was led."""

    def read(self) -> ArmState:
        """Return the arm's state."""
        return self._driver.read()

    def lead(self, positions: Vector, velocities: Vector, duration_s: float) -> ArmState:
        """Lead the joints to positions (n,) [rad] with velocities (n,) [rad/s] while `duration_s` [s] pass.

        Raises:
            ArmError: the arm ended the motion by itself.
        """
        if not self._moving:
            self._follower.restart(self.read().positions)
        self._follower.lead(positions, velocities, duration_s)
        try:
            for _ in range(round(duration_s / self._cycle_s)):
                self._driver.follow(*self._follower.cycle())
                if not self._moving:
                    self._twin.until_moved()
                    self._moving = True
                self._twin.run(round(self._cycle_s / CYCLE_S))
                self.now_s += self._cycle_s
        except ArmError:
            self.halt()
            raise
        return self.read()

    def halt(self) -> None:
        """Bring the arm to rest and end its motion."""
        self._moving = False
        self._twin.let_go()
        self._driver.stop()

    def release(self) -> None:
        """Let the arm be led again."""

    def grip(self, width_m: float, speed_m_s: float, force_n: float) -> ArmState:
        """Lead the fingers; see `ArmDriver.grip`."""
        self._driver.grip(width_m, speed_m_s, force_n)
        return self.read()

    def recover(self) -> ArmState:
        """End the motion, and leave a reflex. Raises ArmError: the arm stays in it."""
        self.halt()
        if self.read().mode is not ArmMode.IDLE:
            self._driver.recover()
        return self.read()

    def close(self) -> None:
        """Bring the arm to rest and disconnect."""
        self._twin.let_go()
        self._driver.close()
