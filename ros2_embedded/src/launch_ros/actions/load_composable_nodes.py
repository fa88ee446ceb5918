"""Nodes for a container that runs."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import yaml

from launch import Action, LaunchContext, LaunchDescriptionEntity, SomeSubstitutionsType
from launch.frontend import Entity, Parser, expose_action
from launch.logging import get_logger
from launch.utilities import normalize_to_list_of_substitutions, perform_substitutions

from ..descriptions import ComposableNode
from ..namespaces import join_name
from ..parameter_arguments import ParameterArgument, global_parameters, own_parameters
from ..parameter_files import parameters_for_node
from ..ros_adapters import get_ros_node
from ..service_calls import call_service
from ..utilities.namespace_utils import prefix_namespace
from ..utilities.track_node_names import add_node_name

if TYPE_CHECKING:
    from .composable_node_container import ComposableNodeContainer


@expose_action("load_composable_node")
class LoadComposableNodes(Action):
    """Loads nodes into a container, one after the other, as soon as it answers.

    Args:
        composable_node_descriptions: what to load.
        target_container: full name of the container, or the action that runs it.
    """

    def __init__(
        self,
        *,
        composable_node_descriptions: Iterable[ComposableNode],
        target_container: SomeSubstitutionsType | ComposableNodeContainer,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.__composable_node_descriptions = list(composable_node_descriptions)
        self.__target_container: Any = (
            target_container
            if isinstance(target_container, Action)
            else normalize_to_list_of_substitutions(target_container)
        )
        self.__requests: list[Any] | None = None
        self.__logger = get_logger("launch_ros")

    @classmethod
    def parse(cls, entity: Entity, parser: Parser) -> tuple[Any, dict[str, Any]]:
        """Return how to make the action of an element in markup."""
        _, kwargs = super().parse(entity, parser)
        kwargs["target_container"] = parser.parse_substitution(entity.get_attr("target"))
        kwargs["composable_node_descriptions"] = parse_composable_nodes(entity, parser)
        return cls, kwargs

    def describe(self) -> str:
        """Return how many nodes there are."""
        return f"LoadComposableNodes({len(self.__composable_node_descriptions)} nodes)"

    def prepare(self, context: LaunchContext) -> None:
        """Work out what to ask the container for."""
        if self.__requests is None:
            self.__requests = [
                request
                for description in self.__composable_node_descriptions
                if (request := get_composable_node_load_request(description, context)) is not None
            ]

    def execute(self, context: LaunchContext) -> list[LaunchDescriptionEntity] | None:
        """Ask the container, which may still be on its way; the launch goes on meanwhile."""
        self.prepare(context)
        context.add_completion_future(asyncio.ensure_future(self.__load(context, self.__container(context))))
        return None

    def __container(self, context: LaunchContext) -> str:
        if not isinstance(self.__target_container, list):
            return str(self.__target_container.node_name)
        name = perform_substitutions(context, self.__target_container)
        return name if name.startswith("/") else f"/{name}"

    async def __load(self, context: LaunchContext, container: str) -> None:
        from composition_interfaces.srv import LoadNode

        client = get_ros_node(context).create_client(LoadNode, f"{container}/_container/load_node")
        for request in self.__requests or ():
            answer = await call_service(context, client, request)
            if answer is None:
                return
            if answer.success:
                add_node_name(context, answer.full_node_name)
                self.__logger.info(f"Loaded node '{answer.full_node_name}' in container '{container}'")
            else:
                self.__logger.error(
                    f"Failed to load node '{request.node_name}' of type '{request.plugin_name}' "
                    f"in container '{container}': {answer.error_message}"
                )


def get_composable_node_load_request(
    composable_node_description: ComposableNode, context: LaunchContext
) -> Any | None:
    """Return the request for a description, None when its condition does not hold."""
    condition = composable_node_description.condition()
    if condition is not None and not condition.evaluate(context):
        return None
    return load_request(context, composable_node_description)


def load_request(context: LaunchContext, description: ComposableNode) -> Any:
    """Return the `composition_interfaces/srv/LoadNode` request for a description."""
    from composition_interfaces.srv import LoadNode

    request = LoadNode.Request()
    request.package_name = perform_substitutions(context, description.package)
    request.plugin_name = perform_substitutions(context, description.node_plugin)
    if description.node_name is not None:
        request.node_name = perform_substitutions(context, description.node_name)
    own = (
        None
        if description.node_namespace is None
        else perform_substitutions(context, description.node_namespace)
    )
    namespace = prefix_namespace(context.launch_configurations.get("ros_namespace"), own)
    request.node_namespace = namespace or ""
    rules = list(context.launch_configurations.get("ros_remaps", []))
    rules += [
        (perform_substitutions(context, old), perform_substitutions(context, new))
        for old, new in description.remappings
    ]
    request.remap_rules = [f"{old}:={new}" for old, new in rules]
    full_name = join_name(namespace or "/", request.node_name)
    label = full_name.strip("/").replace("/", "-") or request.plugin_name.replace("::", "-")
    given = global_parameters(context)
    given += own_parameters(context, description.parameters, "/**", label, flat_files=True)
    request.parameters = _messages(given, full_name)
    extra = own_parameters(context, description.extra_arguments, "/**", f"{label}-extra", flat_files=True)
    request.extra_arguments = _messages(extra, full_name)
    return request


def _messages(arguments: list[ParameterArgument], full_name: str) -> list[Any]:
    """Return the `rcl_interfaces/msg/Parameter`s that a node of this name takes from arguments."""
    from rclpy.parameter import Parameter

    found: list[Any] = []
    for text, is_file in arguments:
        if is_file:
            values = parameters_for_node(text, full_name)
        else:
            name, _, value = text.partition(":=")
            values = {name: yaml.safe_load(value)}
        found += [Parameter(name, value=value).to_parameter_msg() for name, value in values.items()]
    return found


def parse_composable_nodes(entity: Entity, parser: Parser, *, optional: bool = False) -> list[ComposableNode]:
    """Return the descriptions in the elements `composable_node`."""
    nodes = []
    for element in entity.get_attr("composable_node", data_type=list[Entity], optional=optional) or ():
        made, keywords = ComposableNode.parse(parser, element)
        nodes.append(made(**keywords))
    return nodes
