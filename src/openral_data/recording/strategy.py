"""When an episode is recorded, and which of them are kept."""

from __future__ import annotations

from dataclasses import dataclass

from openral_core.errors import UsageError

SEGMENT_S = 60.0
"""[s] length of an episode of the strategy `always`."""
RING_EPISODES, RING_DATASETS = 10, 6
"""Episodes in one dataset of the strategy `always`, and datasets that are kept: an hour; the oldest are deleted."""
HIGHLIGHT_S, HIGHLIGHT_PART_S = 30.0, 5.0
"""[s] of the past that a highlight keeps, and the length of the parts that are thrown away."""


@dataclass(frozen=True)
class Strategy:
    """One of `STRATEGIES`."""

    name: str
    by_goal: bool = False
    """An episode lasts as long as a goal of a policy or of an operator, or from a call of start to one of stop."""
    rolls_s: float = 0.0
    """[s] a new segment is begun after so long; 0: a segment lasts as long as its episode."""
    ring: bool = False
    """Old datasets are deleted."""
    on_highlight: bool = False
    """Nothing is kept but the newest parts, and they only when somebody asks for them."""
    corrected_only: bool = False
    """Episodes in which nobody took over are thrown away."""


STRATEGIES = {
    strategy.name: strategy
    for strategy in (
        Strategy("always", rolls_s=SEGMENT_S, ring=True),
        Strategy("episodes", by_goal=True),
        Strategy("highlight", rolls_s=HIGHLIGHT_PART_S, on_highlight=True),
        Strategy("interventions", by_goal=True, corrected_only=True),
    )
}


def strategy_of(name: str) -> Strategy:
    """Return a strategy. Raises UsageError: there is none of that name."""
    if name not in STRATEGIES:
        raise UsageError(f"record: '{name}' is no strategy; use one of {', '.join(STRATEGIES)}")
    return STRATEGIES[name]
