"""Names that the shell's Tab key completes; what is no name of these the shell completes as a path.

Each function takes what was typed so far and returns the names that begin so. They import what they need when they
are called: a command's module is imported for every `--help`.
"""

from __future__ import annotations

from collections.abc import Sequence


def deploy_scenes(incomplete: str) -> list[str]:
    """Return names of scenes of a simulated deployment."""
    from openral_core.scene import DEPLOY_SCENES

    return shipped([DEPLOY_SCENES], incomplete)


def robot_scenes(incomplete: str) -> list[str]:
    """Return names of scenes with a real arm."""
    from openral_core.scene import ROBOT_SCENES

    return shipped([ROBOT_SCENES], incomplete)


def scenes(incomplete: str) -> list[str]:
    """Return names of scenes of any kind."""
    from openral_core.scene import SCENE_PATTERNS

    return shipped(SCENE_PATTERNS, incomplete)


def suites(incomplete: str) -> list[str]:
    """Return names of benchmark suites."""
    from openral_core.suite import SUITE_PATTERNS

    return shipped(SUITE_PATTERNS, incomplete)


def shipped(patterns: Sequence[str], incomplete: str) -> list[str]:
    """Return the names that begin so among files below openral's data, by their patterns (see `find_files`)."""
    from openral_core.files.named_files import names_of

    return [name for name in names_of(patterns) if name.startswith(incomplete)]
