"""Appending of recorded episodes: statistics, words after a full disk, and datasets that another robot made."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from recorded_deployment import COLUMNS

from openral_core.errors import DatasetError
from openral_data.datasets.appender import DatasetAppender, NewEpisode
from openral_data.lerobot_v3 import open_dataset
from openral_data.recording.repair import repair_recording
from openral_data.recording_folder import RecordingFolder

BARE = replace(COLUMNS, cameras=())
EPOCH_S = 1.76e9
"""[s since 1970] as a real arm's stamps are."""


def episode(words: str, frames: int = 60, begin_s: float = EPOCH_S) -> NewEpisode:
    """An episode of the columns of numbers, without pictures."""
    columns = {}
    for name, (dtype, _, size) in BARE.vectors().items():
        values = np.zeros((frames, size), dtype)
        if name == "stamp_s":
            values[:, 0] = begin_s + np.arange(frames) / BARE.fps
        columns[name] = values[:, 0] if size == 1 else list(values)
    return NewEpisode(pa.table(columns, schema=BARE.journal_schema()), {}, words, {})


def test_statistics_of_stamps_since_1970_are_those_of_the_rows(tmp_path: Path) -> None:
    appender = DatasetAppender(tmp_path, BARE)
    appender.append(episode("push"))
    appender.append(episode("push", 40, EPOCH_S + 3600.0))
    stamps = open_dataset(tmp_path).columns(["stamp_s"])["stamp_s"].ravel()
    said = json.loads((tmp_path / "meta" / "stats.json").read_text())["stamp_s"]
    np.testing.assert_allclose(said["std"], [stamps.std()], rtol=1e-6)
    np.testing.assert_allclose(said["mean"], [stamps.mean()], rtol=1e-12)
    first = appender.row(0)["stats/stamp_s/std"]
    np.testing.assert_allclose(first, [stamps[:60].std()], rtol=1e-6)


def test_statistics_are_those_of_the_numbers_that_are_known(tmp_path: Path) -> None:
    """A joint that no message names is nan, which is no JSON, and would make all of a column's statistics nan."""
    joints = np.tile(np.arange(60, dtype=np.float32)[:, None], len(BARE.joints))
    joints[:, 0], joints[:30, 1] = np.nan, np.nan
    column = pa.array(list(joints), BARE.journal_schema().field("observation.joints").type)
    appender = DatasetAppender(tmp_path, BARE)
    for _ in range(2):
        one = episode("push")
        at = one.rows.column_names.index("observation.joints")
        appender.append(replace(one, rows=one.rows.set_column(at, "observation.joints", column)))
    assert np.isnan(appender.row(0)["stats/observation.joints/mean"][0])

    def refuse(word: str) -> None:
        raise AssertionError(f"{word} is no JSON")

    text = (tmp_path / "meta" / "stats.json").read_text()
    said = json.loads(text, parse_constant=refuse)["observation.joints"]
    assert [said[name] for name in ("min", "max", "mean")] == [[0.0, 30.0], [0.0, 59.0], [0.0, 44.5]]
    assert said["std"] == pytest.approx([0.0, np.arange(30, 60).std()])
    assert said["count"] == [120]


def test_words_that_could_not_be_written_are_written_with_the_next_episode(tmp_path: Path) -> None:
    appender = DatasetAppender(tmp_path, BARE)
    appender.append(episode("push"))
    tasks = tmp_path / "meta" / "tasks.parquet"
    kept = tasks.read_bytes()
    tasks.unlink()
    (tasks / "in the way").mkdir(parents=True)  # as a full disk, the file cannot be written
    with pytest.raises(OSError, match="tasks"):
        appender.append(episode("pull"))
    (tasks / "in the way").rmdir()
    tasks.rmdir()
    tasks.write_bytes(kept)
    appender.append(episode("pull"))
    again = DatasetAppender(tmp_path, BARE)
    again.append(episode("lift"))
    dataset = open_dataset(tmp_path)
    found, words = dataset.columns(["task_index", "episode_index"]), dataset.sentences()
    of_episode = dict(zip(found["episode_index"].tolist(), found["task_index"].tolist(), strict=True))
    assert [words[of_episode[number]] for number in range(3)] == ["push", "pull", "lift"]


def test_a_dataset_of_an_arm_with_other_joints_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    DatasetAppender(tmp_path, BARE).append(episode("push"))
    info = (tmp_path / "meta" / "info.json").read_bytes()
    other = replace(BARE, joints=("elbow", "gripper"), robot_type="another")
    with pytest.raises(DatasetError, match=r"observation.joints.*elbow.*record into another folder"):
        DatasetAppender(tmp_path, other)
    assert (tmp_path / "meta" / "info.json").read_bytes() == info


def test_a_segment_whose_camera_leads_out_of_the_folder_is_not_repaired(tmp_path: Path) -> None:
    folder = RecordingFolder(tmp_path / "recording")
    segment = folder.segments / "1"
    segment.mkdir(parents=True)
    columns = COLUMNS.as_json()
    columns["cameras"][0]["key"] = "../../../evil"
    (segment / "segment.json").write_text(json.dumps({"columns": columns, "about": {}}))
    [line] = repair_recording(folder)
    assert line.startswith("1: not repaired, camera 'c1': videos are in a folder named by feature_key, and ")
    assert segment.is_dir()
