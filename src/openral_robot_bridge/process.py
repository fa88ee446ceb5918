"""The bridge's side of the process in which an arm's driver runs."""

from __future__ import annotations

import contextlib
import logging
import multiprocessing
import threading
import time
from typing import Any

from openral_control.safety.joint_limits import ArmLimits, Vector
from openral_core.errors import OpenralError
from openral_robot_bridge.driver import ArmError, ArmInfo, ArmState
from openral_robot_bridge.process_main import HostSettings, serve, used_limits

_log = logging.getLogger(__name__)

QUIET_S = 10.0
"""[s] of connecting after which a warning is logged that the arm does not answer yet."""
CONNECT_S = 60.0
"""[s] timeout of connecting: imports of the process and of its clients, and the handshakes of arm and hand."""
ANSWER_S = 1.0
"""[s] timeout of an answer, after which the process counts as lost; the arm itself stops after its own timeout."""
SLOW_ANSWER_S = 30.0
"""[s] timeout of recovery, in which an arm may release its brakes, and a lost hand may be reconnected."""
END_S = 5.0
"""[s] within which the process must bring the arm to rest and end, before it is killed."""


class ArmProcess:
    """A driver in a process of its own; `halt` and `release` may be called from any thread, all else from one."""

    def __init__(self, settings: HostSettings) -> None:
        """Start the process and connect.

        Raises:
            OpenralError: the driver failed to connect, or the process did not start.
        """
        self._address = settings.arm.address
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=serve, args=(theirs, settings), name="arm", daemon=True)
        self._process.start()
        theirs.close()
        self._sending = threading.Lock()
        self._number = 0
        try:
            answer = self._await_connection()
            if isinstance(answer, OpenralError):
                raise answer
            self.info: ArmInfo = answer
            """Properties that the arm reported."""
            self.limits: ArmLimits = used_limits(
                self.info.limits, settings.limits, settings.arm.safety.dynamics_share
            )
            """Limits of its motion; see `used_limits`."""
        except BaseException:
            self.close()
            raise

    @property
    def pid(self) -> int:
        """Id of the process."""
        return int(self._process.pid or 0)

    def read(self) -> ArmState:
        """Return the arm's state.

        Raises:
            ArmError: the arm or its process does not answer.
        """
        return self._ask("read", ANSWER_S)

    def lead(self, positions: Vector, velocities: Vector, duration_s: float) -> ArmState:
        """Command joint targets, and return the arm's state.

        Args:
            positions: (n,) or (k, n) [rad] one target or k of them, `duration_s` apart, the first due in `duration_s`.
            velocities: [rad/s] of the same shape, at these targets.
            duration_s: [s] of one control step.

        Raises:
            ArmError: the arm cannot be moved, or it or its process does not answer.
        """
        return self._ask("lead", ANSWER_S, positions, velocities, duration_s)

    def go_on(self) -> ArmState:
        """Confirm the targets that were sent ahead for another control step, and return the arm's state.

        Raises:
            NotLedError: the arm comes to rest, since no command came in time.
            ArmError: as for `lead`.
        """
        return self._ask("go_on", ANSWER_S)

    def halt(self) -> None:
        """Bring the arm to rest and end its motion; targets are ignored until `release`."""
        self._tell("halt")

    def release(self) -> None:
        """Accept targets again after `halt`."""
        self._tell("release")

    def grip(self, width_m: float, speed_m_s: float, force_n: float) -> ArmState:
        """Command the gripper as `ArmDriver.grip` does, and return the arm's state."""
        return self._ask("grip", ANSWER_S, width_m, speed_m_s, force_n)

    def recover(self) -> ArmState:
        """Recover from a reflex or a fault, and return the arm's state.

        Raises:
            ArmError: the arm does not recover.
        """
        return self._ask("recover", SLOW_ANSWER_S)

    def close(self) -> None:
        """Bring the arm to rest and end the process."""
        self._tell("close")
        self._process.join(END_S)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()
        self._connection.close()

    def _tell(self, verb: str) -> None:
        """Send a request without an answer; if the process has ended, the arm is held by its own controller."""
        with self._sending, contextlib.suppress(OSError):
            self._connection.send((0, verb, ()))

    def _ask(self, verb: str, patience_s: float, *arguments: Any) -> ArmState:
        self._number += 1
        try:
            with self._sending:
                self._connection.send((self._number, verb, arguments))
        except OSError as error:
            raise ArmError(self._gone()) from error
        answer = self._await(self._number, patience_s)
        if isinstance(answer, OpenralError):
            raise answer
        assert isinstance(answer, ArmState)
        return answer

    def _await_connection(self) -> Any:
        """Return the answer to the connection; an arm that another program controls does not answer at all."""
        told = "the arm at %s does not answer yet; is another program connected to it? Waiting up to %g s"
        slow = threading.Timer(QUIET_S, _log.warning, (told, self._address, CONNECT_S))
        slow.daemon = True
        slow.start()
        try:
            return self._await(
                0, CONNECT_S, "is another program connected to it, a deployment or `openral robot`?"
            )
        finally:
            slow.cancel()

    def _await(
        self, number: int, patience_s: float, ask: str = "was it switched off, or its cable pulled?"
    ) -> Any:
        """Return the answer to a request; late answers to earlier requests are dropped.

        Args:
            number: of the request.
            patience_s: [s] timeout.
            ask: question for the error message, about what else may keep the arm from answering.
        """
        due = time.monotonic() + patience_s
        try:
            while self._connection.poll(max(0.0, due - time.monotonic())):
                answered, answer = self._connection.recv()
                if answered == number:
                    return answer
        except (EOFError, OSError) as error:
            raise ArmError(self._gone()) from error
        raise ArmError(
            f"the arm at {self._address} does not answer: its driver's process said nothing for {patience_s:g} s; {ask}"
        )

    def _gone(self) -> str:
        self._process.join(1.0)
        code = self._process.exitcode
        return f"the driver's process has ended ({code}); the arm is held by its own controller; start the bridge again"
