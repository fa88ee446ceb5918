"""Parameters of nodes that are numbers within bounds."""

from __future__ import annotations

from rclpy.node import Node

from openral_core.errors import ContractError

SHORTEST_S = 0.001
"""[s] the shortest span of time that a parameter gives; 0 would be over before it began."""
HOUR_S = 3600.0
"""[s] the longest time that a node is told to wait for an answer or a picture."""


def number_of(node: Node, name: str, *, least: float, most: float, unit: str) -> float:
    """Return the value of a declared parameter, from `least` to `most`, both of them allowed.

    Raises:
        ContractError: the value is not a number, or out of bounds; names parameter, unit and bounds.
    """
    value = float(node.get_parameter(name).value)
    if not least <= value <= most:  # NaN compares as neither
        raise ContractError(f"parameter {name} is {value:g}; give {unit} from {least:g} to {most:g}")
    return value


def seconds_of(node: Node, name: str, *, most: float = HOUR_S) -> float:
    """Return the value of a declared parameter that is a span of time [s]. Raises ContractError as `number_of`."""
    return number_of(node, name, least=SHORTEST_S, most=most, unit="seconds")
