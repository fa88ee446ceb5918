"""What a scene may say to its simulator, its `backend_options`: looked at when the scene is loaded."""

from openral_core.simulator_options.check import no_simulator, option_faults
from openral_core.simulator_options.families import FAMILIES

__all__ = ["FAMILIES", "no_simulator", "option_faults"]
