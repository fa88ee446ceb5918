"""The service through which other nodes ask what a type of this node looks like (REP 2016)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rcl_interfaces.msg import ParameterDescriptor
from type_description_interfaces.msg import (
    Field,
    FieldType,
    IndividualTypeDescription,
    TypeDescription,
    TypeSource,
)
from type_description_interfaces.srv import GetTypeDescription

from rclpy.parameter import Parameter
from rclpy.passed_on import pass_on
from ros2_embedded.rosidl.registry import InterfaceNotFoundError, source_file
from ros2_embedded.rosidl.type_hash import describe, type_hash

if TYPE_CHECKING:
    from rclpy.node import Node

START_TYPE_DESCRIPTION_SERVICE_PARAM = "start_type_description_service"


def _individual(described: dict[str, Any]) -> Any:
    """One type as `IndividualTypeDescription`."""
    fields = [Field(name=entry["name"], type=FieldType(**entry["type"])) for entry in described["fields"]]
    return IndividualTypeDescription(type_name=described["type_name"], fields=fields)


def _sources(names: list[str]) -> list[Any]:
    """The definition files of types; one that rosidl derives (`X_Request`) is marked implicit."""
    found = []
    for name in names:
        path = source_file(name)
        explicit = path is not None and path.stem == name.rpartition("/")[2]
        text = path.read_text("utf-8") if path is not None and explicit else ""
        encoding = path.suffix[1:] if path is not None and explicit else "implicit"
        found.append(TypeSource(type_name=name, encoding=encoding, raw_file_contents=text))
    return found


class TypeDescriptionService:
    """`~/get_type_description` of a node; the parameter `start_type_description_service` switches it off."""

    def __init__(self, node: Node) -> None:
        """Declare the parameter and create the service.

        Raises:
            InvalidParameterTypeException: the parameter is no bool.
        """
        self._node = node
        if not node.has_parameter(START_TYPE_DESCRIPTION_SERVICE_PARAM):
            node.declare_parameter(
                START_TYPE_DESCRIPTION_SERVICE_PARAM,
                True,
                ParameterDescriptor(
                    name=START_TYPE_DESCRIPTION_SERVICE_PARAM,
                    type=Parameter.Type.BOOL.value,
                    description="Offer ~/get_type_description.",
                    read_only=True,
                ),
            )
        self.enabled = bool(node.get_parameter(START_TYPE_DESCRIPTION_SERVICE_PARAM).value)
        if self.enabled:
            self._service = node.create_service(GetTypeDescription, "~/get_type_description", self._describe)

    def _describe(self, request: Any, response: Any) -> Any:
        """Answer; a type whose hash differs from the one asked for is refused."""
        name = request.type_name
        try:
            known = type_hash(name)
        except (InterfaceNotFoundError, ValueError, OSError) as error:  # also where its file cannot be read
            response.failure_reason = str(error)
            return response
        if request.type_hash and request.type_hash != known:
            response.failure_reason = f"{name} has the hash {known} here, not {request.type_hash}"
            return response
        described = describe(name)
        referenced = described["referenced_type_descriptions"]
        response.type_description = TypeDescription(
            type_description=_individual(described["type_description"]),
            referenced_type_descriptions=[_individual(entry) for entry in referenced],
        )
        if request.include_type_sources:
            response.type_sources = _sources([name, *(entry["type_name"] for entry in referenced)])
        response.successful = True
        return response


pass_on(__name__)
