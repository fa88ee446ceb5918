"""The table of sidecars: the built-in ones, and those of other distributions.

An entry point of group `openral.sidecars` has the sidecar's name as its name and `module:SPEC` as its value, where SPEC
is a `SidecarSpec`. Its module is imported in openral's interpreter, and the server's module in the sidecar's.
"""

from __future__ import annotations

from openral_core.errors import NotFoundError, SidecarError
from openral_core.plugin_table import load_plugin, plugin_targets
from openral_sidecar.environment.spec import SidecarSpec

GROUP = "openral.sidecars"
"""Entry-point group of sidecars of other distributions."""

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
"""Name -> `module:SPEC`, which is imported only when that sidecar is requested."""


def sidecar_names() -> list[str]:
    """Return the names of all sidecars, sorted."""
    return sorted(plugin_targets(GROUP, BUILT_IN))


def sidecar_spec(name: str) -> SidecarSpec:
    """Return the spec of that name.

    Raises:
        SidecarError: there is no such sidecar (the message lists all), or the entry point is not a `SidecarSpec`.
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
