"""The contract of imagined worlds: clocks and resets of their own, success anywhere, actions in the data's scale."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor

from openral_core.errors import ContractError, ManifestError, NotFoundError, SimulationError
from openral_training.world_model.env import WorldModelEnv
from openral_training.world_model.model import FRAME, Prediction
from openral_training.world_model.starts import Start, Starts
from openral_training.world_model.statistics import ActionScale, load_action_scale

SCALE = ActionScale(np.full(2, -2.0, np.float32), np.full(2, 2.0, np.float32))
GOAL, ABYSS = 5.0, -2.0


class Adder:
    """A world in closed form: its latent sums up all pushes; from GOAL on it is solved, below ABYSS nobody knows it."""

    condition_frames, chunk, action_dim, state_dim = 4, 8, 2, 1

    def begin(self, frames: NDArray[np.uint8], states: NDArray[np.float32]) -> Tensor:
        return torch.from_numpy(states)

    def imagine(
        self,
        before: Tensor,
        past_actions: NDArray[np.float32],
        actions: NDArray[np.float32],
        seeds: Sequence[int],
    ) -> Prediction:
        self.seeds = list(seeds)
        after = before[:, -1:] + torch.from_numpy(actions[..., :1]).cumsum(1)
        return Prediction(after, (after[..., 0] < ABYSS).float().numpy() * 2)

    def frames(
        self, latents: Tensor, first: NDArray[np.uint8], states: NDArray[np.float32], size: int = FRAME
    ) -> NDArray[np.uint8]:
        return np.zeros((*latents.shape[:2], size, size, 3), np.uint8)

    def states(self, latents: Tensor) -> NDArray[np.float32]:
        return latents.numpy()

    def success(self, latents: Tensor, instructions: Sequence[str]) -> NDArray[np.float32]:
        return (latents[:, 4:, 0] >= GOAL).float().numpy()


def worlds(count: int, horizon: int = 24) -> WorldModelEnv:
    frame = np.zeros((16, 16, 3), np.uint8)
    starts = Starts(
        [Start(frame, "add", "add", number, np.full(1, float(number), np.float32)) for number in range(4)]
    )
    return WorldModelEnv(Adder(), starts, SCALE, num_envs=count, horizon=horizon)


def pushes(count: int, push: float) -> NDArray[np.float32]:
    return np.full((count, 8, 2), push, np.float32)


def test_success_counts_in_the_middle_of_a_chunk_and_ends_the_episode_there() -> None:
    env = worlds(1)
    env.reset(["add"], [0])
    chunk = env.chunk_step(pushes(1, 2.0))  # one unit a step
    assert chunk.rewards[0].tolist() == [0, 0, 0, 0, 1, 0, 0, 0]
    assert chunk.executed[0].tolist() == [True] * 5 + [False] * 3
    assert chunk.success[0]
    assert not chunk.truncated[0]
    with pytest.raises(SimulationError, match="reset it"):
        env.chunk_step(pushes(1, 2.0))


def test_each_world_has_its_own_clock_and_its_own_reset() -> None:
    env = worlds(2)
    env.reset(["add", "add"], [0, 1])
    env.chunk_step(pushes(1, 0.0), [0])
    both = env.chunk_step(pushes(2, 0.0))
    last = env.chunk_step(pushes(2, 0.0))
    assert not both.truncated.any()
    assert last.truncated.tolist() == [True, False]
    env.reset(["add"], [3], [0])
    again = env.chunk_step(pushes(2, 1.0))
    assert again.states[:, -1, 0].tolist() == [3 + 8 * 0.5, 1 + 8 * 0.5]  # world 1 went on from where it was
    assert again.success.tolist() == [True, True]


def test_an_episode_is_cut_off_at_the_horizon_even_within_a_chunk() -> None:
    env = worlds(1, horizon=10)
    env.reset(["add"], [0])
    assert not env.chunk_step(pushes(1, 0.0)).truncated[0]
    cut = env.chunk_step(pushes(1, 0.0))
    assert cut.executed[0].tolist() == [True] * 2 + [False] * 6
    assert cut.truncated[0]


def test_episodes_from_one_state_have_randomness_of_their_own_and_the_same_one_again() -> None:
    """Else one member of an ensemble would imagine every episode from a state, and a policy could fit its errors."""
    adder = Adder()
    starts = Starts([Start(np.zeros((16, 16, 3), np.uint8), "add", "add", 0, np.zeros(1, np.float32))])

    def seeds_of(*seeds: tuple[int, ...]) -> list[int]:
        env = WorldModelEnv(adder, starts, SCALE, num_envs=len(seeds), horizon=24)
        env.reset(["add"] * len(seeds), [0] * len(seeds), seeds=seeds)
        env.chunk_step(pushes(len(seeds), 0.0))
        first = adder.seeds
        env.chunk_step(pushes(len(seeds), 0.0))
        return [*first, *adder.seeds]

    together = seeds_of((1, 0), (1, 1))
    assert len(set(together)) == 4
    assert seeds_of((1, 1)) == together[1::2]


def test_where_the_model_knows_nothing_an_episode_is_lost_and_no_success_counts() -> None:
    env = worlds(2)
    env.reset(["add", "add"], [0, 0])
    actions = pushes(2, 0.0)
    actions[0, :3, 0], actions[0, 3:, 0] = -2.0, 10.0  # down to -3, then up to the goal
    chunk = env.chunk_step(actions)
    assert chunk.aborted.tolist() == [True, False]
    assert chunk.executed[0].tolist() == [True] * 3 + [False] * 5
    assert not chunk.success[0]
    assert not chunk.truncated[0]
    with pytest.raises(SimulationError, match="reset it"):
        env.chunk_step(pushes(1, 0.0), [0])
    env.chunk_step(pushes(1, 0.0), [1])


def test_what_a_world_becomes_does_not_depend_on_who_is_beside_it() -> None:
    alone, beside = worlds(1), worlds(3)
    alone.reset(["add"], [2])
    beside.reset(["add"] * 3, [0, 2, 1])
    actions = np.random.default_rng(0).uniform(-1, 1, (3, 8, 2)).astype(np.float32)
    one, all_three = alone.chunk_step(actions[1:2]), beside.chunk_step(actions)
    assert (one.states[0] == all_three.states[1]).all()


def test_wrong_orders_are_refused() -> None:
    env = worlds(1)
    with pytest.raises(NotFoundError, match="add 0 to 3"):
        env.reset(["add"], [9])
    env.reset(["add"], [0])
    with pytest.raises(ContractError, match=r"needed \(1, 8, 2\)"):
        env.chunk_step(np.zeros((1, 4, 2), np.float32))


def test_actions_are_scaled_as_the_statistics_say(tmp_path: Path) -> None:
    (tmp_path / "dataset_statistics.json").write_text(
        json.dumps({"action": {"q01": [-1, 0, 2], "q99": [1, 4, 2]}}), encoding="utf-8"
    )
    scale = load_action_scale(tmp_path, 3)
    assert scale.normalised(np.array([[1.0, 1.0, 7.0], [0.0, 6.0, 2.0]])).tolist() == [
        [1, -0.5, 0],
        [0, 2, 0],
    ]


@pytest.mark.parametrize(
    ("content", "what"),
    [
        ({"libero": {"action": {"q01": [0], "q99": [1]}}}, "lies in 'libero'"),
        ({"action": {"q01": [0, 0], "q99": [1, 1]}}, "needed 3 finite numbers"),
        ({"action": {"q01": [0, 0, 0]}}, "q99"),
        ({"action": {"q01": [1, 1, 1], "q99": [0, 0, 0]}}, "below"),
        ({"action": {"q01": [0, 0, None], "q99": [1, 1, 1]}}, "finite"),
        ([], "is missing"),
    ],
)
def test_statistics_of_another_form_are_refused(tmp_path: Path, content: object, what: str) -> None:
    (tmp_path / "dataset_statistics.json").write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(ManifestError, match=what):
        load_action_scale(tmp_path, 3)


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000])
def test_statistics_that_are_no_json_are_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "dataset_statistics.json").write_text(text, encoding="utf-8")
    with pytest.raises(ManifestError, match=r"dataset_statistics\.json: no statistics of actions"):
        load_action_scale(tmp_path, 2)
