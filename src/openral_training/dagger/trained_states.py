"""The initial states of a run's attempts, in the manifest of the skills that it trains."""

from __future__ import annotations

from openral_core.scene import SimScene
from openral_core.schema import InitRange
from openral_rskill.license import is_evaluated
from openral_training.mapping.dataset_recipe import SkillRecipe


def with_trained_states(recipe: SkillRecipe, scene: SimScene, states: InitRange) -> SkillRecipe:
    """Return a recipe whose manifest names these states as seen in training, so that no benchmark judges on them.

    Args:
        recipe: is returned as it is where its manifest names all of them already.
        scene: has the task of the attempts.
        states: of the attempts.
    """
    task, known = scene.task, recipe.manifest.trained_init_ids
    for entry, named in known.items():
        is_for_it = is_evaluated([entry], task.id, task.scene_id)
        if is_for_it and named.first <= states.first and states.ids().stop <= named.ids().stop:
            return recipe
    trained = {**known, task.id: states.covering(known.get(task.id))}
    manifest = recipe.manifest.model_copy(update={"trained_init_ids": trained})
    return recipe.model_copy(update={"manifest": manifest})
