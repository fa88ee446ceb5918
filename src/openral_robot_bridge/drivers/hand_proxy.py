"""The driver's side of a Franka Hand: detection of a hand, and the process of its client.

A process can be ended if the hand stops answering during the handshake, for which libfranka would wait forever. Its
interpreter lock, which the client holds while it reads, does not delay the driver.
"""

from __future__ import annotations

import socket

from openral_robot_bridge.driver import ArmError
from openral_robot_bridge.drivers.client_process import ClientProcess
from openral_robot_bridge.drivers.libfranka_faults import hand_fails

HAND_PORT = 1338
"""TCP port of the hand, on the arm's controller."""
KNOCK_S = 1.0
"""[s] timeout of the connection that tests whether there is a hand."""
IMPORT_S = 20.0
"""[s] timeout of the process's imports."""
HAND_S = 5.0
"""[s] timeout of the hand's handshake."""


def hand_at(address: str, client: str) -> HandProcess | None:
    """Return the hand of an arm, while its process connects; None: the arm has no hand.

    The controller of an arm without a hand refuses connections to the hand's port. A port that does not answer counts
    as a hand, whose handshake then fails.

    Args:
        address: of the controller.
        client: a key of `openral_robot_bridge.drivers.hand_child.CLIENTS`.
    """
    try:
        with socket.create_connection((address, HAND_PORT), KNOCK_S):
            pass
    except ConnectionRefusedError:
        return None
    except OSError:
        pass
    return HandProcess(address, client)


class HandProcess:
    """One hand behind the process of its client; only `max_width_m` and `connect_anew` wait for the hand."""

    def __init__(self, address: str, client: str) -> None:
        """Start the process, which connects; for the arguments see `hand_at`."""
        self._address, self._client = address, client
        self._process = self._started()

    def max_width_m(self) -> float:
        """Wait until the hand is connected, and return its largest width [m].

        Raises:
            ArmError: the connection failed, with libfranka's message, or timed out; the process is ended.
        """
        try:
            self._process.answer(IMPORT_S)
            return float(self._process.answer(HAND_S)["max_width"])
        except ArmError as error:
            self._process.close()
            raise ArmError(hand_fails(self._address, str(error))) from error

    @property
    def width_m(self) -> float:
        """[m] between the fingers at the last reading."""
        return float(self._process.block.state()["width"])

    @property
    def lost(self) -> str:
        """Reason why the hand does not answer any more, with libfranka's message; empty: it does.

        After a second without an answer, libfranka ends the connection, and the hand must be reconnected.
        """
        if not self._process.is_alive:
            return "its client has ended"
        return bytes(self._process.block.state()["why"]).decode()

    def grip(self, width_m: float, speed_m_s: float, force_n: float) -> None:
        """Begin to open the hand, or to close it until it holds an object."""
        self._process.tell(f"{width_m} {speed_m_s} {force_n}")

    def connect_anew(self) -> None:
        """End the process, and connect with a new one.

        Raises:
            ArmError: as for `max_width_m`, which this waits for.
        """
        self._process.close()
        self._process = self._started()
        self.max_width_m()

    def close(self) -> None:
        """End the motion of the fingers, and the process."""
        self._process.close()

    def _started(self) -> ClientProcess:
        settings = {"address": self._address, "client": self._client}
        return ClientProcess(f"{__package__}.hand_child", settings)
