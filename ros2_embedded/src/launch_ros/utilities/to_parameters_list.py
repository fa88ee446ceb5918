"""Parameters as messages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from launch import LaunchContext

from ..namespaces import join_name


def to_parameters_list(
    context: LaunchContext, node_name: str | None, namespace: str, evaluated_parameters: Iterable[Any]
) -> list[Any]:
    """Return the `rcl_interfaces/msg/Parameter`s of what `evaluate_parameters` returned.

    Args:
        context: the launch's state.
        node_name: the node, whose section of files counts; None for `/**` only.
        namespace: its namespace.
        evaluated_parameters: paths, pairs and dicts.
    """
    from rclpy.parameter import Parameter, parameter_dict_from_yaml_file

    target = None if node_name is None else join_name(namespace, node_name)
    found: list[Any] = []
    for item in evaluated_parameters:
        if isinstance(item, Mapping):
            pairs = list(item.items())
        elif isinstance(item, tuple):
            pairs = [item]
        else:
            values = parameter_dict_from_yaml_file(str(item), True, [target] if target else None)
            found += values.values()
            continue
        found += [Parameter(name, value=_plain(value)).to_parameter_msg() for name, value in pairs]
    return found


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
