"""The services through which other nodes read and set parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rcl_interfaces.msg import ParameterDescriptor, SetParametersResult
from rcl_interfaces.srv import (
    DescribeParameters,
    GetParameters,
    GetParameterTypes,
    ListParameters,
    SetParameters,
    SetParametersAtomically,
)

from rclpy.exceptions import ParameterNotDeclaredException, ParameterUninitializedException
from rclpy.parameter import Parameter
from rclpy.passed_on import pass_on
from rclpy.qos import qos_profile_parameters

if TYPE_CHECKING:
    from rclpy.node import Node


class ParameterService:
    """The six parameter services of a node."""

    def __init__(self, node: Node) -> None:
        """Create the services below the node's name."""
        self._node, self._has_warned = node, False
        for kind, name, callback in (
            (DescribeParameters, "describe_parameters", self._describe),
            (GetParameters, "get_parameters", self._get),
            (GetParameterTypes, "get_parameter_types", self._get_types),
            (ListParameters, "list_parameters", self._list),
            (SetParameters, "set_parameters", self._set),
            (SetParametersAtomically, "set_parameters_atomically", self._set_atomically),
        ):
            node.create_service(kind, f"~/{name}", callback, qos_profile=qos_profile_parameters)

    def _describe(self, request: Any, response: Any) -> Any:
        for name in request.names:
            try:
                response.descriptors.append(self._node.describe_parameter(name))
            except ParameterNotDeclaredException:
                response.descriptors = [ParameterDescriptor() for _ in request.names]
                break
        return response

    def _get(self, request: Any, response: Any) -> Any:
        for name in request.names:
            try:
                parameter = self._node.get_parameter(name)
            except (ParameterNotDeclaredException, ParameterUninitializedException) as error:
                self._warn_once(f"Failed to get parameters: {error}")
                response.values = []
                break
            response.values.append(parameter.get_parameter_value())
        return response

    def _warn_once(self, text: str) -> None:
        """Log the first of what others ask for in vain: no peer must be able to flood the log."""
        if not self._has_warned:
            self._has_warned = True
            self._node.get_logger().warning(f"{text}; further ones are not logged")

    def _get_types(self, request: Any, response: Any) -> Any:
        known = self._node._parameters
        response.types = [known[name].type_.value if name in known else 0 for name in request.names]
        return response

    def _list(self, request: Any, response: Any) -> Any:
        response.result = self._node.list_parameters(list(request.prefixes), request.depth)
        return response

    def _set_one(self, messages: list[Any]) -> Any:
        try:
            return self._node.set_parameters_atomically([Parameter.from_parameter_msg(m) for m in messages])
        except (ParameterNotDeclaredException, ValueError, TypeError) as error:
            return SetParametersResult(successful=False, reason=str(error))

    def _set(self, request: Any, response: Any) -> Any:
        response.results = [self._set_one([message]) for message in request.parameters]
        return response

    def _set_atomically(self, request: Any, response: Any) -> Any:
        response.result = self._set_one(list(request.parameters))
        return response


pass_on(__name__)
