"""The gates between a skill and what it is to run on; `openral_rskill.compatibility` puts them together."""

from openral_rskill.checks.finding import Finding, require

__all__ = ["Finding", "require"]
