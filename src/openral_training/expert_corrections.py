"""Corrections: a scripted expert takes over where a policy failed, in the states that the policy reaches itself.

The policy attempts the task first. An attempt that succeeds is left out. One that fails is executed again, without
rendering, up to a random control step, and the expert does the task from there (DAgger, Ross et al. 2011, arXiv
1011.0686). Only the expert's part is recorded. Where a recipe has a delay of pictures, a third of the attempts have
pictures that are late, by anything up to it, and a third have answers that are.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from openral_core.errors import SimulationError
from openral_data.episode import Episode
from openral_training.acting_skill import ActingSkill, Delays
from openral_training.disturbed_expert import CORRECTION, demonstrate
from openral_training.experts.world import ExpertWorld
from openral_training.training_recipe import Recipe

ATTEMPT_STEPS = 200
"""Most control steps of the policy's attempt."""
TAKE_OVERS = ((8, 60), (60, ATTEMPT_STEPS))
"""Least and most control steps before the expert takes over: while the policy is on its way, and once it is stuck."""
DRAWS = 2
"""Control steps that are tried in each range, since an expert cannot finish from every state."""


def corrections(
    world: ExpertWorld,
    recipe: Recipe,
    task_id: str,
    init_id: int,
    skill: ActingSkill,
    rng: np.random.Generator,
) -> list[Episode]:
    """Let a skill attempt a task, and record how the expert does it after a failure.

    Returns one episode for each range of TAKE_OVERS in which the expert succeeded; none where the skill did.

    Args:
        world: is reset.
        recipe: the tasks that are judged, how often a frame is recorded, and the instruction of the skill.
        task_id: the task.
        init_id: initial state of the attempt.
        skill: that attempts the task.
        rng: draws the attempt's delays, and the control steps at which the expert takes over.
    """
    failed = _failed_attempt(world, recipe, task_id, init_id, skill, _delays(recipe, task_id, rng))
    episodes: list[Episode] = []
    for number, (least, most) in enumerate(TAKE_OVERS if failed else ()):
        for _ in range(DRAWS):
            before = failed[: int(rng.integers(least, most))]
            try:
                _taken_over(world, recipe, task_id, init_id, number, before, look=False)
            except SimulationError:
                continue
            # As in `collect.perform`, cameras are rendered once the expert has succeeded.
            episodes.append(_taken_over(world, recipe, task_id, init_id, number, before, look=True))
            break
    return episodes


def _delays(recipe: Recipe, task_id: str, rng: np.random.Generator) -> Delays:
    """Draw the delays of an attempt: none, that of pictures, or that of answers."""
    longest = round(recipe.picture_delay_s * recipe.scene_for(task_id).control_hz)
    if not longest:
        return Delays()
    late = int(rng.integers(1, longest + 1))
    return (Delays(), Delays(pictures=late), Delays(answers=late))[rng.integers(3)]


def _failed_attempt(
    world: ExpertWorld, recipe: Recipe, task_id: str, init_id: int, skill: ActingSkill, delays: Delays
) -> list[NDArray[np.float64]]:
    """Return the actions of an attempt that fails; an empty list where it succeeds."""
    world.reset(task_id, init_id)
    world.begin(task_id)
    actions = []
    instruction = recipe.tasks[task_id].train[0]
    for action in skill.attempt(world, recipe, task_id, instruction, ATTEMPT_STEPS, delays):
        actions.append(action)
        world.step(action)
        if world.verdicts()[task_id].success:
            return []
    return actions


def _taken_over(
    world: ExpertWorld,
    recipe: Recipe,
    task_id: str,
    init_id: int,
    number: int,
    before: list[NDArray[np.float64]],
    *,
    look: bool,
) -> Episode:
    """Record the expert after the actions `before`. Raises SimulationError where it does not succeed."""
    world.reset(task_id, init_id)
    for action in before:
        world.step(action)
    # This behaviour has no disturbances; the generator draws only how long it is recorded after success.
    return demonstrate(
        world, recipe, task_id, init_id, number, CORRECTION, np.random.default_rng(init_id), look
    )
