"""The table of sidecars: ours, and those that other distributions add.

An entry point of group `openral.sidecars` has the sidecar's name as its name and `module:SPEC` as its value, where SPEC
is a `SidecarSpec`. Its module is imported in our interpreter to be read, and its server's module in the sidecar's.
"""

from __future__ import annotations

from openral_core.errors import NotFoundError, SidecarError
from openral_core.plugin_table import load_plugin, plugin_targets
from openral_sidecar.environment.spec import SidecarSpec

GROUP = "openral.sidecars"
"""Entry-point group of sidecars that live in other distributions."""

BUILT_IN = {
    "lerobot": "openral_policy_nodes.families.lerobot.spec:SPEC",
    "lerobot_pi": "openral_policy_nodes.families.lerobot.spec:SPEC_PI",
    "libero": "openral_sim_bridge.backends.libero.spec:SPEC",
    "openvla_oft": "openral_policy_nodes.families.openvla_oft.spec:SPEC",
    "rldx": "openral_policy_nodes.families.rldx.spec:SPEC",
    "robometer": "openral_reward_monitor.models.robometer.spec:SPEC",
    "robosuite": "openral_sim_bridge.backends.robosuite.spec:SPEC",
    "zeroshot_detector": "openral_perception.detectors.zeroshot.spec:SPEC",
}
"""Name -> `module:SPEC`, imported only when that sidecar is asked for."""


def sidecar_names() -> list[str]:
    """Return the names of all sidecars, sorted."""
    return sorted(plugin_targets(GROUP, BUILT_IN))


def sidecar_spec(name: str) -> SidecarSpec:
    """Return the spec of that name.

    Raises:
        SidecarError: no such sidecar (the text lists what there is), or its spec is not one.
    """
    try:
        spec = load_plugin(GROUP, BUILT_IN, name)
    except NotFoundError as error:
        raise SidecarError(f"sidecar: {error}") from error
    if not isinstance(spec, SidecarSpec):
        raise SidecarError(
            f"sidecar {name!r}: {type(spec).__name__} is not a SidecarSpec; fix its entry point"
        )
    return spec
