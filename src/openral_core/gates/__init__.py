"""The gates between a skill and what it is to run on; `openral_core.contract` puts them together."""

from openral_core.gates.finding import Finding, require

__all__ = ["Finding", "require"]
