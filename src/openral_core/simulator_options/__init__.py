"""Schemas of the `backend_options` of scenes, which are validated when a scene is loaded."""

from openral_core.simulator_options.check import no_simulator, option_faults
from openral_core.simulator_options.families import FAMILIES

__all__ = ["FAMILIES", "no_simulator", "option_faults"]
