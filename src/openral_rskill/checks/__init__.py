"""Checks (gates) of whether a skill can run on a robot in a scene; `openral_rskill.compatibility` combines them."""

from openral_rskill.checks.finding import Finding, require

__all__ = ["Finding", "require"]
