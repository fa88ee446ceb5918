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
    """Return a `ParameterValue` as a plain value, None when it is not set."""
    from rclpy.parameter import parameter_value_to_python

    plain = parameter_value_to_python(value)
    return list(plain) if hasattr(plain, "__iter__") and not isinstance(plain, (str, bytes)) else plain


def parse_value(text: str) -> Any:
    """Return what the text of a parameter means, read as YAML: `1`, `1.0`, `true`, `[a, b]`, or text."""
    import yaml

    from rclpy.parameter import Parameter, normalise

    try:
        value = yaml.safe_load(text)
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
        use_wildcard: whether the section `/**` counts, below the node's own.
    """
    import yaml

    from rclpy.parameter import normalise

    try:
        with open(path, encoding="utf-8") as file:
            content = yaml.safe_load(file)
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise CliError(f"cannot read parameter file '{path}': {error}".replace("\n", " ")) from error
    if not isinstance(content, dict):
        raise CliError(f"parameter file '{path}' holds no mapping of node names to 'ros__parameters'")
    sections = ["/**"] if use_wildcard else []
    values: dict[str, Any] = {}
    for section in [*sections, target.lstrip("/"), target]:
        held = content.get(section) or {}
        found = (held.get("ros__parameters") or {}) if isinstance(held, dict) else held
        if not isinstance(found, dict):
            raise CliError(
                f"parameter file '{path}': 'ros__parameters' of '{section}' is no mapping: {found!r}"
            )
        values.update(_flatten(found, ""))
    if not values:
        raise CliError(
            f"parameter file '{path}' holds nothing for '{target}'; it has: {', '.join(map(str, content))}"
        )
    return {name: normalise(value) for name, value in values.items()}


def _flatten(values: dict[str, Any], above: str) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, dict):
            flat.update(_flatten(value, f"{above}{name}."))
        else:
            flat[f"{above}{name}"] = value
    return flat
