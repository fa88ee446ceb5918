"""Scripted experts in MetaWorld, disturbed on purpose, so that the learner sees how to recover.

Three disturbances: an unrecorded push in a random direction before a leg, bursts of random motion, and Gaussian
noise on what is executed. The label is always what the undisturbed expert would do in the state that was reached
(DART, Laskey et al. 2017, arXiv 1703.09327).

Once a task is done the demonstrator stands still, and so it does when the task was done before it began: the
scripted experts know no end and would push on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from openral_core.errors import SimulationError
from openral_core.state_layout import ee_pos3_gripper1
from openral_sim_bridge.metaworld.backend import MetaWorldBackend
from openral_sim_bridge.metaworld.world import make_expert
from openral_training.dataset.episode import Episode, encode_png

SETTLE = 12
"""Control steps the expert goes on after success, so that the task is well and not barely done."""
STAY = (20, 60)
"""Least and most control steps recorded after success, so that a policy learns to stand still there."""
MAX_STEPS = 300
"""Control steps after which a leg counts as failed."""
NOISE_STD = 0.15
BURST_CHANCE = 0.03

Actor = Callable[[int, NDArray[np.float64]], NDArray[np.float64]]
"""(step, the expert's action) -> the action that is executed."""


@dataclass
class Recorder:
    """Collects what one leg shows, judged for every task of the recipe."""

    backend: MetaWorldBackend
    camera: str
    all_tasks: tuple[str, ...]
    images: list[bytes] = field(default_factory=list)
    rows: list[tuple[NDArray[Any], ...]] = field(default_factory=list)

    def record(self, label: NDArray[np.float64]) -> dict[str, bool]:
        """Note the present state with its label; return which tasks of the scene are solved in it."""
        world = self.backend.world(0)
        count = len(self.all_tasks)
        success, reach, rest = np.zeros(count, bool), np.full(count, np.nan), np.full(count, np.nan)
        for task_id in world.task_ids:
            column = self.all_tasks.index(task_id)
            seen, verdict = world.look(task_id), world.judge(task_id)
            success[column] = verdict["success"] > 0
            reach[column] = np.linalg.norm(seen[:3] - seen[4:7])
            rest[column] = verdict["obj_to_target"]
        self.images.append(encode_png(self.backend.render([self.camera])[self.camera][0]))
        self.rows.append((ee_pos3_gripper1(world.robot_state()), label.copy(), success, reach, rest))
        return {task_id: bool(success[self.all_tasks.index(task_id)]) for task_id in world.task_ids}

    def episode(self, task_id: str, behaviour: str, init_id: int, leg: int) -> Episode:
        """Return what was recorded."""
        state, action, success, reach, rest = (np.stack(column) for column in zip(*self.rows, strict=True))
        return Episode(
            task_id, behaviour, init_id, leg, self.images,
            state.astype(np.float32), action.astype(np.float32), success,
            reach.astype(np.float32), rest.astype(np.float32),
        )  # fmt: skip


def noisy_actor(rng: np.random.Generator) -> Actor:
    """Return an actor that disturbs the expert: Gaussian noise, and now and then a burst of 3 to 9 steps."""
    left = 0
    direction: NDArray[np.float64] = np.zeros(4)

    def act(step: int, label: NDArray[np.float64]) -> NDArray[np.float64]:
        nonlocal left, direction
        if left == 0 and rng.random() < BURST_CHANCE:
            left = int(rng.integers(3, 10))
            direction = np.append(rng.uniform(-1, 1, 3), label[3])
        if left > 0:
            left -= 1
            return direction
        disturbed: NDArray[np.float64] = label + np.append(rng.normal(0, NOISE_STD, 3), 0.0)
        return disturbed

    return act


def stuck_actor(rng: np.random.Generator) -> Actor:
    """Return an actor that follows the expert for a while and then stands still."""
    stop = int(rng.integers(5, 60))
    return lambda step, label: label if step < stop else np.append(np.zeros(3), label[3])


def wander_actor(rng: np.random.Generator) -> Actor:
    """Return an actor that moves in a new random direction every 10 to 30 steps."""
    until = 0
    direction: NDArray[np.float64] = np.zeros(4)

    def act(step: int, label: NDArray[np.float64]) -> NDArray[np.float64]:
        nonlocal until, direction
        if step >= until:
            until = step + int(rng.integers(10, 31))
            direction = np.append(rng.uniform(-0.6, 0.6, 3), rng.choice([-1.0, 1.0]))
        return direction

    return act


def push_away(backend: MetaWorldBackend, rng: np.random.Generator) -> None:
    """Move the arm 5 to 20 steps in one random direction before a leg is recorded."""
    direction = np.append(rng.uniform(-1, 1, 3), rng.choice([-1.0, 1.0]))
    for _ in range(int(rng.integers(5, 21))):
        backend.world(0).step(direction)


def demonstrate(
    backend: MetaWorldBackend, camera: str, all_tasks: tuple[str, ...], task_id: str, init_id: int, leg: int,
    behaviour: str, rng: np.random.Generator,
) -> Episode:  # fmt: skip
    """Record one leg of `task_id` in the world as it stands, until it has been done for a while.

    Args:
        backend: one world.
        camera: which camera is recorded.
        all_tasks: the K tasks to judge at every step.
        task_id: the task whose expert gives the labels.
        init_id: the initial state the world was reset to, for the record.
        leg: 0 after a reset, 1 after another leg.
        behaviour: expert, noisy_expert, stuck or wander.
        rng: source of every disturbance.

    Raises:
        SimulationError: an expert's leg did not succeed; try another seed.
    """
    expert, world = make_expert(task_id), backend.world(0)
    actors: dict[str, Actor] = {
        "expert": lambda _, label: label,
        "noisy_expert": noisy_actor(rng),
        "stuck": stuck_actor(rng),
        "wander": wander_actor(rng),
    }
    act, fails = actors[behaviour], behaviour in ("stuck", "wander")
    recorder = Recorder(backend, camera, all_tasks)
    left = MAX_STEPS // 3 if fails else int(rng.integers(*STAY))
    streak = SETTLE + 1 if world.judge(task_id)["success"] > 0 else 0
    for step in range(MAX_STEPS):
        label = world.expert_action(task_id, expert)
        if streak > SETTLE:
            label = backend.hold_action(label)
        solved = recorder.record(label)[task_id]
        streak = streak + 1 if solved else 0
        if fails or solved:
            left -= 1
        if left == 0:
            return recorder.episode(task_id, behaviour, init_id, leg)
        world.step(act(step, label))
    raise SimulationError(f"{task_id}: the expert did not solve initial state {init_id} in {MAX_STEPS} steps")
