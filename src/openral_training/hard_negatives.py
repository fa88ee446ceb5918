"""Scripted motions that look like a task without doing it, or hardly do it, for a model that judges success.

The success of every frame is the simulator's judgement, so a motion that happens to do the task counts as a success.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from openral_core.errors import SimulationError
from openral_data.episode import Episode
from openral_training.disturbed_expert import (
    MAX_STEPS,
    SETTLE,
    STAY,
    DemonstrationRecorder,
    moved,
    wander_actor,
)
from openral_training.experts.world import ExpertWorld
from openral_training.training_recipe import Recipe, drawn_states

LONG = 400
"""Control steps of a motion that lasts as long as an attempt may at most."""
WITHDRAWAL = (10, 50)
"""Least and most control steps in which the arm moves away."""
SHARE_DONE = (0.4, 0.98)
"""Range of the share of the steps that the expert needs after which `half_done` leaves it."""
LINGERING = "lingering"
"""Behaviour that goes on around the success, which most of its frames show; training alone has it."""
LINGER_STEPS = 160
"""Control steps of `lingering` after the first success."""
DRIFTS = (4, 14)
"""Least and most control steps of one of its motions."""
DRIFT_SPEED = (0.05, 0.4)
"""Range of the length of a drift's displacements, in units of a command."""
SOURCES = 4
"""Other initial states that are tried until the expert succeeds in one."""

_Rng = np.random.Generator
Action = NDArray[np.float64]
Script = Iterator[Action]
"""Actions (A,) in -1..1, one per control step. The next one is requested after the last one was executed."""


def replayed(world: ExpertWorld, task_id: str, init_id: int, pool: Sequence[int], rng: _Rng) -> Script:
    """Replay the actions by which an expert succeeded from another initial state; then hold still.

    Raises:
        SimulationError: the expert succeeded from none of SOURCES other states.
    """
    gesture: list[Action] = []
    for source in drawn_states(pool, SOURCES, rng, without=init_id):
        world.reset(task_id, source)
        gesture = _executed(world, _expert(world, task_id))
        if world.verdicts()[task_id].success:
            break
    else:
        raise SimulationError(f"{task_id}: the expert succeeded from none of {SOURCES} other states")
    world.reset(task_id, init_id)
    world.begin(task_id)
    yield from gesture
    yield from _still(world, rng)


def constant(world: ExpertWorld, task_id: str, init_id: int, pool: Sequence[int], rng: _Rng) -> Script:
    """Move in one direction throughout, with a probability of 0.5 along one axis."""
    direction = rng.uniform(-1, 1, 3)
    if rng.random() < 0.5:
        axis = int(rng.integers(3))
        direction = np.where(np.arange(3) == axis, np.sign(direction[axis]) * rng.uniform(0.3, 1.0), 0.0)
    action = moved(world.advice(), direction, float(rng.choice([-1.0, 1.0])))
    for _ in range(LONG):
        yield action


def long_wander(world: ExpertWorld, task_id: str, init_id: int, pool: Sequence[int], rng: _Rng) -> Script:
    """Move in a new random direction every few steps."""
    act = wander_actor(rng)
    for step in range(LONG):
        yield act(step, world.advice())


def half_done(world: ExpertWorld, task_id: str, init_id: int, pool: Sequence[int], rng: _Rng) -> Script:
    """Follow the expert for a part of its way, then move away and hold still."""
    needed = len(_executed(world, _expert(world, task_id, settle=0)))
    world.reset(task_id, init_id)
    world.begin(task_id)
    for _ in range(int(rng.uniform(*SHARE_DONE) * needed)):
        yield world.advice()
    yield from _away(world, rng)
    yield from _still(world, rng)


def undone(world: ExpertWorld, task_id: str, init_id: int, pool: Sequence[int], rng: _Rng) -> Script:
    """Do the task, then another one of the same world, which undoes it; then move away or not, and hold still."""
    yield from _expert(world, task_id)
    others = [other for other in world.task_ids if other != task_id]
    yield from _expert(world, str(rng.choice(others)))
    if rng.random() < 0.5:
        yield from _away(world, rng)
    yield from _still(world, rng)


def parked(world: ExpertWorld, task_id: str, init_id: int, pool: Sequence[int], rng: _Rng) -> Script:
    """Move to two places and hold still at each, with a probability of 0.5 after a task of this world was done."""
    if rng.random() < 0.5:
        yield from _expert(world, str(rng.choice(world.task_ids)))
    for _ in range(2):
        yield from _away(world, rng)
        yield from _still(world, rng)


def lingering(world: ExpertWorld, task_id: str, init_id: int, pool: Sequence[int], rng: _Rng) -> Script:
    """Do the task and go on around where it is only just done: drift away at random, return with the expert, or wait.

    The experts stop soon after the first success, so all of theirs are at the edge of what counts. A policy's are not.
    """
    yield from _expert(world, task_id, settle=0)
    left = LINGER_STEPS
    while left > 0:
        steps = min(left, int(rng.integers(*DRIFTS)))
        left -= steps
        kind, direction = rng.random(), rng.normal(size=3)
        drift = rng.uniform(*DRIFT_SPEED) * direction / np.linalg.norm(direction)
        for _ in range(steps):
            advice = world.advice()
            yield (
                advice
                if kind < 0.4
                else moved(advice, drift, advice[-1])
                if kind < 0.8
                else world.hold(advice)
            )


SCRIPTS: dict[str, Callable[[ExpertWorld, str, int, Sequence[int], _Rng], Script]] = {
    "replayed": replayed,
    "constant": constant,
    "long_wander": long_wander,
    "half_done": half_done,
    "undone": undone,
    "parked": parked,
    LINGERING: lingering,
}
"""Behaviour -> (world, task, initial state, initial states that gestures may come from, rng) -> its actions."""


def scripts_for(recipe: Recipe, task_id: str) -> tuple[str, ...]:
    """Return the behaviours that miss a task, so not LINGERING; `undone` needs another task in the same world."""
    alone = len(recipe.world_of(task_id)) == 1
    left_out = {LINGERING, "undone"} if alone else {LINGERING}
    return tuple(name for name in SCRIPTS if name not in left_out)


def act_out(
    world: ExpertWorld,
    recipe: Recipe,
    task_id: str,
    init_id: int,
    behaviour: str,
    pool: Sequence[int],
    rng: np.random.Generator,
) -> Episode:
    """Record one behaviour from an initial state.

    Args:
        world: is reset.
        recipe: the tasks that are judged, and how often a frame is recorded.
        task_id: the task that it resembles.
        init_id: initial state.
        behaviour: one of SCRIPTS.
        pool: initial states from which actions may be replayed.
        rng: source of every random choice.

    Raises:
        SimulationError: see `replayed`.
    """
    world.reset(task_id, init_id)
    world.begin(task_id)
    script = SCRIPTS[behaviour](world, task_id, init_id, pool, rng)
    return record(world, recipe, task_id, init_id, behaviour, script)


def record(
    world: ExpertWorld, recipe: Recipe, task_id: str, init_id: int, behaviour: str, script: Script
) -> Episode:
    """Record a script; the labels of the episode are the executed actions, and not an expert's.

    Args:
        world: is in the initial state after the first action was requested.
        recipe: the tasks that are judged, and how often a frame is recorded.
        task_id: the task that it resembles.
        init_id: initial state, for the record.
        behaviour: its name, for the record.
        script: its actions.
    """
    action = next(script)
    recorder = DemonstrationRecorder(world, recipe)
    recorder.record_unjudged(action)
    world.step(action)
    for action in script:
        recorder.record_unjudged(action)
        world.step(action)
    recorder.record_unjudged(action)
    return recorder.episode(task_id, behaviour, init_id, 0)


def _expert(world: ExpertWorld, task_id: str, settle: int = SETTLE) -> Script:
    """Do a task until it was done for more than `settle` steps, or for MAX_STEPS."""
    world.begin(task_id)
    streak = 0
    for _ in range(MAX_STEPS):
        streak = streak + 1 if world.verdicts()[task_id].success else 0
        if streak > settle:
            return
        action = world.advice()
        yield action


def _executed(world: ExpertWorld, script: Script) -> list[Action]:
    """Execute a script without recording it, and return its actions."""
    actions = []
    for action in script:
        world.step(action)
        actions.append(action)
    return actions


def _away(world: ExpertWorld, rng: np.random.Generator) -> Script:
    """Move in one random direction, mostly upwards."""
    action = moved(world.advice(), rng.uniform((-1, -1, -0.3), 1), float(rng.choice([-1.0, 1.0])))
    for _ in range(int(rng.integers(*WITHDRAWAL))):
        yield action


def _still(world: ExpertWorld, rng: np.random.Generator) -> Script:
    """Hold still."""
    action = world.hold(world.advice())
    for _ in range(int(rng.integers(*STAY))):
        yield action
