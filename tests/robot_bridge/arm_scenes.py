"""The shipped scenes of real arms, written into a test's folder with changes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from openral_core.files.share import share_directory

SCENES = share_directory() / "scenes" / "robot"


def read_arm_scene(name: str) -> dict[str, Any]:
    """Return what a shipped scene's file says; the path of its model is absolute."""
    content: dict[str, Any] = yaml.safe_load((SCENES / f"{name}.yaml").read_text())
    options = content["scene"]["backend_options"]
    options["model"] = str((SCENES / options["model"]).resolve())
    return content


def write_arm_scene(folder: Path, content: dict[str, Any]) -> Path:
    """Write a scene's file into a folder, and return its path."""
    path = folder / "scene.yaml"
    path.write_text(yaml.safe_dump(content))
    return path
