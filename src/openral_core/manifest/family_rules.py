"""What the manifests of one family must have, and which optional fields its code reads.

Other distributions add the rules of their families with an entry point of group `openral.family_rules`: its name is the
`model_family`, its value `module:RULE`, a `FamilyRule`. Keep that module light: it is imported to read a manifest.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from typing import Any

from openral_core.schema import Fault

GROUP = "openral.family_rules"
CODE_GROUPS = ("openral.policy_families", "openral.reward_families")
"""Entry-point groups by which other distributions bring the code of a family."""
_log = logging.getLogger(__name__)

OPTIONAL_FIELDS = (
    "processors",
    "image_preprocessing.history",
    "image_preprocessing.norm_tag",
    "image_preprocessing.image_max_crops",
    "sim_env_control_mode",
    "quantization.extra",
    "policy_extras",
)
"""Fields that mean something to some families only; a family names those that it reads."""
_FIXES = {
    "processors": "name both files",
    "image_preprocessing.history": "write the control steps back from now, such as [-6, -4, -2, 0]",
    "image_preprocessing.image_size": "write [height, width] in px as the checkpoint takes them",
    "image_preprocessing.norm_tag": "name the checkpoint's own statistics that hold here",
}


@dataclass(frozen=True)
class FamilyRule:
    """The rule of one family."""

    needs: tuple[str, ...] = ()
    """Fields that must be there; dots lead into nested fields."""
    cameras: int = 0
    """Cameras (modality rgb) with a feature key that it takes at least."""
    reads: tuple[str, ...] = ()
    """Those of `OPTIONAL_FIELDS` that its code reads besides the needed ones."""
    spawn_variable: str = ""
    """Variable that is `0` where a server that runs already holds the weights, so that none are needed here."""
    served: bool = False
    """Weights are always held by somebody else's server, so that the manifest need not say where they are."""


_LEROBOT = FamilyRule(needs=("processors",), reads=("image_preprocessing.history", "policy_extras"))
RULES: dict[str, FamilyRule] = {
    "act": _LEROBOT,
    "diffusion": _LEROBOT,
    "external": FamilyRule(
        needs=("policy_extras", "action_contract"), reads=("image_preprocessing.history",), served=True
    ),
    "fake": FamilyRule(reads=("image_preprocessing.history", "policy_extras")),
    "mini": FamilyRule(),
    "openvla": FamilyRule(
        needs=("image_preprocessing.norm_tag", "image_preprocessing.image_size", "action_contract"),
        reads=("policy_extras",),
    ),
    "pi0": _LEROBOT,
    "pi05": _LEROBOT,
    "rldx": FamilyRule(
        needs=(
            "image_preprocessing.history",
            "image_preprocessing.image_size",
            "state_contract",
            "action_contract",
        ),
        cameras=2,
        reads=("policy_extras",),
        spawn_variable="OPENRAL_RLDX_AUTO_SPAWN",
    ),
    "robometer": FamilyRule(reads=("quantization.extra", "policy_extras")),
    "sim_truth": FamilyRule(reads=("policy_extras",)),
    "smolvla": _LEROBOT,
    "xvla": _LEROBOT,
}
"""Family -> rule, for the families of openral itself."""


@cache
def family_rule(family: str | None) -> FamilyRule | None:
    """Return the rule of a family; None where nothing is known about it."""
    if family in RULES:
        return RULES[str(family)]
    for entry in entry_points(group=GROUP, name=family or ""):
        try:
            rule = entry.load()
        except Exception as error:  # noqa: BLE001  a broken package of others must not hide the fault of a manifest
            why = f"{type(error).__name__}: {error}"
            _log.warning("the rule of family %s (%s) cannot be loaded: %s", family, entry.value, why)
            return None
        if isinstance(rule, FamilyRule):
            return rule
        _log.warning("the rule of family %s (%s) is no FamilyRule", family, entry.value)
    return None


def known_families() -> list[str]:
    """Return the families that something on this machine knows: openral's own, and those of other distributions."""
    others = {entry.name for group in (GROUP, *CODE_GROUPS) for entry in entry_points(group=group)}
    return sorted({*RULES, *others})


def family_faults(family: str | None, values: Mapping[str, Any]) -> list[Fault]:
    """Compare a manifest's fields with the rule of its family; an empty list or None counts as absent."""
    rule = family_rule(family)
    if rule is None:
        return []
    faults = [
        Fault(name, f"is missing for family {family}", _FIXES.get(name, "add it"))
        for name in rule.needs
        if not is_stated(values, name)
    ]
    keyed = [s for s in values["sensors_required"] if s.modality == "rgb" and s.vla_feature_key]
    if len(keyed) < rule.cameras:
        what = f"has {len(keyed)} rgb sensors with a vla_feature_key, family {family} takes {rule.cameras}"
        faults.append(Fault("sensors_required", what, "add the missing ones"))
    return faults


def unread_fields(family: str | None, values: Mapping[str, Any]) -> list[str]:
    """Return the optional fields that are stated although the family's code reads none of them."""
    rule = family_rule(family)
    if rule is None:
        return []
    return [
        name for name in OPTIONAL_FIELDS if name not in (*rule.needs, *rule.reads) and is_stated(values, name)
    ]


def server_elsewhere(family: str | None, environment: Mapping[str, str] = os.environ) -> str | None:
    """Return the setting by which somebody else's server holds the weights of a family, or None."""
    rule = family_rule(family)
    if rule is not None and rule.served:
        return "policy_extras.url"
    name = rule.spawn_variable if rule else ""
    return f"{name}=0" if name and environment.get(name) == "0" else None


def is_stated(values: Mapping[str, Any], dots: str) -> bool:
    """Whether a manifest states a field, such as `image_preprocessing.norm_tag`."""
    first, *rest = dots.split(".")
    value = values[first]
    for name in rest:
        value = getattr(value, name, None)
    return value not in (None, (), {}, [])
