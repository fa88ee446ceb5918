"""Maps the manifest of a skill to its motion."""

from __future__ import annotations

from openral_control.motions.catalogue import MOTIONS
from openral_control.motions.params import params_schema
from openral_core.errors import ContractError
from openral_core.manifest import RSkillManifest

INTERFACE = "openral/action/ExecuteSkill"
PREFIX = "motion-"
"""Prefix of the short names of skills that are motions: motion-pick-at is the motion pick_at."""


def motion_name(manifest: RSkillManifest) -> str:
    """Return the name of the motion of a manifest.

    Raises:
        ContractError: it is not that of a motion, or its parameters differ from those of the code.
    """
    name = manifest.short_name.removeprefix(PREFIX).replace("-", "_")
    wrapped = manifest.ros_integration
    if manifest.kind != "ros_action" or wrapped is None or wrapped.interface_type != INTERFACE:
        raise ContractError(
            f"{manifest.name} is of kind {manifest.kind}; a motion is a ros_action of {INTERFACE}"
        )
    if name not in MOTIONS or not manifest.short_name.startswith(PREFIX):
        known = ", ".join(PREFIX + motion.replace("_", "-") for motion in MOTIONS)
        raise ContractError(f"{manifest.name} is no motion; there are {known}")
    if manifest.goal_params_schema != params_schema(name):
        raise ContractError(
            f"{manifest.name}: goal_params_schema is not that of the motion {name}; "
            "take the manifest of this version of openral"
        )
    return name
