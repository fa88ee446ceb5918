"""Skills for Python programs: `from openral_rskill.loader import rSkill`."""
