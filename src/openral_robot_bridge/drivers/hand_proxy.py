"""The driver's side of a Franka Hand: whether there is one, and the process that speaks to it.

A process of its own can be ended where the hand falls silent in the middle of connecting, which libfranka would wait
out for ever; and what it does with the interpreter while it reads delays nobody.
"""

from __future__ import annotations

import socket

from openral_robot_bridge.driver import ArmError
from openral_robot_bridge.drivers.client_process import ClientProcess
from openral_robot_bridge.drivers.libfranka_faults import hand_fails

HAND_PORT = 1338
"""TCP port of the hand, on the arm's controller."""
KNOCK_S = 1.0
"""[s] that a controller may take to say whether something listens there."""
IMPORT_S = 20.0
"""[s] that the process's imports may take."""
HAND_S = 10.0
"""[s] that a hand's handshake may take."""


def hand_at(address: str, client: str) -> HandProcess | None:
    """Return the hand of an arm, which is being connected to; None: it has none.

    Without a hand a controller refuses the hand's port. A port that neither refuses nor accepts counts as a hand, which
    connecting then finds to be silent.

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
    """One hand, spoken to by a process. Only `max_width_m` and `connect_anew` wait for it."""

    def __init__(self, address: str, client: str) -> None:
        """Begin to connect; see `hand_at`."""
        self._address, self._client = address, client
        self._process = self._started()

    def max_width_m(self) -> float:
        """Wait until the hand is connected, and return how far [m] it opens.

        Raises:
            ArmError: in libfranka's words, or the hand said nothing; its process is ended.
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
        """Why the hand does not answer any more, in libfranka's words; empty: it does.

        A hand that was silent for a second is given up by libfranka, and must be connected anew.
        """
        if not self._process.is_alive:
            return "its client has ended"
        return bytes(self._process.block.state()["why"]).decode()

    def grip(self, width_m: float, speed_m_s: float, force_n: float) -> None:
        """Begin to open, or to close until something is held."""
        self._process.tell(f"{width_m} {speed_m_s} {force_n}")

    def connect_anew(self) -> None:
        """End the process, and connect with another. Raises as `max_width_m`, and waits as it does."""
        self._process.close()
        self._process = self._started()
        self.max_width_m()

    def close(self) -> None:
        """End what the fingers do, and the process."""
        self._process.close()

    def _started(self) -> ClientProcess:
        settings = {"address": self._address, "client": self._client}
        return ClientProcess(f"{__package__}.hand_child", settings)
