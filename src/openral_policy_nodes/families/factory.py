"""The table of policy families, by which the code that runs a skill of kind `vla` is found.

A family is a function `load(package: RSkillPackage, device: str) -> Policy`. Other distributions add families with an
entry point of group `openral.policy_families`, whose name is the manifest's `model_family` and whose value is
`module:function`.
"""

from __future__ import annotations

from collections.abc import Callable

from openral_core.errors import NotFoundError, PolicyError
from openral_core.plugin_table import load_plugin
from openral_core.types import Policy
from openral_rskill.registry import RSkillPackage

GROUP = "openral.policy_families"
"""Entry-point group of families in other distributions."""

_LEROBOT = ("smolvla", "act", "diffusion", "pi0", "pi05", "xvla")
BUILT_IN = {
    "external": "openral_policy_nodes.families.external.policy:load",
    "fake": "openral_policy_nodes.fake:load",
    "mini": "openral_policy_nodes.families.mini.policy:load",
    "rldx": "openral_policy_nodes.families.rldx.policy:load",
    "openvla": "openral_policy_nodes.families.openvla_oft.policy:load",
    **dict.fromkeys(_LEROBOT, "openral_policy_nodes.families.lerobot.policy:load"),
}
"""Family name -> `module:function`, imported only when a skill of that family is loaded."""

FamilyLoader = Callable[[RSkillPackage, str], Policy]
"""The `load` function of a family."""


def load_policy(package: RSkillPackage, device: str = "cpu") -> Policy:
    """Load the policy of a skill.

    Args:
        package: the skill, whose manifest names the family (`model_family`).
        device: torch device of the inference (`cpu`, `cuda`, `cuda:1`).

    Raises:
        PolicyError: the family is unknown, its code is not installed, or the weights cannot be loaded.
    """
    try:
        loader: FamilyLoader = load_plugin(GROUP, BUILT_IN, package.manifest.model_family)
    except NotFoundError as error:
        raise PolicyError(f"{package.manifest.name}: policy family (model_family): {error}") from error
    return loader(package, device)
