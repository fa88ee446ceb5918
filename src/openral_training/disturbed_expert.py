"""Demonstrations of scripted experts that are disturbed on purpose, so that a policy learns to recover.

There are three disturbances: an unrecorded push in a random direction before a leg, bursts of random motion, and
Gaussian noise on the executed actions. The label is always the action of the undisturbed expert in the state that was
reached (DART, Laskey et al. 2017, arXiv 1703.09327).

After a task is done, or where it was done before the leg began, the arm holds still: the scripted experts do not detect
that a task is done, and would go on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from openral_core.adapters.state_layout import state_vector
from openral_core.errors import SimulationError
from openral_data.episode import Episode, encode_png
from openral_training.experts.world import ExpertWorld, TaskJudgement
from openral_training.training_recipe import Recipe

SETTLE = 12
"""Control steps that the expert goes on after success, so that the task is not only just done."""
STAY = (16, 40)
"""Least and most control steps recorded after success, so that a policy learns to stand still there."""
MAX_STEPS = 300
"""Control steps after which a leg counts as failed."""
NOISE_STD = 0.15
"""Standard deviation of the noise on displacements, in units of a command."""
BURST_CHANCE = 0.03
CORRECTION = "correction"
"""Behaviour of an expert that takes over from a policy, see `openral_training.expert_corrections`."""

Actor = Callable[[int, NDArray[np.float64]], NDArray[np.float64]]
"""(step, the expert's action) -> the action that is executed."""


@dataclass
class DemonstrationRecorder:
    """Records one leg, with the simulator's judgement of every task of the recipe."""

    world: ExpertWorld
    recipe: Recipe
    look: bool = True
    """Whether the cameras are rendered."""
    images: dict[str, list[bytes]] = field(default_factory=dict)
    """PNG files of the recorded frames, by feature key."""
    rows: list[tuple[NDArray[Any], ...]] = field(default_factory=list)
    """State, success (K,), distances (K,) twice, and landmarks of each recorded frame."""
    labels: list[NDArray[np.float64]] = field(default_factory=list)
    """One for each control step."""

    def record(self, label: NDArray[np.float64]) -> dict[str, bool]:
        """Record the current state with its label; return whether each task of the scene is solved in it."""
        verdicts = self.world.verdicts()
        self._note(label, lambda: verdicts)
        return {task_id: verdict.success for task_id, verdict in verdicts.items()}

    def record_unjudged(self, label: NDArray[np.float64]) -> None:
        """Record the current state with its label; tasks are judged in recorded frames alone, which saves time.

        Judging takes as long as a control step.
        """
        self._note(label, self.world.verdicts)

    def _note(self, label: NDArray[np.float64], verdicts: Callable[[], Mapping[str, TaskJudgement]]) -> None:
        due = len(self.labels) % self.recipe.record_every == 0
        self.labels.append(label.copy())
        if not due:
            return
        count, verdicts_now = len(self.recipe.task_ids), verdicts()
        success, reach, rest = np.zeros(count, bool), np.full(count, np.nan), np.full(count, np.nan)
        for column, task_id in enumerate(self.recipe.task_ids):
            verdict = verdicts_now.get(task_id)  # the world judges its own tasks only, not all of the recipe
            if verdict is None:
                continue
            success[column] = verdict.success
            reach[column], rest[column] = verdict.hand_to_object, verdict.object_to_target
        for key, image in self.world.images().items() if self.look else ():
            self.images.setdefault(key, []).append(encode_png(image))
        state = state_vector(self.recipe.state_layout, self.world.robot_state())
        self.rows.append((state, success, reach, rest, self.world.landmarks()))

    def episode(self, task_id: str, behaviour: str, init_id: int, leg: int) -> Episode:
        """Return the recorded leg as an episode."""
        state, success, reach, rest, landmarks = (np.stack(column) for column in zip(*self.rows, strict=True))
        starts = np.arange(len(self.rows)) * self.recipe.record_every
        ahead = starts[:, None] + np.arange(self.recipe.chunk_size)
        chunk = np.stack(self.labels)[np.minimum(ahead, len(self.labels) - 1)]
        return Episode(
            task_id,
            behaviour,
            init_id,
            leg,
            self.images,
            state.astype(np.float32),
            chunk.astype(np.float32),
            (ahead < len(self.labels)).sum(axis=1),
            success,
            reach.astype(np.float32),
            rest.astype(np.float32),
            landmarks.astype(np.float32),
        )


def noisy_actor(rng: np.random.Generator, turn_noise: float) -> Actor:
    """Return an actor that adds Gaussian noise to the expert's actions, and random bursts of 3 to 9 steps.

    Args:
        rng: source of every disturbance.
        turn_noise: standard deviation of the noise on turns, see `Recipe`.
    """
    left = 0
    direction: NDArray[np.float64] = np.zeros(3)

    def act(step: int, label: NDArray[np.float64]) -> NDArray[np.float64]:
        nonlocal left, direction
        executed = label.copy()
        if left == 0 and rng.random() < BURST_CHANCE:
            left = int(rng.integers(3, 10))
            direction = rng.uniform(-1, 1, 3)
        if left > 0:
            left -= 1
            executed[:3] = direction
        else:
            executed[:3] += rng.normal(0, NOISE_STD, 3)
            executed[3:-1] += rng.normal(0, turn_noise, len(label) - 4)
        return executed

    return act


def stuck_actor(rng: np.random.Generator) -> Actor:
    """Return an actor that follows the expert for a while and then stands still."""
    stop = int(rng.integers(5, 60))
    return lambda step, label: label if step < stop else moved(label, np.zeros(3), label[-1])


def wander_actor(rng: np.random.Generator) -> Actor:
    """Return an actor that moves in a new random direction every 10 to 30 steps."""
    until, gripper = 0, 1.0
    direction: NDArray[np.float64] = np.zeros(3)

    def act(step: int, label: NDArray[np.float64]) -> NDArray[np.float64]:
        nonlocal until, direction, gripper
        if step >= until:
            until = step + int(rng.integers(10, 31))
            direction, gripper = rng.uniform(-0.6, 0.6, 3), float(rng.choice([-1.0, 1.0]))
        return moved(label, direction, gripper)

    return act


def push_away(world: ExpertWorld, rng: np.random.Generator) -> None:
    """Move the arm for 5 to 20 steps in one random direction, mostly upwards, before a leg is recorded."""
    advice = world.advice()
    pushed = moved(advice, rng.uniform((-1, -1, -0.3), 1), advice[-1])
    for _ in range(int(rng.integers(5, 21))):
        world.step(pushed)


def demonstrate(
    world: ExpertWorld,
    recipe: Recipe,
    task_id: str,
    init_id: int,
    leg: int,
    behaviour: str,
    rng: np.random.Generator,
    look: bool = True,
) -> Episode:
    """Record one leg of `task_id` from the current state of the world, until it has been done for a while.

    Args:
        world: in the state in which the leg begins.
        recipe: the K tasks that are judged, and how often a frame is recorded.
        task_id: the task whose expert gives the labels.
        init_id: initial state that the world was reset to, for the record.
        leg: 0 after a reset, 1 after another leg.
        behaviour: expert, noisy_expert, CORRECTION, stuck or wander.
        rng: source of every disturbance.
        look: whether the cameras are rendered; else the episode has no images.

    Raises:
        SimulationError: an expert's leg did not succeed; try another seed.
    """
    actors: dict[str, Actor] = {
        "expert": lambda _, label: label,
        CORRECTION: lambda _, label: label,
        "noisy_expert": noisy_actor(rng, recipe.turn_noise),
        "stuck": stuck_actor(rng),
        "wander": wander_actor(rng),
    }
    act, fails = actors[behaviour], behaviour in ("stuck", "wander")
    world.begin(task_id)
    recorder = DemonstrationRecorder(world, recipe, look)
    left = MAX_STEPS // 3 if fails else int(rng.integers(*STAY))
    streak = SETTLE + 1 if world.verdicts()[task_id].success else 0
    for step in range(MAX_STEPS):
        label = world.advice()
        if streak > SETTLE:
            label = world.hold(label)
        solved = recorder.record(label)[task_id]
        streak = streak + 1 if solved else 0
        if fails or solved:
            left -= 1
        if left == 0:
            return recorder.episode(task_id, behaviour, init_id, leg)
        world.step(act(step, label))
    raise SimulationError(f"{task_id}: the expert did not solve initial state {init_id} in {MAX_STEPS} steps")


def moved(like: NDArray[np.float64], direction: NDArray[np.float64], gripper: float) -> NDArray[np.float64]:
    """Return an action of the shape of `like` that moves along `direction` (3,) without turning."""
    action = np.zeros_like(like)
    action[:3], action[-1] = direction, gripper
    return action
