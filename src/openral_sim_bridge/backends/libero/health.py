"""Checks of `openral doctor` for LIBERO, which is optional; an incomplete installation is a fault."""

from __future__ import annotations

from openral_core.doctor_check import Check
from openral_core.errors import SimulationError
from openral_sidecar.environment.build import environment_folder, is_built
from openral_sim_bridge.backends.libero.assets import VARIABLE, find_assets
from openral_sim_bridge.backends.libero.spec import SPEC


def checks() -> list[Check]:
    """Return one check of the environment and one of the assets."""
    return [_environment(), _assets()]


def _environment() -> Check:
    if is_built(SPEC):
        return Check("libero", True, str(environment_folder(SPEC)))
    return Check("libero", True, "not built; for its scenes: openral sidecar build libero")


def _assets() -> Check:
    try:
        folder = find_assets()
    except SimulationError as error:
        return Check(
            "libero assets", False, str(error), f"export {VARIABLE}=<folder or tar.xz of LIBERO's assets>"
        )
    if folder is not None:
        return Check("libero assets", True, str(folder))
    return Check(
        "libero assets", True, "not here; for its scenes: python -m openral_sim_bridge.backends.libero.assets"
    )
