"""`openral train bc` on a LeRobot dataset that openral did not write."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from plain_dataset import RECIPE, write_dataset

OPENRAL = str(Path(sys.executable).parent / "openral")


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_dataset(tmp_path_factory.mktemp("plain") / "dataset")


def openral(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [OPENRAL, *words], cwd=cwd, capture_output=True, text=True, timeout=200, check=False
    )


def test_a_recipe_of_ours_is_refused_in_one_line(dataset: Path, tmp_path: Path) -> None:
    done = openral("train", "bc", "--dataset", str(dataset), "--out", "skill", "--steps", "2", cwd=tmp_path)
    assert done.returncode == 1
    assert "has no label.chunk" in done.stderr
    assert "--recipe" in done.stderr
    assert "Traceback" not in done.stderr


def test_cloning_writes_a_skill_that_fits(dataset: Path, tmp_path: Path) -> None:
    (tmp_path / "cubes.yaml").write_text(RECIPE)
    words = ("train", "bc", "--dataset", str(dataset), "--recipe", "cubes.yaml", "--out", "skill")
    done = openral(*words, "--steps", "2", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    done = openral("rskill", "check", "skill", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
