"""Which fields each kind of skill needs and which it refuses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from openral_core.manifest.family_rules import family_rule
from openral_core.schema import Fault

_SECTIONS = ("ros_integration", "detector", "reward", "playbook")
_VLA_FIELDS = (
    "model_family",
    "actuators_required",
    "n_action_steps",
    "processors",
    "image_preprocessing",
    "state_contract",
    "action_contract",
    "sim_env_control_mode",
    "starting_pose",
    "start_poses",
    "envelope",
    "reward_rskill_name",
)
_JUDGED_BY = "reward_rskill_name"


@dataclass(frozen=True)
class KindRule:
    """The rule of one kind."""

    needs: tuple[str, ...] = ()
    """Fields that must be there."""
    refuses: tuple[str, ...] = ()
    """Fields that must not be there."""
    fixed: Mapping[str, Any] = field(default_factory=dict)
    """Fields that can have one value only."""


def _without(*kept: str) -> tuple[str, ...]:
    return tuple(name for name in _SECTIONS if name not in kept)


_ROS = KindRule(
    needs=("ros_integration",),
    refuses=(*_without("ros_integration"), *_VLA_FIELDS, "weights_uri"),
    fixed={"chunk_size": 1},
)
KIND_RULES: dict[str, KindRule] = {
    "vla": KindRule(needs=("model_family", "weights_uri", "actuators_required"), refuses=_without()),
    "wam": KindRule(needs=("weights_uri",), refuses=(*_without(), _JUDGED_BY)),
    "ros_action": _ROS,
    "ros_service": _ROS,
    "detector": KindRule(
        needs=("detector", "weights_uri"), refuses=(*_without("detector"), "actuators_required", _JUDGED_BY)
    ),
    "vlm": KindRule(needs=("weights_uri",), refuses=(*_without(), "actuators_required", _JUDGED_BY)),
    "reward": KindRule(
        needs=("reward", "weights_uri"), refuses=(*_without("reward"), "actuators_required", _JUDGED_BY)
    ),
    "playbook": KindRule(
        needs=("playbook",),
        refuses=(*_without("playbook"), *_VLA_FIELDS, "weights_uri"),
        fixed={"role": "s2", "chunk_size": 1, "actions": ("plan",)},
    ),
}


def kind_faults(kind: str, values: Mapping[str, Any]) -> list[Fault]:
    """Compare a manifest's fields with the rule of its kind; an empty list or None counts as absent."""
    rule = KIND_RULES[kind]
    absent = (None, ())
    family = family_rule(values["model_family"])
    waived = ("weights_uri",) if family is not None and family.served else ()
    faults = [
        Fault(name, f"is missing for kind {kind}", "add it")
        for name in rule.needs
        if values[name] in absent and name not in waived
    ]
    faults += [
        Fault(name, f"means nothing for kind {kind}", "remove it")
        for name in rule.refuses
        if values[name] not in absent
    ]
    faults += [
        Fault(name, f"must be {_shown(value)} for kind {kind}", f"write {_shown(value)}")
        for name, value in rule.fixed.items()
        if values[name] != value
    ]
    return faults


def _shown(value: Any) -> str:
    return f"[{', '.join(value)}]" if isinstance(value, tuple) else str(value)
