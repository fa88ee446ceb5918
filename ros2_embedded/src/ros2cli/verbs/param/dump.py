"""ros2 param dump."""

from __future__ import annotations

import argparse
from typing import Any

from ...node import cli_node
from ...nodes import add_node_arguments, chosen_node
from ...parameters import get_values, list_names, plain_value
from ...topics import write


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    add_node_arguments(parser)


def main(args: argparse.Namespace) -> int:
    """Print the parameters of a node in the form of a parameter file."""
    import yaml

    from rclpy.impl.parameter_yaml import ParameterDumper

    with cli_node() as node:
        target = chosen_node(node, args)
        names = list_names(node, target)
        # One by one: a node answers nothing at all when one of the parameters has no value.
        found = [(name, value) for name in names for value in get_values(node, target, [name])]
    tree: dict[str, Any] = {}
    for name, value in found:
        _put(tree, name.split("."), plain_value(value))
    write(yaml.dump({target: {"ros__parameters": tree}}, Dumper=ParameterDumper, sort_keys=True))
    return 0


def _put(tree: dict[str, Any], path: list[str], value: Any) -> None:
    while len(path) > 1 and isinstance(tree.get(path[0], {}), dict):
        tree = tree.setdefault(path[0], {})
        path = path[1:]
    tree[".".join(path)] = value  # with its dots, where the group is the name of a parameter as well
