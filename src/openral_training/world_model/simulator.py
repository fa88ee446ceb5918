"""Imagined worlds where reinforcement learning expects simulators: the same orders, the same views."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from openral_core.errors import ContractError
from openral_training.rl.envs.attempts import Attempt
from openral_training.rl.envs.observation_encoder import StateSenses
from openral_training.rl.envs.simulators import Grounds, in_order
from openral_training.rl.envs.vec_env import Order, View
from openral_training.world_model.env import ImaginedChunk, WorldModelEnv
from openral_training.world_model.open import open_world_model


class Imagined:
    """See `rl.simulators.Simulators`: all worlds in this process, imagined together as one batch."""

    replaced = 0

    def __init__(self, grounds: Grounds, folder: Path, chunk: int) -> None:
        """Load the model.

        Args:
            grounds: which worlds; their scenes are not built.
            folder: of the world model.
            chunk: actions that the policy decides for at once.

        Raises:
            OpenralError: it cannot be loaded, or has no state for a policy that acts on one.
        """
        self.grounds = grounds
        model, starts, scale = open_world_model(folder)
        if not model.state_dim:
            raise ContractError(
                f"{folder}: imagines no state, and this policy sees nothing else; train a world model"
            )
        if model.chunk != chunk:
            raise ContractError(
                f"actor.model.chunk: is {chunk}, and {folder} imagines {model.chunk} actions at once; "
                f"set actor.model.chunk to {model.chunk}"
            )
        self._senses = StateSenses(grounds.scenes)
        self._env = WorldModelEnv(model, starts, scale, num_envs=grounds.worlds, horizon=grounds.horizon)
        self._tasks = {
            slot: task for stage in range(grounds.stages) for slot, task in grounds.slots(stage).items()
        }
        self._views: dict[int, dict[int, View]] = {}

    def begin(self) -> None:
        """See Simulators."""

    def submit(self, stage: int, orders: Mapping[int, Order]) -> None:
        """See Simulators."""
        chunks = {slot: order for slot, order in orders.items() if not isinstance(order, Attempt)}
        views: dict[int, View] = {}
        if chunks:
            imagined = self._env.chunk_step(np.stack(list(chunks.values())), list(chunks))
            views |= {slot: self._view(slot, row, imagined) for row, slot in enumerate(chunks)}
        for slot, order in orders.items():
            if isinstance(order, Attempt):
                (state,) = self._env.reset([order.task], [order.init_id], [slot])
                known = repr((order.task, order.init_id)).encode() + state.tobytes()
                views[slot] = View(self._observation(slot, state), hashlib.sha256(known).hexdigest())
        self._views[stage] = views

    def collect(self, stage: int) -> dict[int, View]:
        """See Simulators."""
        return in_order(self._views.pop(stage))

    def close(self) -> None:
        """See Simulators."""

    def _view(self, slot: int, row: int, imagined: ImaginedChunk) -> View:
        last = int(imagined.executed[row].sum()) - 1
        return View(
            self._observation(slot, imagined.states[row, last]),
            "",
            imagined.rewards[row],
            imagined.executed[row],
            bool(imagined.success[row] or imagined.truncated[row] or imagined.lost[row]),
            lost=bool(imagined.lost[row]),
        )

    def _observation(self, slot: int, state: NDArray[np.float32]) -> NDArray[np.float32]:
        return self._senses.observation(state, self._tasks[slot])
