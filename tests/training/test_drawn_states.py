"""Initial states are drawn in random order, also of a range that fits into no memory."""

from __future__ import annotations

import numpy as np
from numpy.random import default_rng

from openral_training.training_recipe import MOST_LISTED, drawn_states


def test_a_range_is_put_in_the_order_that_its_seed_gives() -> None:
    everything = default_rng(3).permutation(np.arange(5, 50)).tolist()
    assert drawn_states(range(5, 50), MOST_LISTED, default_rng(3)) == everything
    assert drawn_states(range(5, 50), 4, default_rng(3)) == everything[:4]
    others = default_rng(3).permutation([state for state in range(5, 50) if state != 9]).tolist()
    assert drawn_states(range(5, 50), 4, default_rng(3), without=9) == others[:4]


def test_few_states_are_drawn_of_a_range_that_fits_into_no_memory() -> None:
    states = range(7, 10**15)
    drawn = drawn_states(states, 40, default_rng(3))
    assert drawn == drawn_states(states, 40, default_rng(3))
    assert len(set(drawn)) == 40
    assert all(state in states for state in drawn)
    others = drawn_states(states, 40, default_rng(3), without=drawn[1])
    assert others[0] == drawn[0]
    assert drawn[1] not in others
