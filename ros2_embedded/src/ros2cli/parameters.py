"""Parameters of other nodes, through their services."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from .errors import CliError
from .services import call_once

if TYPE_CHECKING:
    from rclpy.node import Node

TYPE_NAMES = (
    "not set",
    "boolean",
    "integer",
    "double",
    "string",
    "byte array",
    "boolean array",
    "integer array",
    "double array",
    "string array",
)
"""Names of the types in `rcl_interfaces/msg/ParameterType`, by number."""


def type_name(number: int) -> str:
    """Return the name of a type; what a node may answer beside those of ROS is named by its number."""
    return TYPE_NAMES[number] if number < len(TYPE_NAMES) else f"unknown type {number}"


def list_names(node: Node, target: str, prefixes: Iterable[str] = ()) -> list[str]:
    """Return the names of a node's parameters, sorted."""
    from rcl_interfaces.srv import ListParameters

    request = ListParameters.Request()
    request.prefixes = list(prefixes)
    return sorted(call_once(node, ListParameters, f"{target}/list_parameters", request).result.names)


def get_values(node: Node, target: str, names: list[str]) -> list[Any]:
    """Return the `rcl_interfaces/msg/ParameterValue` of each name."""
    from rcl_interfaces.srv import GetParameters

    request = GetParameters.Request()
    request.names = names
    return list(call_once(node, GetParameters, f"{target}/get_parameters", request).values)


def get_descriptors(node: Node, target: str, names: list[str]) -> list[Any]:
    """Return the `rcl_interfaces/msg/ParameterDescriptor` of each name."""
    from rcl_interfaces.srv import DescribeParameters

    request = DescribeParameters.Request()
    request.names = names
    return list(call_once(node, DescribeParameters, f"{target}/describe_parameters", request).descriptors)


def set_values(node: Node, target: str, values: dict[str, Any]) -> list[Any]:
    """Set parameters from plain values and return the node's `SetParametersResult` of each."""
    from rcl_interfaces.srv import SetParameters

    from rclpy.parameter import Parameter

    request = SetParameters.Request()
    for name, value in values.items():
        try:
            request.parameters.append(Parameter(name, value=value).to_parameter_msg())
        except TypeError as error:
            raise CliError(f"parameter '{name}' cannot have the value {value!r}") from error
    return list(call_once(node, SetParameters, f"{target}/set_parameters", request).results)


def plain_value(value: Any) -> Any:
    """Return a `ParameterValue` as a plain value, None when not set; raise CliError for an unknown type."""
    from rclpy.parameter import parameter_value_to_python

    try:
        plain = parameter_value_to_python(value)
    except RuntimeError as error:
        raise CliError(str(error)) from error
    return list(plain) if hasattr(plain, "__iter__") and not isinstance(plain, (str, bytes)) else plain


def parse_value(text: str) -> Any:
    """Return what the text of a parameter means to a node: `1`, `1e-3`, `true`, `[a, b]`, or text."""
    import yaml

    from rclpy.impl.parameter_yaml import read
    from rclpy.parameter import Parameter, normalise

    try:
        value = read(text)
    except yaml.YAMLError:
        return text
    if value is None or isinstance(value, dict):
        return text
    try:
        Parameter("", value=normalise(value))
    except TypeError:  # such as [1, a]
        return text
    return normalise(value)


def load_file(path: str, target: str, use_wildcard: bool = True) -> dict[str, Any]:
    """Return the values that a parameter file holds for a node; raise CliError for a file that holds none.

    Args:
        path: the YAML file.
        target: full name of the node.
        use_wildcard: whether sections such as `/**` count; what is for the node alone comes first.
    """
    from rclpy.arguments import ROSArgumentError, matches_node, read_parameter_file
    from rclpy.parameter import normalise

    try:
        entries = read_parameter_file(path)
    except ROSArgumentError as error:
        raise CliError(error.reason.replace("\n", " ")) from error
    fitting = [entry for entry in entries if matches_node(entry[0], target)]
    general = [entry for entry in fitting if "*" in entry[0] and use_wildcard]
    own = [entry for entry in fitting if "*" not in entry[0]]
    if not general and not own:
        known = ", ".join(dict.fromkeys(pattern for pattern, _, _ in entries)) or "nothing"
        raise CliError(
            f"Param file does not contain any valid parameters for {target}: '{path}' has some for {known}"
        )
    return {name: normalise(value) for _, name, value in [*general, *own]}
