"""Twin of a Sawyer with its gripper: the topics of Intera 5, and a ROS 1 master unless one exists."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

from openral_control.safety.joint_limits import limits_of
from openral_core.errors import SimulationError
from openral_core.robot import load_robot
from openral_core.scene import DeployScene
from openral_robot_bridge import intera
from openral_robot_bridge.ros1.master import Ros1Master
from openral_robot_bridge.ros1.messages import MessageTypes, Ros1Error
from openral_robot_bridge.ros1.node import Ros1Node, master_address
from openral_robot_bridge.ros1.rpc import call
from openral_robot_bridge.twins.arm import TwinArm
from openral_robot_bridge.twins.sawyer.controller import STEP_S, STEPS, SawyerController
from openral_robot_bridge.twins.sawyer.gripper import TwinGripper
from openral_robot_bridge.twins.trace import TraceKeeper

CYCLE_S = STEP_S * STEPS
GRIPPER_CYCLES = 5
"""Number of cycles between two states of the gripper."""
HELP = f"tell me: button on, button off, disable, fail, {TraceKeeper.words}, status, quit"


class SawyerTwin:
    """Serves one arm and its gripper; all calls but `tell` must come from one thread."""

    help = HELP

    def __init__(self, scene: DeployScene, address: str, say: Callable[[str], None]) -> None:
        """Compile the scene, and join the ROS 1 graph at `address`, with a new master if there is none.

        Args:
            scene: with a section `arm`.
            address: of the master, `host` or `host:port`.
            say: prints the answer to a command.

        Raises:
            OpenralError: the scene is invalid.
            SimulationError: the address is not of this machine.
        """
        robot = load_robot(scene.robot_id)
        self.arm = TwinArm(scene, robot, STEP_S)
        """The simulated arm."""
        limits = limits_of(robot)
        self._names = limits.names
        self._controller = SawyerController(self.arm, limits)
        self._types = MessageTypes(
            {**intera.DEFINITIONS, intera.SEA_JOINT_STATE: intera.SEA_JOINT_STATE_DEFINITION}
        )
        self._gripper = TwinGripper(self.arm, self._types)
        self._master = _master(address)
        self._node = Ros1Node("sawyer_twin", address, self._types)
        self._events: deque[Callable[[], None]] = deque()
        self._say = say
        self._trace = TraceKeeper()
        self._ended = False
        self._cycles = 0
        self._offer(limits)

    def tell(self, line: str) -> None:
        """Queue a command of HELP; may be called from any thread."""
        self._events.append(lambda: self._say(self._do(line)))

    def serve(self) -> None:
        """Serve until the command `quit`; the arm's time never runs ahead of wall time; delays are not caught up."""
        due = time.monotonic()
        try:
            while not self._ended:
                while self._events:
                    self._events.popleft()()
                self._controller.cycle()
                self._trace.note(self.arm)
                self._cycles += 1
                self._publish()
                due = max(due + CYCLE_S, time.monotonic())
                time.sleep(max(0.0, due - time.monotonic()))
        finally:
            self._node.close()
            if self._master is not None:
                self._master.close()

    def _offer(self, limits: Any) -> None:
        node, controller = self._node, self._controller
        node.set_parameter(intera.VERSION_PARAMETER, "5.3.0 (twin)")
        self._joint_states = node.publish(intera.JOINT_STATES, "sensor_msgs/JointState")
        self._state = node.publish(intera.STATE, "intera_core_msgs/RobotAssemblyState")
        self._collision = node.publish(intera.COLLISION, "intera_core_msgs/CollisionDetectionState")
        self._torques = node.publish(intera.TORQUES, intera.SEA_JOINT_STATE)
        self._gripper_state = node.publish(intera.GRIPPER_STATE, "intera_core_msgs/IODeviceStatus")
        self._limits = node.publish(intera.LIMITS, "intera_core_msgs/JointLimits", latch=True)
        # Head and screen come with the arm's joints, and the order is nobody's promise.
        self._limits.publish(
            self._types.make(
                "intera_core_msgs/JointLimits",
                joint_names=["head_pan", *reversed(limits.names)],
                position_lower=np.array([-5.0952, *limits.low[::-1]]),
                position_upper=np.array([0.9064, *limits.high[::-1]]),
                velocity=np.array([1.8, *limits.velocity[::-1]]),
                accel=np.array([5.0, *limits.acceleration[::-1]]),
                effort=np.zeros(len(limits.names) + 1),
            )
        )
        self._listen(intera.COMMAND, "intera_core_msgs/JointCommand", self._on_command)
        self._listen(intera.COMMAND_TIMEOUT, "std_msgs/Float64", lambda m: controller.set_timeout(m.data))
        self._listen(intera.ENABLE, "std_msgs/Bool", lambda m: controller.enable(m.data))
        self._listen(intera.RESET, "std_msgs/Empty", lambda m: controller.reset())
        self._listen(intera.STOP, "std_msgs/Empty", lambda m: controller.stop(intera.SOURCE_UNKNOWN))
        self._listen(intera.GRIPPER_COMMAND, "intera_core_msgs/IOComponentCommand", self._gripper.command)

    def _listen(self, topic: str, type_name: str, heard: Callable[[Any], None]) -> None:
        """Let what comes in other threads happen between two cycles."""
        self._node.subscribe(topic, type_name, lambda m: self._events.append(lambda: heard(m)))

    def _on_command(self, message: Any) -> None:
        """Take a command for all joints, in any order; in POSITION mode the twin holds where it is."""
        if set(message.names) != set(self._names) or message.mode != intera.VELOCITY_MODE:
            self._controller.hold()
        elif len(message.velocity) == len(self._names):
            order = [message.names.index(name) for name in self._names]
            self._controller.command(np.asarray(message.velocity)[order])

    def _publish(self) -> None:
        types, controller, arm, now = self._types, self._controller, self.arm, time.time()
        positions, velocities = arm.positions, arm.velocities
        effort = arm.carried - arm.external_torques
        header, state = types.header(now), controller.state
        self._joint_states.publish(
            types.make(
                "sensor_msgs/JointState",
                header=header,
                name=["head_pan", *self._names, "torso_t0"],
                position=np.array([0.0, *positions, 0.0]),
                velocity=np.array([0.0, *velocities, 0.0]),
                effort=np.array([0.0, *effort, 0.0]),
            )
        )
        self._state.publish(
            types.make(
                "intera_core_msgs/RobotAssemblyState",
                homed=True,
                ready=state.enabled,
                enabled=state.enabled,
                stopped=state.stopped,
                error=state.error,
                lowVoltage=False,
                estop_button=state.button,
                estop_source=state.source,
            )
        )
        self._collision.publish(
            types.make(
                "intera_core_msgs/CollisionDetectionState",
                header=header,
                collision_state=controller.colliding,
            )
        )
        self._torques.publish(self._efforts(header, positions, velocities, effort))
        if self._cycles % GRIPPER_CYCLES == 0:
            self._gripper_state.publish(self._gripper.cycle(now))

    def _efforts(self, header: Any, positions: Any, velocities: Any, effort: Any) -> Any:
        empty = np.zeros(0)
        names = (
            *(f"commanded_{what}" for what in ("position", "velocity", "acceleration", "effort")),
            *("gravity_only", "hysteresis_model_effort", "crosstalk_model_effort"),
        )
        return self._types.make(
            intera.SEA_JOINT_STATE,
            header=header,
            name=list(self._names),
            actual_position=positions,
            actual_velocity=velocities,
            actual_effort=effort,
            gravity_model_effort=self.arm.carried,
            hystState=0.0,
            **dict.fromkeys(names, empty),
        )

    def _do(self, line: str) -> str:
        words, controller = line.split(), self._controller
        if words[:1] == ["button"] and words[1:] in (["on"], ["off"]):
            controller.press(words[1] == "on")
        elif words == ["disable"]:
            controller.enable(False)
        elif words == ["fail"]:
            controller.fail()
        elif words == ["quit"]:
            self._ended = True
        elif words != ["status"] and (fault := self._trace.obey(words, HELP)):
            return fault
        state = controller.state
        mode = "moving" if controller.moving else "idle" if state.enabled else "disabled"
        mode = "stopped" if state.stopped else mode
        return f"{mode} cycles={self._cycles} commands={controller.commands} timeouts={controller.timeouts}"


def _master(address: str) -> Ros1Master | None:
    """Return a new master at an address; None: there is one already, such as a roscore.

    Raises:
        SimulationError: the address cannot be listened on.
    """
    host, port = master_address(address)
    try:
        call(f"http://{host}:{port}/", "getPid", "/sawyer_twin")
        return None
    except Ros1Error:
        pass  # the usual case
    try:
        return Ros1Master(host, port)
    except OSError as error:
        raise SimulationError(
            f"the twin cannot listen on {address}: {error.strerror}; choose another address"
        ) from error
