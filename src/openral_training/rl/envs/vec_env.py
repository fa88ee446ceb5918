"""The worlds of one process: orders in, views out. It knows neither policies nor advantages.

An order for a slot (one world) is an attempt to begin, or a chunk of actions to execute. Between two orders the world
stands still, so nothing depends on how long a policy thinks.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from openral_core.scene import DeployScene
from openral_sim_bridge.backend import Backend
from openral_sim_bridge.backends.factory import make_backend
from openral_training.rl.envs.attempts import Attempt
from openral_training.rl.envs.observation_encoder import Senses


@dataclass(frozen=True)
class Stand:
    """Worlds of one task."""

    scene: DeployScene
    task: str
    slots: tuple[int, ...]
    """Numbers of the worlds, unique in a run."""


Order = Attempt | NDArray[np.float32]
"""An attempt to begin, or a chunk (C, A) to execute."""


@dataclass(frozen=True)
class View:
    """What one order led to."""

    observation: NDArray[Any]
    """(D,)"""
    state: str = ""
    """Digest of the initial state, where an attempt was begun."""
    rewards: NDArray[np.float64] | None = None
    """(C,) where a chunk was executed."""
    executed: NDArray[np.bool_] | None = None
    """(C,)"""
    ended: bool = False
    """Whether the episode is over: solved, cut off at the horizon, or lost."""
    picture: NDArray[np.uint8] | None = None
    """(H, W, 3) RGB of the scene's first camera, where the attempt is watched."""
    lost: bool = False
    """Whether a world model gave the episode up, since it knows nothing of where it went."""


class Arena:
    """All worlds that one process has for one pipeline stage."""

    def __init__(self, stands: Sequence[Stand], senses: Senses, horizon: int) -> None:
        """Build the worlds.

        Args:
            stands: which there are.
            senses: reads observations.
            horizon: control steps until an episode is cut off.

        Raises:
            OpenralError: the simulator of a scene could not be built.
        """
        self._senses, self._horizon = senses, horizon
        self._stands = [(stand, make_backend(stand.scene, num_envs=len(stand.slots))) for stand in stands]
        self._steps: dict[int, int] = {}
        self._watched: set[int] = set()
        """Slots whose attempt is."""
        for stand, backend in self._stands:  # all worlds are stepped together, idle ones, too
            backend.reset([stand.task] * backend.num_envs, [0] * backend.num_envs)

    def perform(self, orders: Mapping[int, Order]) -> dict[int, View]:
        """Carry out orders by slot and return a view for each."""
        views: dict[int, View] = {}
        for stand, backend in self._stands:
            mine = {slot: orders[slot] for slot in stand.slots if slot in orders}
            chunks = {slot: order for slot, order in mine.items() if not isinstance(order, Attempt)}
            if chunks:
                views |= self._execute(stand, backend, chunks)
            for slot, order in mine.items():
                if isinstance(order, Attempt):
                    views[slot] = self._begin(stand, backend, slot, order)
        return views

    def close(self) -> None:
        """Free the worlds; called once."""
        for _, backend in self._stands:
            backend.close()

    def _begin(self, stand: Stand, backend: Backend, slot: int, attempt: Attempt) -> View:
        env = stand.slots.index(slot)
        [state] = backend.reset([attempt.task], [attempt.init_id], [env])
        self._steps[slot] = 0
        (self._watched.add if attempt.watched else self._watched.discard)(slot)
        observation = self._senses.look(backend, env, attempt.task, state)
        known = repr((attempt.task, attempt.init_id)).encode() + backend.snapshot(env).qpos.tobytes()
        digest = hashlib.sha256(known + observation.tobytes()).hexdigest()
        return View(observation, digest, picture=self._picture(stand, backend, slot))

    def _execute(
        self, stand: Stand, backend: Backend, chunks: Mapping[int, NDArray[np.float32]]
    ) -> dict[int, View]:
        """Execute one chunk in each world that has one, control step by control step, until its episode ends."""
        length = len(next(iter(chunks.values())))
        rewards = {slot: np.zeros(length) for slot in chunks}
        executed = {slot: np.zeros(length, np.bool_) for slot in chunks}
        running = dict.fromkeys(chunks)
        column = backend.task_ids.index(stand.task)
        for step in range(length):
            if not running:
                break
            actions = np.stack([backend.hold_action(None)] * backend.num_envs)
            for slot in running:
                actions[stand.slots.index(slot)] = chunks[slot][step]
            result = backend.step(actions)
            success = result.success[:, column]
            for slot in list(running):
                self._steps[slot] += 1
                executed[slot][step] = True
                rewards[slot][step] = float(success[stand.slots.index(slot)])
                if rewards[slot][step] or self._steps[slot] >= self._horizon:
                    del running[slot]
        views = {}
        for slot in chunks:
            env = stand.slots.index(slot)
            seen = self._senses.look(backend, env, stand.task, result.states[env])
            picture = self._picture(stand, backend, slot)
            views[slot] = View(seen, "", rewards[slot], executed[slot], slot not in running, picture)
        return views

    def _picture(self, stand: Stand, backend: Backend, slot: int) -> NDArray[np.uint8] | None:
        if slot not in self._watched:
            return None
        camera = stand.scene.cameras[0].name
        picture: NDArray[np.uint8] = backend.render([camera], [stand.slots.index(slot)])[camera][0]
        return picture
