"""Names of recipes that the shell's Tab key completes; see `openral_core.cli.completion`."""

from __future__ import annotations


def recipes(incomplete: str) -> list[str]:
    """Return names of recipes for policies and reward models."""
    return _recipes(incomplete, of_detector=False)


def detector_recipes(incomplete: str) -> list[str]:
    """Return names of recipes for detectors."""
    return _recipes(incomplete, of_detector=True)


def _recipes(incomplete: str, *, of_detector: bool) -> list[str]:
    from openral_training.training_recipe import recipe_names

    return [name for name in recipe_names(of_detector=of_detector) if name.startswith(incomplete)]
