"""The variants of an initial state: what is not as a policy's training had it, or goes wrong on the way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from openral_core.scene import BenchmarkScene

LIFTING = ("pick-place", "peg-insert", "Stack", "PickPlaceCan")
"""Beginnings of the names of tasks in which something is carried on once it is lifted; robosuite's Lift is done 4 cm
up, before a grasp is opened."""
FILLED = ("PickPlaceCan",)
"""The same of tasks whose object may begin anywhere that it can: none of it is outside."""


@dataclass(frozen=True)
class HarnessVariant:
    """One way to begin from an initial state. The state's number decides all that is random about it."""

    title: str
    """For tables."""
    options: Mapping[str, int | bool] = field(default_factory=dict)
    """Of the backend, beside those of the scene."""
    displaced: bool = False
    """The hand begins 10 to 20 cm from where it usually does."""
    disturbance: str = ""
    """Name in `openral_sim_bridge.disturbances`; empty: nothing goes wrong on the way."""
    lifts: bool = False
    """It is for tasks in which something is lifted, and says nothing about others."""

    @property
    def outside(self) -> bool:
        """The object begins outside the range of training."""
        return bool(self.options.get("object_outside"))

    def is_for(self, task: str) -> bool:
        """Whether a task, as its simulator knows it, can be begun so."""
        if self.outside and task.startswith(FILLED):
            return False
        return not self.lifts or task.startswith(LIFTING)

    def scene(self, scene: BenchmarkScene) -> BenchmarkScene:
        """Return a scene in this variant."""
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
"""Name -> variant."""
