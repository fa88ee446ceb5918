"""Validation of a scene's `backend_options`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from openral_core.errors import nearest
from openral_core.schema import Fault, faults_of
from openral_core.simulator_options.families import FAMILIES


def no_simulator(family: str) -> tuple[str, str]:
    """Return the fault of an unknown simulator's name, and its fix."""
    like = nearest(family, tuple(FAMILIES))
    fix = f"did you mean '{like}'?" if like else f"use one of {', '.join(FAMILIES)}"
    return f"there is no simulator '{family}'", fix


def option_faults(options: Mapping[str, Any]) -> list[Fault]:
    """Return what is wrong with a scene's `backend_options`, by their keys; without options nothing is.

    A family that is like none of openral's is left to whoever builds its world.
    """
    if not options:
        return []
    if "family" not in options:
        meant = next((key for key in options if nearest(key, ("family",))), None)
        if meant is not None:
            return [Fault(meant, "unknown key", "did you mean 'family'?")]
        return [Fault("family", "is missing", f"name a simulator: {', '.join(FAMILIES)}")]
    family = options["family"]
    if not isinstance(family, str):
        return [Fault("family", "is no word", f"name a simulator: {', '.join(FAMILIES)}")]
    if family not in FAMILIES:
        what, fix = no_simulator(family)
        return [Fault("family", what, fix)] if nearest(family, tuple(FAMILIES)) else []
    return faults_of(FAMILIES[family], dict(options))
