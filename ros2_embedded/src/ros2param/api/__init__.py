"""Parameters of other nodes, as programs ask for them through the command line's functions."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

import yaml
from rcl_interfaces.msg import Parameter

import rclpy
from rclpy.parameter import (
    PARAMETER_SEPARATOR_STRING,
    get_parameter_value,
    parameter_dict_from_yaml_file,
    parameter_value_to_python,
)
from rclpy.parameter_client import AsyncParameterClient
from rclpy.task import Future
from ros2cli.node.direct import DirectNode
from ros2cli.parameters import TYPE_NAMES

__all__ = [
    "ParameterNameCompleter",
    "call_describe_parameters",
    "call_get_parameters",
    "call_list_parameters",
    "call_set_parameters",
    "get_parameter_type_string",
    "get_parameter_value",
    "get_value",
    "load_parameter_dict",
    "load_parameter_file",
    "parse_parameter_dict",
]
_SERVICE_TIMEOUT_S = 5.0
_TYPE_NAMES = dict(enumerate(TYPE_NAMES))


def get_value(*, parameter_value: Any) -> Any:
    """Return a `ParameterValue` as a Python value, None when it is not set or of an unknown type."""
    if parameter_value.type not in _TYPE_NAMES:
        return None
    return parameter_value_to_python(parameter_value)


def get_parameter_type_string(parameter_type: int) -> str:
    """Return the name of a type in `ParameterType`; raise KeyError for another number."""
    return _TYPE_NAMES[parameter_type]


def parse_parameter_dict(*, namespace: str, parameter_dict: dict[str, Any]) -> list[Any]:
    """Return nested values as a list of `rcl_interfaces/msg/Parameter`, dots between the groups."""
    found: list[Any] = []
    for name, value in parameter_dict.items():
        full = f"{namespace}{name}"
        if isinstance(value, dict):
            inner = f"{full}{PARAMETER_SEPARATOR_STRING}"
            found += parse_parameter_dict(namespace=inner, parameter_dict=value)
        else:
            text = value if isinstance(value, str) else yaml.safe_dump(value, default_flow_style=True)
            text = text.removesuffix("...\n").strip() if not isinstance(value, str) else text
            found.append(Parameter(name=full, value=get_parameter_value(text)))
    return found


def _client(node: Any, node_name: str) -> AsyncParameterClient:
    """A client of a node's parameter services, which are there.

    Raises:
        RuntimeError: they do not appear in time.
    """
    client = AsyncParameterClient(_real(node), node_name)
    if not client.wait_for_services(timeout_sec=_SERVICE_TIMEOUT_S):
        raise RuntimeError("Wait for service timed out")
    return client


def _real(node: Any) -> Any:
    return node.node if isinstance(node, DirectNode) else node


def _answer(node: Any, node_name: str, future: Future[Any]) -> Any:
    rclpy.spin_until_future_complete(_real(node), future)
    if future.result() is None:
        raise RuntimeError(f"Exception while calling service of node '{node_name}': {future.exception()}")
    return future.result()


def call_describe_parameters(*, node: Any, node_name: str, parameter_names: list[str] | None = None) -> Any:
    """Return the `DescribeParameters` response of a node; raise RuntimeError when it does not answer."""
    client = _client(node, node_name)
    return _answer(node, node_name, client.describe_parameters(parameter_names or []))


def call_get_parameters(*, node: Any, node_name: str, parameter_names: list[str]) -> Any:
    """Return the `GetParameters` response of a node; raise RuntimeError when it does not answer."""
    return _answer(node, node_name, _client(node, node_name).get_parameters(parameter_names))


def call_set_parameters(*, node: Any, node_name: str, parameters: list[Any]) -> Any:
    """Return the `SetParameters` response of a node; raise RuntimeError when it does not answer."""
    return _answer(node, node_name, _client(node, node_name).set_parameters(parameters))


def call_list_parameters(
    *, node: Any, node_name: str, prefixes: list[str] | None = None
) -> Future[Any] | None:
    """Return the done future of a node's `ListParameters` response, None when its services do not appear."""
    client = AsyncParameterClient(_real(node), node_name)
    if not client.wait_for_services(timeout_sec=_SERVICE_TIMEOUT_S):
        return None
    future = client.list_parameters(prefixes=prefixes or [])
    rclpy.spin_until_future_complete(_real(node), future)
    return future


def load_parameter_dict(*, node: Any, node_name: str, parameter_dict: dict[str, Any]) -> None:
    """Set parameters of a node from nested values, and print what came of each."""
    _set_and_report(node, node_name, parse_parameter_dict(namespace="", parameter_dict=parameter_dict))


def load_parameter_file(*, node: Any, node_name: str, parameter_file: str, use_wildcard: bool) -> None:
    """Set parameters of a node from a YAML file, and print what came of each.

    Raises:
        RuntimeError: the file holds nothing for the node, or the node does not answer.
    """
    found = parameter_dict_from_yaml_file(parameter_file, use_wildcard, target_nodes=[node_name])
    _set_and_report(node, node_name, list(found.values()))


def _set_and_report(node: Any, node_name: str, parameters: Iterable[Any]) -> None:
    wanted = list(parameters)
    response = call_set_parameters(node=node, node_name=node_name, parameters=wanted)
    for parameter, result in zip(wanted, response.results, strict=True):
        reason = f": {result.reason}" if result.reason else ""
        if result.successful:
            sys.stdout.write(f"Set parameter {parameter.name} successful{reason}\n")
        else:
            sys.stderr.write(f"Set parameter {parameter.name} failed{reason}\n")


class ParameterNameCompleter:
    """Completes parameter names on a command line."""

    def __call__(self, prefix: str, parsed_args: Any, **_: Any) -> list[str]:
        """Return the parameters of the node named by the arguments."""
        with DirectNode(parsed_args) as node:
            future = call_list_parameters(node=node, node_name=parsed_args.node_name)
            answer = None if future is None else future.result()
            return [] if answer is None else list(answer.result.names)
