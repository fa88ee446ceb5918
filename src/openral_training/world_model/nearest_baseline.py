"""A baseline for world models without training: the frames of the most similar recorded attempt."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from openral_training.world_model.experience import Rollouts
from openral_training.world_model.network import STILL
from openral_training.world_model.statistics import ActionScale


class RecordedAttempts:
    """The attempts of the training data, which are searched by their first state and the sums of their actions."""

    def __init__(self, rollouts: Rollouts, scale: ActionScale, episodes: NDArray[np.int64]) -> None:
        """Index the attempts.

        Args:
            rollouts: all attempts.
            scale: of the actions.
            episodes: (E,) the attempts that are searched, at least one.
        """
        self._rollouts, self._scale = rollouts, scale
        self._first, self._last = rollouts.first[episodes], rollouts.last[episodes]
        self._steps = int((self._last - self._first).max())
        self._begun = rollouts.state[self._first]
        self._led = np.stack([self._led_by(int(e), self._steps) for e in episodes])
        self._begun_spread = _spread(self._begun)
        self._led_spread = np.stack([_spread(self._led[:, step]) for step in range(self._steps)])

    def rows(self, episode: int, steps: int) -> NDArray[np.int64]:
        """Return (steps,) rows of the frames of the attempt most similar to `episode` after 1, 2, ... control steps.

        It is chosen anew for each step: it has the least squared distance of the first states and of the sums of all
        actions up to the step, each number in units of its standard deviation over the attempts. Of an attempt that is
        over by then the last frame is taken.
        """
        begun = self._rollouts.state[self._rollouts.first[episode]]
        apart = (((self._begun - begun) / self._begun_spread) ** 2).sum(1)
        led = self._led_by(episode, steps)
        rows = np.empty(steps, np.int64)
        for step in range(steps):
            known = min(step, self._steps - 1)
            off = ((self._led[:, known] - led[step]) / self._led_spread[known]) ** 2
            best = int(np.argmin(apart + off.sum(1)))
            rows[step] = min(self._first[best] + step + 1, self._last[best])
        return rows

    def _led_by(self, episode: int, steps: int) -> NDArray[np.float32]:
        """Return (steps, A) the cumulative sums of an attempt's normalised actions, constant after its end."""
        first, last = int(self._rollouts.first[episode]), int(self._rollouts.last[episode])
        actions = np.zeros((steps, self._rollouts.action.shape[1]), np.float32)
        count = min(steps, last - first)
        actions[:count] = self._scale.normalised(self._rollouts.action[first : first + count])
        return actions.cumsum(0)


def _spread(numbers: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return (D,) the standard deviations over (E, D), infinite for numbers that are always the same."""
    spread = numbers.std(0)
    return np.where(spread < STILL, np.inf, spread).astype(np.float32)
