"""The Franka Hand is read while it is commanded."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from openral_robot_bridge.drivers.franka_hand import FrankaHand


class Task:
    """A command whose fingers rest at once."""

    def get(self) -> bool:
        return True


class SlowHand:
    """A hand whose `stop` comes back when the test lets it, as libfranka's does when the fingers rest."""

    max_width = 0.08

    def __init__(self) -> None:
        self.width = 0.04
        self.told: list[tuple[str, float]] = []
        self.rests = threading.Event()

    def stop(self) -> None:
        self.told.append(("stop", self.width))
        self.rests.wait(20.0)

    def grasp_async(self, width: float, *numbers: float) -> Task:
        self.told.append(("grasp", width))
        return Task()

    def move_async(self, width: float, speed: float) -> Task:
        self.told.append(("move", width))
        return Task()


def until(is_so: Callable[[], bool]) -> bool:
    """Wait until something is so, for 20 s at most; tell whether it is."""
    deadline = time.monotonic() + 20.0
    while not is_so() and time.monotonic() < deadline:
        time.sleep(0.005)
    return is_so()


def test_the_width_is_read_while_a_stop_waits_for_the_fingers_and_the_newest_command_is_then_begun() -> None:
    fingers = SlowHand()
    hand = FrankaHand(fingers)
    try:
        hand.grip(0.0, 0.1, 30.0)
        assert until(lambda: fingers.told == [("grasp", 0.0)])
        hand.grip(0.08, 0.1, 30.0)
        assert until(lambda: fingers.told[-1][0] == "stop")
        fingers.width = 0.025
        assert until(lambda: hand.width_m == 0.025)
        hand.grip(0.01, 0.1, 30.0)
        fingers.rests.set()
        assert until(lambda: fingers.told[-1] == ("grasp", 0.01))
    finally:
        fingers.rests.set()
        hand.close()


def test_a_command_is_begun_also_where_the_former_one_cannot_be_stopped() -> None:
    class Unstoppable(SlowHand):
        def stop(self) -> None:
            self.told.append(("stop", self.width))
            raise RuntimeError("libfranka: Command failed: command not possible in the current mode")

    fingers = Unstoppable()
    hand = FrankaHand(fingers)
    try:
        hand.grip(0.0, 0.1, 30.0)
        assert until(lambda: fingers.told == [("grasp", 0.0)])
        hand.grip(0.08, 0.1, 30.0)
        assert until(lambda: fingers.told[-1] == ("move", 0.08))
    finally:
        hand.close()
