"""The skills in rskills/: they load, and what they say of themselves is there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from example_skill import SEED

from openral_core.files.share import share_directory
from openral_core.manifest import load_manifest
from openral_core.manifest.family_rules import unread_fields

FOLDERS = sorted(path.parent for path in (share_directory() / "rskills").glob("*/rskill.yaml"))


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_shipped_skill_is_complete(folder: Path) -> None:
    manifest = load_manifest(folder)
    assert manifest.short_name == folder.name
    assert unread_fields(manifest.model_family, dict(manifest)) == []
    assert (folder / "README.md").read_text().startswith(f"# {folder.name}\n")
    evaluations = sorted((folder / "eval").glob("*.json"))
    assert evaluations or manifest.kind in ("playbook", "ros_action"), "neither has weights to be judged"
    for path in evaluations:
        source = json.loads(path.read_text())["source"]
        assert source["reproduced_locally"] is (source["status"] == "reproduced")


def test_the_three_of_the_hub_are_those_of_their_makers() -> None:
    shipped = share_directory() / "rskills"
    smolvla = (shipped / "smolvla-metaworld" / "rskill.yaml").read_bytes()
    assert smolvla.startswith(SEED.read_bytes())  # what it takes of an accelerator is added
    rldx = load_manifest(shipped / "rldx1-ft-libero-nf4")
    assert not rldx.is_commercial_use_allowed
    assert (rldx.chunk_size, rldx.replay_steps) == (16, 8)
    assert rldx.weights_uri == "hf://RLWRLD/RLDX-1-FT-LIBERO"
    assert rldx.image_preprocessing is not None
    assert rldx.image_preprocessing.history == (-6, -4, -2, 0)
    robometer = load_manifest(shipped / "robometer-4b-nf4")
    assert robometer.reward is not None
    assert robometer.reward.success_threshold == 0.8
    assert robometer.min_vram_gb["int4"] == 4.7
