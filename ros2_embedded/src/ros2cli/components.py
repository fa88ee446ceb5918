"""Containers and their components, through the containers' services."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from .errors import CliError
from .services import call_once

if TYPE_CHECKING:
    from rclpy.node import Node

_LIST = "/_container/list_nodes"
_LIST_TYPE = "composition_interfaces/srv/ListNodes"


def containers(node: Node) -> list[str]:
    """Return the full names of the containers in the graph, sorted."""
    services = node.get_service_names_and_types()
    return sorted(
        name.removesuffix(_LIST) for name, types in services if name.endswith(_LIST) and _LIST_TYPE in types
    )


def listed(node: Node, container: str) -> list[tuple[int, str]]:
    """Return number and full name of each node in a container."""
    from composition_interfaces.srv import ListNodes

    answer = call_once(node, ListNodes, f"{container}{_LIST}", ListNodes.Request())
    return list(zip(answer.unique_ids, answer.full_node_names, strict=True))


def load(node: Node, container: str, request: Any) -> Any:
    """Load a component and return the container's answer; raise CliError when the container refuses."""
    from composition_interfaces.srv import LoadNode

    answer = call_once(node, LoadNode, f"{container}/_container/load_node", request)
    if not answer.success:
        raise CliError(answer.error_message)
    return answer


def unload(node: Node, container: str, number: int) -> None:
    """Unload the component with this number; raise CliError when the container refuses."""
    from composition_interfaces.srv import UnloadNode

    request = UnloadNode.Request()
    request.unique_id = number
    answer = call_once(node, UnloadNode, f"{container}/_container/unload_node", request)
    if not answer.success:
        raise CliError(f"cannot unload component {number} from '{container}': {answer.error_message}")


def add_load_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that say what to load."""
    parser.add_argument("package_name", help="the package")
    parser.add_argument("plugin_name", help="its component, such as my_robot::Camera")
    parser.add_argument("-n", "--node-name", default="", help="name of the node")
    parser.add_argument("--node-namespace", default="", help="namespace of the node")
    parser.add_argument("-r", "--remap-rule", action="append", default=[], metavar="OLD:=NEW", help="rename")
    parser.add_argument(
        "-p", "--parameter", action="append", default=[], metavar="NAME:=VALUE", help="set a parameter"
    )
    parser.add_argument(
        "-e", "--extra-argument", action="append", default=[], metavar="NAME:=VALUE", help="for the container"
    )


def load_request(args: argparse.Namespace) -> Any:
    """Return the request that the arguments ask for; raise CliError for a malformed one."""
    from composition_interfaces.srv import LoadNode

    request = LoadNode.Request()
    request.package_name = args.package_name
    request.plugin_name = args.plugin_name
    request.node_name = args.node_name
    request.node_namespace = args.node_namespace
    request.remap_rules = [":=".join(_pair(word, "remap rule")) for word in args.remap_rule]
    request.parameters = [_parameter(word) for word in args.parameter]
    request.extra_arguments = [_parameter(word) for word in args.extra_argument]
    return request


def _pair(word: str, what: str) -> tuple[str, str]:
    name, separator, value = word.partition(":=")
    if not (name and separator):
        raise CliError(f"malformed {what} '{word}'; write name:=value")
    return name, value


def _parameter(word: str) -> Any:
    from rclpy.parameter import Parameter

    from .parameters import parse_value

    name, text = _pair(word, "parameter")
    return Parameter(name, value=parse_value(text)).to_parameter_msg()
