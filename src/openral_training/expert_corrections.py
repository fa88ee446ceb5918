"""A scripted expert takes over where a policy failed, so that the policy learns from the states it leads itself into.

The policy attempts the task first. An attempt that succeeds teaches nothing and is left out; one that fails is executed
again without pictures up to a moment drawn at random, and the expert does the task from there (DAgger, Ross et al.
2011, arXiv 1011.0686). Only what the expert does is recorded.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from openral_core.errors import SimulationError
from openral_data.episode import Episode
from openral_training.acting_skill import ActingSkill
from openral_training.disturbed_expert import CORRECTION, demonstrate
from openral_training.experts.world import ExpertWorld
from openral_training.training_recipe import Recipe

ATTEMPT_STEPS = 200
"""Control steps that the policy has."""
TAKE_OVERS = ((8, 60), (60, ATTEMPT_STEPS))
"""Least and most control steps before the expert takes over, a range for each episode: on the way, and stuck."""
DRAWS = 2
"""Moments tried in each range, since an expert cannot finish from everywhere."""


def corrections(
    world: ExpertWorld,
    recipe: Recipe,
    task_id: str,
    init_id: int,
    skill: ActingSkill,
    rng: np.random.Generator,
) -> list[Episode]:
    """Let a skill attempt a task, and record how the expert goes on after its failure.

    Returns one episode for each range of TAKE_OVERS in which the expert succeeded; none where the skill did.

    Args:
        world: is reset.
        recipe: the tasks to judge at every step, how often a frame is recorded, and what the skill is told.
        task_id: the task.
        init_id: where the attempt begins.
        skill: whose attempt it is.
        rng: source of the moments.
    """
    failed = _failed_attempt(world, recipe, task_id, init_id, skill)
    episodes: list[Episode] = []
    for number, (least, most) in enumerate(TAKE_OVERS if failed else ()):
        for _ in range(DRAWS):
            before = failed[: int(rng.integers(least, most))]
            try:
                _taken_over(world, recipe, task_id, init_id, number, before, look=False)
            except SimulationError:
                continue
            # As in `collect.perform`, pictures are taken once it is known that the expert succeeds.
            episodes.append(_taken_over(world, recipe, task_id, init_id, number, before, look=True))
            break
    return episodes


def _failed_attempt(
    world: ExpertWorld, recipe: Recipe, task_id: str, init_id: int, skill: ActingSkill
) -> list[NDArray[np.float64]]:
    """Return the actions of an attempt that fails; none of one that succeeds."""
    world.reset(task_id, init_id)
    world.begin(task_id)
    actions = []
    for action in skill.attempt(world, recipe, task_id, recipe.tasks[task_id].train[0], ATTEMPT_STEPS):
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
    # The expert disturbs nothing, so that nothing is drawn.
    return demonstrate(
        world, recipe, task_id, init_id, number, CORRECTION, np.random.default_rng(init_id), look
    )
