"""The rows of the result table: each is a deployment with some parts left out or replaced by the simulator's truth.

A motion or policy that is left out is missing from the palette; a judge or locator that is left out gives no answer.
No row has code of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from openral_core.scene import BenchmarkScene

Source = Literal["none", "own", "true"]
"""Where answers come from: `none`, there are none; `own`, the model that the scene names; `true`, the simulator."""

HOME = ("home",)
CARRY = ("move_to", "pick_at", "place_at", "nudge")


@dataclass(frozen=True)
class HarnessRow:
    """The parts of one deployment."""

    title: str
    """Name of the row in tables."""
    motions: tuple[str, ...] = ()
    """Motions in the palette."""
    judge: Source = "none"
    """Source of the verdict whether a task is done."""
    grounding: Source = "none"
    """Source of the positions of objects."""
    policy: bool = True
    """Whether the policy is in the palette."""
    short: bool = True
    """Whether an attempt ends after the suite's `attempt_steps`; else it may take the task's `max_steps`."""
    counts: bool = True
    """Whether the ladder has the suite's counts of what worked on other states; without them the policy is first."""
    left_out: tuple[str, ...] = ()
    """Values of the rungs (`Rung`) that are never taken."""
    ablation: bool = False
    """Whether the row is `harness` without one part, or with one part from the simulator."""

    @property
    def truth(self) -> tuple[str, ...]:
        """Parts that the simulator answers for, which no deployment has; every result of the row names them."""
        sources = {"judge": self.judge, "positions": self.grounding}
        return tuple(name for name, source in sources.items() if source == "true")

    def deployed_in(self, scene: BenchmarkScene) -> HarnessRow:
        """Return the row as a scene can have it.

        Where the scene names no reward skill or no detector skill, source `own` becomes `true`, and `truth` names it.
        """
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
"""Rows by name."""
