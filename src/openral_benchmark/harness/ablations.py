"""The rows of the table: which parts of a deployment are there, and how much of it is the simulator's own truth.

A part that is not there is not in the palette, or answers nothing: no row has code of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from openral_core.scene import BenchmarkScene

Source = Literal["none", "own", "true"]
"""Nobody answers; the model that the scene names does; the simulator does."""

HOME = ("home",)
CARRY = ("move_to", "pick_at", "place_at", "nudge")


@dataclass(frozen=True)
class HarnessRow:
    """One deployment."""

    title: str
    """For tables."""
    motions: tuple[str, ...] = ()
    """Motions in the palette."""
    judge: Source = "none"
    """Who says whether a task is done."""
    grounding: Source = "none"
    """Who says where a thing is."""
    policy: bool = True
    """The policy is in the palette."""
    short: bool = True
    """An attempt ends after the suite's `attempt_steps`; else it may take all that there are."""
    counts: bool = True
    """The ladder knows the suite's counts of what worked on other states; without them it begins with the policy."""
    left_out: tuple[str, ...] = ()
    """Rungs of the ladder that are not climbed."""
    ablation: bool = False
    """It is the harness without one part, or with one part of it true."""

    @property
    def truth(self) -> tuple[str, ...]:
        """What of it is the simulator's own truth, which no deployment has; every result of the row says so."""
        sources = {"judge": self.judge, "positions": self.grounding}
        return tuple(name for name, source in sources.items() if source == "true")

    def deployed_in(self, scene: BenchmarkScene) -> HarnessRow:
        """Return the row as a scene can have it: where it names no judge or no detector, the simulator answers for its
        own one, and `truth` says so."""
        judge: Source = "true" if self.judge == "own" and not scene.reward_skill else self.judge
        grounding: Source = "true" if self.grounding == "own" and not scene.detector_skill else self.grounding
        return replace(self, judge=judge, grounding=grounding)


ROWS: Mapping[str, HarnessRow] = {
    "bare": HarnessRow("policy alone", short=False),
    "home": HarnessRow("home, then the policy", HOME, short=False),
    "retry": HarnessRow("home, policy, home again", HOME, "own"),
    "script": HarnessRow("motions alone", HOME + CARRY, "own", "own", policy=False),
    "harness": HarnessRow("harness", HOME + CARRY, "own", "own"),
    "script_true": HarnessRow(
        "motions alone, true judge and positions", HOME + CARRY, "true", "true", policy=False
    ),
    "harness_true": HarnessRow("harness, true judge and positions", HOME + CARRY, "true", "true"),
    "without_home": HarnessRow("harness without home", CARRY, "own", "own", ablation=True),
    "without_counts": HarnessRow(
        "harness without counts", HOME + CARRY, "own", "own", counts=False, ablation=True
    ),
    "without_motions": HarnessRow(
        "harness without pick, place and press", (*HOME, "move_to"), "own", "own", ablation=True
    ),
    "without_restage": HarnessRow(
        "harness without restaging", HOME + CARRY, "own", "own", left_out=("restage",), ablation=True
    ),
    "without_go_on": HarnessRow(
        "harness without going on", HOME + CARRY, "own", "own", left_out=("go on",), ablation=True
    ),
    "without_grounding": HarnessRow("harness without grounding", HOME + CARRY, "own", ablation=True),
    "without_judge": HarnessRow("harness without a judge", HOME + CARRY, "none", "own", ablation=True),
    "true_judge": HarnessRow("harness, true judge", HOME + CARRY, "true", "own", ablation=True),
    "true_positions": HarnessRow("harness, true positions", HOME + CARRY, "own", "true", ablation=True),
}
"""Name -> row."""
