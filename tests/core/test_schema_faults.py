"""What a fault of a YAML file says: one line each, of what was written, with what is to be written in its place."""

from __future__ import annotations

from pathlib import Path

import pytest
from example_skill import MANIFEST

from openral_core.errors import ManifestError
from openral_core.files.share import share_directory
from openral_core.manifest import load_manifest
from openral_core.robot import load_robot

SAWYER = (share_directory() / "robots/sawyer/robot.yaml").read_text()


def faults_of_robot(folder: Path, old: str, new: str) -> list[str]:
    """Load Sawyer's description with one text replaced; return the lines that refuse it, without their file."""
    assert old in SAWYER
    (folder / "robot.yaml").write_text(SAWYER.replace(old, new, 1))
    with pytest.raises(ManifestError) as caught:
        load_robot(folder / "robot.yaml")
    return [line.partition(": ")[2] for line in str(caught.value).splitlines()]


def test_a_list_whose_only_entry_does_not_fit_has_the_fault_of_that_entry_alone(tmp_path: Path) -> None:
    (line,) = faults_of_robot(tmp_path, "embodiment_tags: [sawyer]", "embodiment_tags: [quad]")
    assert line.startswith("embodiment_tags[0]: 'quad' is not known here; use one of ")


def test_a_list_that_is_too_short_says_so_in_words(tmp_path: Path) -> None:
    lines = faults_of_robot(tmp_path, "embodiment_tags: [sawyer]", "embodiment_tags: []")
    assert lines == ["embodiment_tags: has 0 entries, needed at least 1; add to the list"]


def test_text_in_place_of_keys_is_told_the_keys(tmp_path: Path) -> None:
    path = tmp_path / "rskill.yaml"
    path.write_text(MANIFEST + "\nexamples: [reach the ball]\n")
    with pytest.raises(ManifestError) as caught:
        load_manifest(path)
    assert str(caught.value).endswith(
        "examples[0]: 'reach the ball': needed keys with values; write keys with values: task, phrases, leaves"
    )
