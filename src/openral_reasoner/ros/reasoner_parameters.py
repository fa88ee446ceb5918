"""The parameters of the node `reasoner`: their defaults, and their values as settings."""

from __future__ import annotations

from typing import Any, get_args

from pydantic import BaseModel
from rclpy.node import Node

from openral_core.errors import ManifestError
from openral_core.scene import Resume
from openral_rskill.license import accepts_noncommercial


def declare_parameters(node: Node) -> None:
    """Declare the parameters that do not depend on the scene."""
    for name in ("scene", "mission", "run_dir", "memory_file", "resume"):
        node.declare_parameter(name, "")
    # Where the operator has accepted non-commercial licences, such skills may be used, too.
    commercial = not accepts_noncommercial()
    for name, flag in (("autostart", True), ("exit_when_done", False), ("commercial", commercial)):
        node.declare_parameter(name, flag)
    node.declare_parameter("await_monitor", False)


def settings_of(node: Node, prefix: str, defaults: BaseModel) -> dict[str, Any]:
    """Declare a parameter `prefix.field` for each field of a settings model, and return their values by field."""
    names = {name: f"{prefix}.{name}" for name in type(defaults).model_fields}
    for name, parameter in names.items():
        if not node.has_parameter(parameter):
            node.declare_parameter(parameter, getattr(defaults, name))
    return {name: node.get_parameter(parameter).value for name, parameter in names.items()}


def resume_policy(node: Node, of_scene: Resume) -> Resume:
    """Return the parameter `resume`, or the scene's policy where it is empty.

    Raises:
        ManifestError: it is none.
    """
    said = node.get_parameter("resume").value or of_scene
    for policy in get_args(Resume):
        if said == policy:
            return policy  # type: ignore[no-any-return]
    raise ManifestError(f"parameter resume: '{said}': use one of {', '.join(get_args(Resume))}")
