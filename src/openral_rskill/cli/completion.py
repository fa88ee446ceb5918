"""Names of skills that the shell's Tab key completes."""

from __future__ import annotations


def skills(incomplete: str) -> list[str]:
    """Return the names of skills on this machine that begin so; a skill's folder bears its name."""
    from openral_rskill.store.store_folders import skill_folders

    return sorted({folder.name for folder in skill_folders() if folder.name.startswith(incomplete)})
