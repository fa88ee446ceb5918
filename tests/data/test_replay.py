"""A replay in the fake world, which goes exactly where it is told, so that every deviation is known beforehand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from openral_core.errors import ControlError, DatasetError
from openral_data.replay_deviation import ReplayEpisode
from openral_data.ros.replay_node import replay

FRAMES, STEPS = 12, 4
HOME = np.array([0.0, 0.603, 0.2])
"""[m] initial state 3."""
SHIFT_M = 0.007


def episode(scene: Path, action: float, shift_m: float = 0.0) -> ReplayEpisode:
    """A hand that moves along x; 10 mm a step for an action of 1."""
    actions = np.zeros((FRAMES, STEPS, 4), np.float32)
    actions[..., 0] = action
    states = np.zeros((FRAMES, 8), np.float32)
    states[:, :3], states[:, 6], states[:, 7] = HOME, 1.0, 0.1
    states[:, 0] += 0.01 * action * STEPS * np.arange(FRAMES) + shift_m
    return ReplayEpisode(0, "move", str(scene), "drawer-open-v3", 3, "unknown", 80.0, actions, states)


def test_the_hand_goes_where_it_went_and_what_differs_is_measured(fake_scene: Path) -> None:
    found = replay(episode(fake_scene, 0.1, SHIFT_M))
    np.testing.assert_allclose(found.distance_m, SHIFT_M, atol=1e-6)
    np.testing.assert_allclose(found.turn_rad, 0.0, atol=1e-3)
    np.testing.assert_allclose(found.opening_m, 0.0, atol=1e-6)
    assert found.outcome == "failure"


def test_a_step_that_the_envelope_refuses_ends_the_replay_and_says_where(fake_scene: Path) -> None:
    with pytest.raises(ControlError, match="the bridge refused frame 0: "):
        replay(episode(fake_scene, 3.0))


def test_an_episode_that_does_not_say_where_it_began_is_not_compared(fake_scene: Path) -> None:
    with pytest.raises(DatasetError, match=r"episode 0 does not say in which initial state .*seed is -1"):
        replay(replace(episode(fake_scene, 0.1), seed=-1))
