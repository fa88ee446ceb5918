"""Scenes and skills written for one test: the shipped ones with a few fields changed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import yaml

from openral_core.files.share import share_directory

SHARE = share_directory()
EMPTY_SAFETENSORS = (2).to_bytes(8, "little") + b"{}"


def write_scene(folder: Path, **changes: Any) -> Path:
    """Write the drawer's scene with top-level fields changed; None takes a field out."""
    content = yaml.safe_load((SHARE / "scenes/deploy/metaworld_drawer.yaml").read_text()) | changes
    path = folder / "scene.yaml"
    path.write_text(yaml.safe_dump({key: value for key, value in content.items() if value is not None}))
    return path


def write_skill(folder: Path, name: str, **script: Any) -> str:
    """Write a skill of the fake family whose `FakeScript` is `script`, and return its reference."""
    skill = folder / name
    skill.mkdir()
    content = yaml.safe_load((SHARE / "rskills/mini-metaworld/rskill.yaml").read_text())
    content |= {"name": f"tests/rskill-{name}", "model_family": "fake", "policy_extras": script}
    (skill / "rskill.yaml").write_text(yaml.safe_dump(content))
    (skill / "model.safetensors").write_bytes(EMPTY_SAFETENSORS)
    return str(skill)


def load_truth(run_dir: Path) -> dict[str, np.ndarray]:
    """The simulator's own record of a run."""
    with np.load(run_dir / "truth.npz") as archive:
        return {name: archive[name] for name in archive.files}
