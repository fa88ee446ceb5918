"""A recording becomes files for Rerun's viewer, read back by Rerun's own reader."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from recorded_deployment import RecordedDeployment
from typer.testing import CliRunner

from openral_core.errors import DatasetError, InstallationError, OutputError
from openral_data.commands import app
from openral_data.lerobot_v3 import Dataset, open_dataset
from openral_data.rerun_export import export_rerun


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two episodes, of which a person did the second half of each."""
    root = tmp_path_factory.mktemp("rerun") / "recording"
    world = RecordedDeployment(root, "episodes")
    for number in range(2):
        goal, hand = f"{2 * number:032x}", f"{2 * number + 1:032x}"
        world.goal(goal)
        world.run(40, goal_id=goal, words="push")
        world.hand(hand)
        world.run(40, goal_id=hand, words="push")
        world.hand("")
        world.goal("")
    world.recorder.close()
    return root


def read(path: Path) -> dict[str, dict[str, Any]]:
    """Return the columns of a file by entity and component, those of one entity joined in the order of the frames."""
    from rerun.chunk import RrdReader

    found: dict[str, dict[str, Any]] = {}
    chunks = [chunk for chunk in RrdReader(path).stream() if chunk.num_rows]
    for chunk in chunks:
        batch = chunk.to_record_batch()
        for name in batch.schema.names:
            found.setdefault(chunk.entity_path, {}).setdefault(name, []).extend(batch[name].to_pylist())
    return found


def columns(dataset: Dataset, name: str, episode: int) -> Any:
    first, end = (dataset.episodes[f"dataset_{side}_index"][episode] for side in ("from", "to"))
    return dataset.columns([name])[name][first:end]


def test_each_episode_is_a_file_with_its_numbers_pictures_truth_values_and_outcome(
    recording: Path, tmp_path: Path
) -> None:
    pytest.importorskip("rerun")
    words = ["convert", str(recording), "--to", "rerun", "--out", str(tmp_path / "out")]
    done = CliRunner().invoke(app, words, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    dataset = open_dataset(recording / "dataset")
    assert [path.name for path in sorted((tmp_path / "out").iterdir())] == [
        f"episode-{number:06d}.rrd" for number in range(len(dataset.episodes["length"]))
    ]
    for number, length in enumerate(dataset.episodes["length"]):
        found = read(tmp_path / "out" / f"episode-{number:06d}.rrd")
        for name in ("observation.state", "action.executed", "intervention", "action.held"):
            rows = np.array([row for row in found[f"/{name}"]["Scalars:scalars"] if row], np.float64)
            expected = columns(dataset, name, number).reshape(length, -1)
            np.testing.assert_allclose(rows, expected, atol=1e-6)
        assert 0 < np.sum(found["/intervention"]["Scalars:scalars"]) < length
        for camera in dataset.cameras:
            assert len([part for part in found[f"/{camera}"]["VideoStream:sample"] if part]) == length
        assert found["/__properties/episode"]["outcome"] == [[dataset.episodes["outcome"][number]]]


def test_an_export_that_fails_leaves_no_file(recording: Path, tmp_path: Path) -> None:
    pytest.importorskip("rerun")
    root = shutil.copytree(recording / "dataset", tmp_path / "dataset")
    dataset = open_dataset(root)
    [*_, last] = sorted(root.glob(f"videos/{dataset.cameras[0]}/*/*.mp4"))
    last.unlink()
    with pytest.raises(DatasetError, match="Rerun cannot read it"):
        export_rerun(dataset, tmp_path / "out")
    assert list((tmp_path / "out").iterdir()) == []


def test_the_reader_warns_of_nothing_that_is_added(recording: Path, tmp_path: Path) -> None:
    pytest.importorskip("rerun")
    words = ["data", "convert", str(recording), "--to", "rerun", "--out", str(tmp_path / "out")]
    code = f"import sys; from openral_cli.app import main; sys.argv[1:] = {words}; main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=200)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("2 episodes in ")


def test_files_that_are_there_are_not_written_over(recording: Path, tmp_path: Path) -> None:
    pytest.importorskip("rerun")
    (tmp_path / "episode-000000.rrd").touch()
    with pytest.raises(OutputError, match="holds episodes already; name another --out"):
        export_rerun(open_dataset(recording / "dataset"), tmp_path)


def test_without_rerun_it_says_what_to_install(
    recording: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "rerun.chunk", None)
    with pytest.raises(InstallationError, match=r"pip install 'openral\[rerun\]'"):
        export_rerun(open_dataset(recording / "dataset"), tmp_path)


def test_bags_become_a_recording_first(tmp_path: Path) -> None:
    words = ["convert", str(tmp_path), "--to", "rerun", "--out", str(tmp_path / "out")]
    told = re.sub(r"[│\s]+", " ", CliRunner().invoke(app, words).output)
    assert "convert bags to a recording first" in told
