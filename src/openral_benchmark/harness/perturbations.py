"""Variants of an initial state: starts unlike those of the policy's training, and disturbances during the episode."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from openral_core.scene import BenchmarkScene

LIFTING = ("pick-place", "peg-insert", "Stack", "PickPlaceCan")
"""Prefixes of the names of tasks in which an object is carried after it is lifted. robosuite's Lift is not among them:
it succeeds 4 cm above the table, before the disturbance opens the grasp."""
FILLED = ("PickPlaceCan",)
"""Prefixes of the names of tasks whose training covers every place where the object can begin, so none is outside."""


@dataclass(frozen=True)
class HarnessVariant:
    """One variant. The number of the initial state seeds all that is random about it."""

    title: str
    """Name of the variant in tables."""
    options: Mapping[str, int | bool] = field(default_factory=dict)
    """Options of the backend, which override those of the scene."""
    displaced: bool = False
    """Whether the hand begins 10 to 20 cm away from its usual start."""
    disturbance: str = ""
    """Name of a disturbance in `openral_sim_bridge.disturbances`; empty: there is none."""
    lifts: bool = False
    """Whether it applies only to tasks in `LIFTING`."""

    @property
    def outside(self) -> bool:
        """Whether the object begins outside the range of training."""
        return bool(self.options.get("object_outside"))

    def is_for(self, task: str) -> bool:
        """Return whether the variant applies to a task, which is named as its simulator names it."""
        if self.outside and task.startswith(FILLED):
            return False
        return not self.lifts or task.startswith(LIFTING)

    def scene(self, scene: BenchmarkScene) -> BenchmarkScene:
        """Return a copy of a scene with the variant's backend options."""
        world = scene.scene
        options = {**world.backend_options, **self.options}
        return scene.model_copy(update={"scene": world.model_copy(update={"backend_options": options})})


OUTSIDE: Mapping[str, int | bool] = {"object_outside": True}
VARIANTS: Mapping[str, HarnessVariant] = {
    "usual": HarnessVariant("as in training"),
    "displaced": HarnessVariant("hand 10–20 cm off", displaced=True),
    "outside": HarnessVariant("object 3–10 cm outside", OUTSIDE),
    "both": HarnessVariant("hand off, object outside", OUTSIDE, displaced=True),
    "distractors": HarnessVariant("two distractors", {"distractors": 2}),
    "opened": HarnessVariant("grasp opened in the lift", disturbance="open_in_lift", lifts=True),
    "pushed": HarnessVariant("object pushed away", disturbance="push_away"),
}
"""Variants by name."""
