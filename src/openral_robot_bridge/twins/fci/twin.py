"""Twin of a Franka with its hand, in a scene's world, with commands as lines of text."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable
from dataclasses import replace

from openral_control.safety.joint_limits import limits_of
from openral_core.errors import SimulationError
from openral_core.robot import load_robot
from openral_core.scene import DeployScene
from openral_robot_bridge.twins.arm import TwinArm
from openral_robot_bridge.twins.fci.arm_server import ArmServer, own_urdf
from openral_robot_bridge.twins.fci.controller import ArmController
from openral_robot_bridge.twins.fci.gripper_server import GripperServer
from openral_robot_bridge.twins.fci.lockstep import Lockstep
from openral_robot_bridge.twins.fci.wire import CYCLE_S, FR3, PANDA, FciFault
from openral_robot_bridge.twins.trace import TraceKeeper
from openral_robot_bridge.urdf_limits import read_limits

HELP = (
    "tell me: user_stop on, user_stop off, fail NAME, lose N, hand on, hand off, state N, judge, world, "
    f"{Lockstep.words}, {TraceKeeper.words}, status, quit"
)


class FciTwin:
    """Serves one arm and its hand; all calls but `tell` must come from one thread."""

    help = HELP

    def __init__(self, scene: DeployScene, host: str, say: Callable[[str], None], patience_s: float) -> None:
        """Compile the scene and listen, with the version of the FCI that the scene's driver uses.

        Args:
            scene: with a section `arm`.
            host: address of this machine.
            say: prints the answer to a command.
            patience_s: [s] see `ArmServer`.

        Raises:
            OpenralError: the scene is invalid.
            SimulationError: the ports of `host` are taken, or its robot has no URDF.
        """
        robot = load_robot(scene.robot_id)
        if robot.urdf is None or robot.source is None:
            raise SimulationError(
                f"robots/{robot.name}/robot.yaml names no urdf, which the twin's client asks for"
            )
        text = (robot.source.path.parent / robot.urdf).read_text(encoding="utf-8")
        urdf = own_urdf(text, f"{robot.name}_")
        arm = self.arm = TwinArm(scene, robot, CYCLE_S)
        """The simulated arm."""
        limits = limits_of(robot)
        own = read_limits(urdf, limits.names)
        self._controller = ArmController(
            arm, replace(own, acceleration=limits.acceleration, jerk=limits.jerk)
        )
        try:
            protocol = PANDA if scene.arm is not None and scene.arm.driver == "panda" else FR3
            self._server = ArmServer(host, self._controller, protocol, urdf, patience_s)
            self._gripper = GripperServer(host, arm)
        except OSError as error:
            raise SimulationError(
                f"the twin cannot listen on {host}: {error.strerror}; choose another address"
            ) from error
        self._say = say
        self._lockstep = Lockstep(lambda: self.is_moved, say)
        self._said: deque[str] = deque()
        self._trace = TraceKeeper()
        self._ended = False

    @property
    def is_moved(self) -> bool:
        """Whether a motion of the client is running."""
        return self._controller.motion is not None

    def tell(self, line: str) -> None:
        """Queue a command of HELP; may be called from any thread."""
        self._said.append(line)
        self._lockstep.wake()

    def serve(self) -> None:
        """Serve until the command `quit`."""
        try:
            while not self._ended:
                while self._said:
                    self._answer(self._said.popleft())
                if not self._lockstep.before():
                    continue
                self._server.cycle()
                self._gripper.cycle()
                self._trace.note(self.arm)
                self._lockstep.after()
        finally:
            self._server.close()
            self._gripper.close()

    def _answer(self, line: str) -> None:
        later = self._lockstep.hears(line.split())
        if not later:
            self._say(self._do("status" if later is not None else line))

    def _do(self, line: str) -> str:
        words = line.split()
        if words[:1] == ["user_stop"] and words[1:] in (["on"], ["off"]):
            self._server.press_user_stop(words[1] == "on")
        elif words in (["hand", "on"], ["hand", "off"]):
            self._gripper.silent = words[1] == "off"
        elif words[:1] == ["fail"] and words[1:] and words[1].upper() in FciFault.__members__:
            self._server.fail(FciFault[words[1].upper()])
        elif words[:1] == ["lose"] and len(words) == 2 and words[1].isdigit():
            self._server.lose = int(words[1])
        elif words[:1] == ["state"] and len(words) == 2 and words[1].isdigit():
            return self._reset(int(words[1]))
        elif words == ["judge"]:
            return "not done" if self.arm.done_s is None else f"done after {self.arm.done_s:.3f} s"
        elif words == ["world"]:
            return json.dumps(self.arm.world.tolist())
        elif words == ["quit"]:
            self._ended = True
        elif words != ["status"] and (fault := self._trace.obey(words, HELP)):
            return fault
        return (
            f"{self._server.mode.name.lower()} cycles={self._server.cycles} answered={self._server.answered} "
            f"missed={self._server.missed}"
        )

    def _reset(self, init_id: int) -> str:
        """Set the world to an initial state, unless the arm is being moved; return the answer to the command."""
        if self.is_moved:
            return "the arm is being moved; end its motion first"
        try:
            self.arm.reset(init_id)
        except SimulationError as error:
            return str(error)
        self._controller.settle()
        return f"state {init_id}"
