"""Evaluated parameters as those of rclpy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from launch import LaunchContext

from ..namespaces import join_name
from ..parameter_files import parameters_for_node


def to_parameters_list(
    context: LaunchContext, node_name: str | None, namespace: str, evaluated_parameters: Iterable[Any]
) -> list[Any]:
    """Return the `rclpy.parameter.Parameter`s of what `evaluate_parameters` returned.

    Args:
        context: the launch's state.
        node_name: the node's name, whose sections of files count; None for those for every node.
        namespace: its namespace.
        evaluated_parameters: paths, pairs and dicts.

    Raises:
        RuntimeError: a file has a wrong pattern, or a value is of no type that parameters have.
    """
    from rclpy.parameter import Parameter

    full_name = join_name(f"/{namespace.strip('/')}", (node_name or "").strip("/"))
    found: list[Any] = []
    for item in evaluated_parameters:
        if isinstance(item, Mapping):
            values = dict(item)
        else:
            values = dict([item]) if isinstance(item, tuple) else parameters_for_node(item, full_name)
        for name, value in values.items():
            try:
                found.append(Parameter(name, value=list(value) if isinstance(value, tuple) else value))
            except (TypeError, ValueError) as error:
                raise RuntimeError(f"invalid parameter value {value!r} of '{name}': {error}") from error
    return found
