"""What parameter files hold for one node."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import yaml


def parameters_for_node(path: str | Path, full_name: str) -> dict[str, Any]:
    """Return the values by name that a file has for a node; what stands further down wins.

    Args:
        path: of the file; one without a section `ros__parameters` is for every node.
        full_name: of the node, which the patterns of the file are held against.

    Raises:
        RuntimeError: a pattern of the file has more than two asterisks in a row.
    """
    from rclpy.arguments import matches_node, read_parameter_file

    content = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    if not isinstance(content, dict) or not has_sections(content):
        return content or {}
    found: dict[str, Any] = {}
    for pattern, name, value in read_parameter_file(path):
        if "***" in pattern:
            raise RuntimeError(f"invalid yaml file {path}: '{pattern}' is no pattern for nodes; write /**")
        if matches_node(pattern, full_name):
            found[name] = value
    if not found:
        warnings.warn(
            f"parameter file {path} has nothing for the node {full_name}", UserWarning, stacklevel=2
        )
    return found


def has_sections(values: dict[Any, Any]) -> bool:
    """Return whether there is a section `ros__parameters` at any depth."""
    inner = [value for value in values.values() if isinstance(value, dict)]
    return "ros__parameters" in values or any(map(has_sections, inner))
