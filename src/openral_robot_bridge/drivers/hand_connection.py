"""Whether a Franka arm has a hand, and the way to it."""

from __future__ import annotations

import queue
import socket
import threading
from collections.abc import Callable
from typing import Any

from openral_robot_bridge.driver import ArmError
from openral_robot_bridge.drivers.fci_client import words_of
from openral_robot_bridge.drivers.franka_hand import FrankaHand

HAND_PORT = 1338
"""TCP port of the hand, on the arm's controller."""
KNOCK_S = 1.0
"""[s] that a controller may take to say whether something listens there."""
HAND_S = 10.0
"""[s] that a hand's handshake may take; libfranka would wait for a silent one for ever."""


def has_hand(address: str) -> bool:
    """Tell whether an arm has a hand: without one its controller refuses the hand's port.

    A port that neither refuses nor accepts counts as a hand, which connecting then finds to be silent.
    """
    try:
        with socket.create_connection((address, HAND_PORT), KNOCK_S):
            return True
    except ConnectionRefusedError:
        return False
    except OSError:
        return True


def connect_hand(connect: Callable[[], Any]) -> FrankaHand:
    """Return a hand that `connect` connects to, as its client's gripper.

    Raises:
        ArmError: in libfranka's words, or the hand said nothing.
    """
    made: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def run() -> None:
        try:
            made.put(connect())
        except Exception as error:  # noqa: BLE001  clients raise kinds of their own, which all mean this
            made.put(error)

    threading.Thread(target=run, name="hand", daemon=True).start()
    try:
        gripper = made.get(timeout=HAND_S)
        if isinstance(gripper, Exception):
            raise gripper
        return FrankaHand(gripper)
    except queue.Empty:
        raise ArmError(f"it says nothing for {HAND_S:g} s") from None
    except Exception as error:  # as above
        raise ArmError(words_of(error)) from error
