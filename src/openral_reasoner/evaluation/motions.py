"""The motions of a simulated deployment: they get where they are sent, and every object is found."""

from __future__ import annotations

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
