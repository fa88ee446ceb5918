"""Scenes and skills written for one test: the shipped ones with a few fields changed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import yaml

from openral_core.files.share import share_directory

if TYPE_CHECKING:
    from system_operator import Operator

SHARE = share_directory()
EMPTY_SAFETENSORS = (2).to_bytes(8, "little") + b"{}"


def write_scene(folder: Path, **changes: Any) -> Path:
    """Write the drawer's scene with top-level fields changed; None takes a field out."""
    content = yaml.safe_load((SHARE / "scenes/deploy/metaworld_drawer.yaml").read_text()) | changes
    path = folder / "scene.yaml"
    path.write_text(yaml.safe_dump({key: value for key, value in content.items() if value is not None}))
    return path


def write_bare_scene(folder: Path, **changes: Any) -> Path:
    """Write the drawer's scene without motions, monitor, detector, playbooks and mission, and with fields changed."""
    left_out = dict.fromkeys(("motions", "reward_skill", "detector_skill", "playbooks", "mission"))
    return write_scene(folder, **{**left_out, **changes})


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


def until_recorded(run_dir: Path, operator: Operator) -> dict[str, np.ndarray]:
    """Return the simulator's record once it has what the bridge has done until now."""
    stamp = operator.status[-1].header.stamp
    now_s, path = stamp.sec + stamp.nanosec * 1e-9, run_dir / "truth.npz"
    operator.until(lambda: path.is_file() and load_truth(run_dir)["stamp_s"][-1] >= now_s, "the record")
    return load_truth(run_dir)


def moved_while_held(truth: dict[str, np.ndarray]) -> bool:
    """Whether the set point moved in a step in which the arm was said to hold; resets of the world do not count."""
    moved, held = np.abs(np.diff(truth["mocap_pos"], axis=0)).max(axis=1), truth["held"][1:].copy()
    for stamp in truth["reset_stamp_s"]:
        held &= np.abs(truth["stamp_s"][1:] - stamp) > 2 / float(truth["control_hz"])
    return bool(moved[held].any())
