"""The motions and the locator of a simulated deployment: every motion arrives, every object is found.

Things have no position that would change, so a measurement of where a thing is gets no answer.
"""

from __future__ import annotations

from collections.abc import Sequence

from openral_core.instant import Instant
from openral_reasoner.mission.attempt import Command, FindThing, SendGoal
from openral_reasoner.mission.director import Director
from openral_reasoner.mission.goal_report import GoalReport
from openral_reasoner.mission.verification.placement_check import is_measuring
from openral_reasoner.palette import MOTION, Palette, Skill

MOTION_S = 1.5
"""[s] simulated time that a motion takes."""
ANYWHERE = (0.0, 0.6, 0.05)
"""[m] where every object is found."""


def with_motions(palette: Palette) -> Palette:
    """Return the palette with the two motions that the ladder uses."""
    return Palette(
        (*palette.skills, _motion("home"), _motion("move_to")), palette.excluded, palette.playbooks
    )


def carry_out(
    director: Director, command: FindThing | SendGoal, now_s: float
) -> tuple[Sequence[Command], float]:
    """Answer a `FindThing`, or carry out a motion, which succeeds after `MOTION_S`.

    Returns:
        The director's next commands, and the simulated time [s] afterwards.
    """
    now = Instant(now_s, now_s)
    if isinstance(command, FindThing):
        point = None if is_measuring(command.key) else ANYWHERE
        return director.found(command.key, point, "everything is there, and nothing is moved", now), now_s
    begun = director.goal_answered(command.key, f"g{command.key}", True, now)
    after_s = now_s + MOTION_S
    director.goal_ended(
        command.key, GoalReport("SUCCEEDED", "motion", "it is there"), Instant(after_s, after_s)
    )
    return [*begun, *director.tick(Instant(after_s, after_s))], after_s


def _motion(name: str) -> Skill:
    slug = f"motion_{name}"
    return Skill(
        name=f"openral/rskill-motion-{name.replace('_', '-')}",
        slug=slug,
        node="/openral/motions",
        action_server=f"/openral/skills/{slug}/execute",
        kind=MOTION,
        description="Drives the hand.",
        max_execution_s=6.0,
    )
