"""Body of the process of a Franka Hand's client: `python -m … FILE`, with settings and then commands on its input.

A command is a line of three numbers: width [m], speed [m/s], force [N]. The hand has a process of its own, as
panda-python holds the interpreter lock for up to 25 ms while it reads the hand's state.
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
"""[s] between two publications of the width."""


class _GripperTask:
    """A running command, with the interface of franky-control's tasks."""

    def __init__(self, future: Future[bool]) -> None:
        self._future = future

    def get(self) -> bool:
        """Wait for its end, and return whether it succeeded."""
        return self._future.result()


class PandaGripper:
    """panda-python's gripper with the interface of franky-control's, for `FrankaHand`."""

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
        """Begin to move the fingers to a width [m] at a speed [m/s]."""
        return _GripperTask(self._thread.submit(self._gripper.move, width, speed))

    def grasp_async(
        self, width: float, speed: float, force: float, inner: float, outer: float
    ) -> _GripperTask:
        """Begin to close until an object is held with a force [N].

        The grasp succeeds at widths from `width` - `inner` to `width` + `outer` [m].
        """
        return _GripperTask(self._thread.submit(self._gripper.grasp, width, speed, force, inner, outer))

    def stop(self) -> None:
        """End the motion of the fingers."""
        self._gripper.stop()


def _franky(address: str) -> Any:
    import franky

    return franky.Gripper(address)


def _panda(address: str) -> Any:
    from panda_py import libfranka

    return PandaGripper(libfranka.Gripper(address))


CLIENTS: dict[str, Callable[[str], Any]] = {"franky": _franky, "panda_py": _panda}
"""Functions that connect to the hand at an address, by the package of the client, which they import."""


def _say(answer: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


def main() -> None:
    """Connect to the hand, report its largest width, publish its present width, and execute commands.

    A first answer is written when the imports are done. The process ends when its input is closed.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the driver's process ends this one
    # The input is unbuffered, since `select` does not see data in a buffer.
    stdin = open(sys.stdin.fileno(), "rb", buffering=0, closefd=False)  # noqa: SIM115
    settings, block = json.loads(stdin.readline()), SharedBlock(int(sys.argv[1]))
    importlib.import_module(settings["client"])
    try:
        with ended_with_parent():  # the client would wait forever for a hand that does not answer
            _say({})  # the imports are done; the timeout of the hand's handshake begins
            hand = FrankaHand(CLIENTS[settings["client"]](settings["address"]))
        said: dict[str, Any] = {"max_width": hand.max_width_m}
    except Exception as error:  # noqa: BLE001  clients have exceptions of their own
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
            if lines:  # only the latest command counts
                width, speed, force = (float(word) for word in lines[-1].split())
                hand.grip(width, speed, force)
        block.say(width=hand.width_m, why=hand.lost.encode()[:400])


if __name__ == "__main__":
    main()
