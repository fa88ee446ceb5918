"""The option `--recipe`, whose names the shell's Tab key completes."""

from __future__ import annotations

from typing import Annotated

import typer

HELP = "Name of a shipped recipe, or path of one."


def recipes(incomplete: str) -> list[str]:
    """Return the names of recipes for policies and reward models that begin so."""
    return _recipes(incomplete, of_detector=False)


def detector_recipes(incomplete: str) -> list[str]:
    """Return the names of recipes for detectors that begin so."""
    return _recipes(incomplete, of_detector=True)


def _recipes(incomplete: str, *, of_detector: bool) -> list[str]:
    from openral_training.training_recipe import recipe_names  # not for every `--help`

    return [name for name in recipe_names(of_detector=of_detector) if name.startswith(incomplete)]


RecipeOption = Annotated[str, typer.Option("--recipe", autocompletion=recipes, help=HELP)]
DetectorRecipeOption = Annotated[str, typer.Option("--recipe", autocompletion=detector_recipes, help=HELP)]
