"""Client of ros2_control's controller manager: checks and activates one controller."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from controller_manager_msgs.srv import ListControllers, SetHardwareComponentState, SwitchController
from lifecycle_msgs.msg import State
from rcl_interfaces.srv import GetParameters
from rclpy.node import Node

from openral_core.ros.service_call import ServiceNotFound, ServiceTimeout, call_service
from openral_robot_bridge.driver import ArmError

TRAJECTORY_TYPE = "joint_trajectory_controller/JointTrajectoryController"
ANSWER_S = 5.0
"""[s] timeout of the controller manager's services, in wall time."""


class ControllerManager:
    """Client of one controller manager; another thread than the calling one must spin the node."""

    def __init__(self, node: Node, manager: str, controller: str) -> None:
        """Create the clients without a call.

        Args:
            node: of the clients.
            manager: name of the controller manager's node.
            controller: name of the controller.
        """
        self._node, self._manager, self.controller = node, manager, controller
        self._list = node.create_client(ListControllers, f"{manager}/list_controllers")
        self._switch = node.create_client(SwitchController, f"{manager}/switch_controller")
        self._hardware = node.create_client(
            SetHardwareComponentState, f"{manager}/set_hardware_component_state"
        )

    def find(self) -> Any:
        """Return the state of the controller, as a controller_manager_msgs/ControllerState.

        Raises:
            ArmError: the controller manager does not answer, or has no such controller.
        """
        found = self._call(self._list, ListControllers.Request()).controller
        for state in found:
            if state.name == self.controller:
                return state
        known = ", ".join(sorted(state.name for state in found)) or "none"
        raise ArmError(
            f"{self._manager} has no controller {self.controller}; it has {known}; load it, or correct "
            "arm.ros2_control.controller in the scene"
        )

    def check(self, joints: Sequence[str]) -> None:
        """Require that the controller is an active trajectory controller of these joints.

        Raises:
            ArmError: it is not, or the controller manager does not answer.
        """
        state = self.find()
        if state.type != TRAJECTORY_TYPE:
            raise ArmError(
                f"controller {self.controller} is a {state.type}; name one of type {TRAJECTORY_TYPE}"
            )
        if state.state != "active":
            what = f"controller {self.controller} is {state.state}"
            fix = "call the service recover of its deployment, or without one run `openral robot recover`"
            raise ArmError(f"{what}; {fix} with the scene")
        claimed = {name.rpartition("/")[0] for name in state.claimed_interfaces}
        missing = [joint for joint in joints if joint not in claimed]
        if missing:
            raise ArmError(
                f"controller {self.controller} does not command {', '.join(missing)}; it commands "
                f"{', '.join(sorted(claimed)) or 'nothing'}; make its joints those of robot.yaml"
            )

    def rate_hz(self) -> float:
        """Return the rate [Hz] of the control cycle; 0: the controller manager does not report it."""
        client = self._node.create_client(GetParameters, f"{self._manager}/get_parameters")
        try:
            values = self._call(client, GetParameters.Request(names=["update_rate"])).values
            return float(values[0].integer_value) if values else 0.0
        finally:
            self._node.destroy_client(client)

    def activate(self, hardware: str | None) -> None:
        """Activate a hardware component, if one is named, then the controller.

        Raises:
            ArmError: the controller manager refuses, or does not answer.
        """
        if hardware is not None:
            active = State(id=State.PRIMARY_STATE_ACTIVE, label="active")
            request = SetHardwareComponentState.Request(name=hardware, target_state=active)
            answer = self._call(self._hardware, request)
            if not answer.ok:
                raise ArmError(
                    f"hardware component {hardware} stays {answer.state.label}; see the arm's own log"
                )
        switch = SwitchController.Request(
            activate_controllers=[self.controller], strictness=SwitchController.Request.BEST_EFFORT
        )
        self._call(self._switch, switch)
        state = self.find().state
        if state != "active":
            raise ArmError(f"controller {self.controller} stays {state}; see the controller manager's log")

    def _call(self, client: Any, request: Any) -> Any:
        try:
            return call_service(client, request, find_s=ANSWER_S, answer_s=ANSWER_S)
        except ServiceNotFound:
            raise ArmError(
                f"nobody offers {client.service_name} in ROS domain {self._node.context.get_domain_id()}; "
                "is ros2_control running there, with the same RMW, and reached from here?"
            ) from None
        except ServiceTimeout as error:
            raise ArmError(
                f"{error}; where the arm's ROS 2 is Humble, set ROS_DISTRO=humble here, too"
            ) from None
