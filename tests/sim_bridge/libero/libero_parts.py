"""What the tests of LIBERO's backend and files share."""

from __future__ import annotations

from pathlib import Path

from openral_sim_bridge.backends.libero.assets import PARTS

TASKS = ("libero_goal/one", "libero_goal/two")
"""Of the scripted worlds."""


def fill_assets(folder: Path) -> Path:
    """Make a folder that looks like LIBERO's assets."""
    for part in PARTS:
        (folder / part).mkdir(parents=True)
        (folder / part / "thing.xml").write_text(f"<mujoco model='{part}'/>")
    return folder
