"""`openral train bc` on a LeRobot dataset that openral did not write."""

from __future__ import annotations

from pathlib import Path

import pytest
from plain_dataset import RECIPE, write_dataset
from typer.testing import CliRunner

from openral_cli.app import app
from openral_core.errors import OpenralError


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_dataset(tmp_path_factory.mktemp("plain") / "dataset")


def test_a_recipe_of_ours_is_refused_in_one_line(
    dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["train", "bc", "--dataset", str(dataset), "--out", "skill", "--steps", "2"]
    refused = CliRunner().invoke(app, words).exception
    assert isinstance(refused, OpenralError)
    assert "has no label.chunk" in str(refused)
    assert "--recipe" in str(refused)
    assert "\n" not in str(refused)


def test_cloning_writes_a_skill_that_fits(
    dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cubes.yaml").write_text(RECIPE)
    words = ("train", "bc", "--dataset", str(dataset), "--recipe", "cubes.yaml", "--out", "skill")
    for command in ((*words, "--steps", "2"), ("rskill", "check", "skill")):
        done = CliRunner().invoke(app, command)
        assert done.exit_code == 0, (done.output, done.exception)
