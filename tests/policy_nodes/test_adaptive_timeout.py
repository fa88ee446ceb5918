from __future__ import annotations

from openral_core.manifest import LatencyBudget
from openral_policy_nodes.families.adaptive_timeout import FIRST_S, LEAST_S, Patience


def test_it_follows_the_promise_until_the_machine_shows_otherwise():
    patience = Patience(LatencyBudget(per_chunk_ms=1500.0))
    assert patience.limit_s(2) == 2 * FIRST_S
    patience.note(2, 50.0)
    assert patience.limit_s(1) == 4.5
    patience.note(2, 1.0)
    assert patience.limit_s(2) == 9.0
    patience.note(2, 8.0)
    assert patience.limit_s(1) == 12.0
    patience.note(1, 0.1)
    assert patience.limit_s(1) == 12.0


def test_a_small_promise_still_leaves_time_for_a_busy_machine():
    patience = Patience(LatencyBudget(per_chunk_ms=20.0, warmup_ms=100_000.0))
    assert patience.limit_s(1) == 300.0
    assert patience.least_s == LEAST_S
