"""The strategies of the recorder: when episodes are recorded, and which of them are kept."""

from __future__ import annotations

from dataclasses import dataclass

from openral_core.errors import UsageError

SEGMENT_S = 60.0
"""[s] length of an episode of the strategy `always`."""
RING_EPISODES, RING_DATASETS = 10, 6
"""Number of episodes in a dataset of the strategy `always`, and of datasets that are kept, which makes one hour."""
HIGHLIGHT_S, HIGHLIGHT_PART_S = 30.0, 5.0
"""[s] length of a highlight, and of the segments that are deleted when they are older."""


@dataclass(frozen=True)
class Strategy:
    """A strategy of the recorder; see `STRATEGIES`."""

    name: str
    by_goal: bool = False
    """Whether an episode lasts as long as a goal of a policy or of teleoperation, or from the order start to stop."""
    rolls_s: float = 0.0
    """[s] length of a segment; 0: a segment lasts as long as its episode."""
    ring: bool = False
    """Whether the oldest datasets are deleted."""
    on_highlight: bool = False
    """Whether only the latest segments are stored, and kept as an episode only on the order highlight."""
    corrected_only: bool = False
    """Whether episodes without an intervention are deleted."""


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
