"""What cannot run is refused with one clear error before anything moves, and nothing is left behind."""

from __future__ import annotations

from pathlib import Path

import pytest
from system_files import write_bare_scene, write_scene, write_skill
from system_stack import Stack


def test_a_broken_manifest_names_file_line_and_field(tmp_path):
    skill = Path(write_skill(tmp_path, "broken"))
    manifest = skill / "rskill.yaml"
    manifest.write_text(manifest.read_text().replace("chunk_size: 16", "chunk_size: many"))
    scene = write_scene(tmp_path, skills=[str(skill)])
    words = ("--config", str(scene), "--run-dir", "run", "--no-video")
    with Stack(tmp_path, "openral", "deploy", "sim", *words) as stack:
        assert stack.wait() == 1
    line = 1 + manifest.read_text().splitlines().index("chunk_size: many")
    assert stack.said(f"{manifest}:{line}: chunk_size") == 1, stack.output
    assert "Traceback" not in stack.output


@pytest.mark.long
def test_a_scene_that_a_skill_does_not_fit_is_refused_with_its_fix(tmp_path):
    skill = Path(write_skill(tmp_path, "tall"))
    manifest = skill / "rskill.yaml"
    tall = manifest.read_text().replace("min_height: 96", "min_height: 960")
    manifest.write_text(tall.replace("image_size:\n  - 96", "image_size:\n  - 960"))
    scene = write_bare_scene(tmp_path, skills=[str(skill)])
    words = ("--config", str(scene), "--run-dir", "run", "--no-video")
    with Stack(tmp_path, "openral", "deploy", "sim", *words) as stack:
        assert stack.wait() == 1
    assert (
        stack.said(
            "cannot run: camera observation.images.camera1: corner2 128x128, needed at least 96x960 px"
        )
        == 1
    )
    assert "set observation_width and observation_height of the scene" in stack.output
    assert "Traceback" not in stack.output
