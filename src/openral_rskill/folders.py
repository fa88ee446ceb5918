"""The folders on this machine that hold skills."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from openral_core.files.share import share_directory
from openral_core.manifest import MANIFEST_NAME
from openral_rskill.hub.store import installed_skills


def skill_folders(search: Sequence[Path] = ()) -> list[Path]:
    """Return the folders that hold an `rskill.yaml`: those of `search`, openral's own, those of the cache."""
    roots = [*search, share_directory() / "rskills", installed_skills()]
    return [
        folder for root in roots if root.is_dir() for folder in sorted(root.iterdir()) if holds_skill(folder)
    ]


def holds_skill(folder: Path) -> bool:
    """Whether a folder has an `rskill.yaml`; False for names that no file system takes, where Path would raise."""
    return os.path.isfile(folder / MANIFEST_NAME)
