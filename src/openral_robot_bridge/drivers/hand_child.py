"""Body of the process that speaks to a Franka Hand: `python -m … FILE`, with settings and then commands on its input.

A command is a line of three numbers: width [m], speed [m/s], force [N]. Reading the hand's state keeps the interpreter
of panda-python to itself for up to 25 ms, so that the hand has a process of its own.
"""

from __future__ import annotations

import importlib
import json
import select
import signal
import sys
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from openral_core.process.with_parent import ended_with_parent
from openral_robot_bridge.drivers.franka_hand import FrankaHand
from openral_robot_bridge.drivers.libfranka_faults import words_of
from openral_robot_bridge.drivers.shared_block import SharedBlock

PUBLISH_S = 0.02
"""[s] between two widths."""


class _GripperTask:
    """A command that goes on, with the names that franky-control gives to its tasks."""

    def __init__(self, future: Future[bool]) -> None:
        self._future = future

    def get(self) -> bool:
        """Wait until it ends; return whether it succeeded."""
        return self._future.result()


class PandaGripper:
    """panda-python's gripper with the names of franky-control's, which `FrankaHand` uses."""

    def __init__(self, gripper: Any) -> None:
        self._gripper = gripper
        self._thread = ThreadPoolExecutor(1, "gripper")

    @property
    def width(self) -> float:
        """[m] between the fingers."""
        return float(self._gripper.read_once().width)

    @property
    def max_width(self) -> float:
        """[m] between the open fingers."""
        return float(self._gripper.read_once().max_width)

    def move_async(self, width: float, speed: float) -> _GripperTask:
        """Lead the fingers to a width [m] at a speed [m/s]."""
        return _GripperTask(self._thread.submit(self._gripper.move, width, speed))

    def grasp_async(
        self, width: float, speed: float, force: float, inner: float, outer: float
    ) -> _GripperTask:
        """Close until something of a width [m], from `inner` less to `outer` more, is held with a force [N]."""
        return _GripperTask(self._thread.submit(self._gripper.grasp, width, speed, force, inner, outer))

    def stop(self) -> None:
        """End what the fingers do."""
        self._gripper.stop()


def _franky(address: str) -> Any:
    import franky

    return franky.Gripper(address)


def _panda(address: str) -> Any:
    from panda_py import libfranka

    return PandaGripper(libfranka.Gripper(address))


CLIENTS: dict[str, Callable[[str], Any]] = {"franky": _franky, "panda_py": _panda}
"""What connects to the hand at an address, by the package that has it; imported where it is used."""


def _say(answer: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


def main() -> None:
    """Say that it has started, connect, say how far the hand opens, publish its width and do what is asked.

    It ends with its input.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the driver's process decides when it ends
    # Unbuffered, since `select` does not see what a buffer holds back.
    stdin = open(sys.stdin.fileno(), "rb", buffering=0, closefd=False)  # noqa: SIM115
    settings, block = json.loads(stdin.readline()), SharedBlock(int(sys.argv[1]))
    importlib.import_module(settings["client"])
    _say({})  # what follows is the hand's time, and no more that of starting
    try:
        with ended_with_parent():  # a hand that never answers is waited for in the client's own code
            hand = FrankaHand(CLIENTS[settings["client"]](settings["address"]))
        said: dict[str, Any] = {"max_width": hand.max_width_m}
    except Exception as error:  # noqa: BLE001  clients raise kinds of their own, which all mean this
        said = {"error": words_of(error)}
    block.say(width=0.0 if "error" in said else hand.width_m)
    _say(said)
    begun = b""
    while "error" not in said:
        if select.select([stdin], [], [], PUBLISH_S)[0]:
            came = stdin.read(4096)
            if not came:
                hand.close()
                return
            *lines, begun = (begun + came).split(b"\n")
            if lines:  # an older command is void where a newer one has come
                width, speed, force = (float(word) for word in lines[-1].split())
                hand.grip(width, speed, force)
        block.say(width=hand.width_m, why=hand.lost.encode()[:400])


if __name__ == "__main__":
    main()
