"""The error of substitutions."""

from __future__ import annotations


class SubstitutionFailure(RuntimeError):
    """A substitution could not be performed; the text says what was missing."""
