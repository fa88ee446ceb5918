"""The bridge's record on a disk that fails, and in folders that cannot be."""

from __future__ import annotations

import logging
import os
import stat
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from openral_core.errors import OutputError
from openral_sim_bridge import truth_recorder
from openral_sim_bridge.backend import Snapshot
from openral_sim_bridge.truth_recorder import FILE_NAME, TruthRecorder


def add_steps(record: TruthRecorder, count: int, positions: int = 20) -> None:
    for number in range(count):
        world = Snapshot(np.zeros(positions), np.zeros(3))
        record.step(number / 80.0, 0.0, world, np.zeros(4), False, np.array([False]), "")


@pytest.fixture
def full_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 256 KiB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if done.returncode:
        pytest.skip("only root can mount a small disk")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def test_a_full_disk_costs_the_record_and_is_said_once(
    full_disk: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(truth_recorder, "FLUSH_S", 0.05)
    record = TruthRecorder(full_disk / "run", ["task"], 80.0)
    add_steps(record, 10)
    path = full_disk / "run" / FILE_NAME
    end = time.monotonic() + 60.0
    while not path.exists() and time.monotonic() < end:
        time.sleep(0.01)
    with caplog.at_level(logging.ERROR):
        add_steps(record, 3000)
        while not caplog.records and time.monotonic() < end:
            time.sleep(0.01)
        add_steps(record, 10)
        record.close()
    assert [str(full_disk) in entry.getMessage() for entry in caplog.records] == [True]
    with np.load(path) as kept:  # what was written before is whole
        assert 0 < len(kept["stamp_s"]) < 3000
    assert sorted(file.name for file in path.parent.iterdir()) == [FILE_NAME]


def test_a_run_folder_is_private_and_must_be_a_folder(tmp_path: Path) -> None:
    TruthRecorder(tmp_path / "run", ["task"], 80.0).close()
    assert stat.S_IMODE(os.stat(tmp_path / "run").st_mode) == 0o700
    (tmp_path / "file").touch()
    with pytest.raises(OutputError, match="run_dir"):
        TruthRecorder(tmp_path / "file", ["task"], 80.0)


def test_of_a_long_run_the_newest_part_is_kept(tmp_path: Path) -> None:
    record = TruthRecorder(tmp_path, ["task"], 80.0, limit=80)
    for number in range(300):
        record.chunk(number / 80.0, 0.0, False)
    record.reset(0.0, "task", 0)
    add_steps(record, 300)
    record.close()
    with np.load(tmp_path / FILE_NAME) as kept:
        stamps = kept["stamp_s"]
        assert 70 <= len(stamps) <= 80
        np.testing.assert_allclose(stamps, np.arange(300 - len(stamps), 300) / 80.0)
        np.testing.assert_allclose(kept["chunk_stamp_s"], np.arange(220, 300) / 80.0)
        assert len(kept["reset_init"]) == 1


def rest(record: TruthRecorder, begin_s: float, end_s: float, at: float = 0.0, success: bool = True) -> None:
    """Add control steps at 80 Hz in which the arm is held, in a world where everything lies at a place."""
    for stamp_s in np.arange(begin_s, end_s, 1 / 80.0):
        world = Snapshot(np.full(20, at), np.zeros(3))
        record.step(float(stamp_s), 0.0, world, np.zeros(4), True, np.array([success]), "")


def test_a_world_at_rest_pushes_nothing_out_of_the_record(tmp_path: Path) -> None:
    record = TruthRecorder(tmp_path, ["task"], 80.0, limit=400)
    add_steps(record, 80)
    rest(record, 1.0, 300.0)
    rest(record, 300.0, 300.5, at=0.1)
    rest(record, 300.5, 301.0, at=0.1, success=False)
    record.close()
    with np.load(tmp_path / FILE_NAME) as kept:
        stamps, success = kept["stamp_s"], kept["success"][:, 0]
    np.testing.assert_allclose(stamps[:80], np.arange(80) / 80.0)
    gaps = np.diff(stamps[80:])
    assert gaps[:20].max() <= 0.5 + 1 / 80.0
    assert gaps.max() <= 0.01 * 300.0 + 1 / 80.0
    assert {1.0, 300.0, 300.5} <= set(stamps), "when success or a place changes, it is known to the step"
    assert success[stamps == 1.0]
    assert not success[stamps == 300.5]


def test_the_record_of_a_world_at_rest_is_not_written_again_and_stays_fresh(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A model that reads the record takes one that is old for that of a simulator that has ended."""
    monkeypatch.setattr(truth_recorder, "FLUSH_S", 0.02)
    record, path = TruthRecorder(tmp_path, ["task"], 80.0), tmp_path / FILE_NAME
    rest(record, 0.0, 0.2)
    end = time.monotonic() + 60.0
    while not path.exists() and time.monotonic() < end:
        time.sleep(0.01)
    time.sleep(0.1)
    os.utime(path, (1.0, 1.0))
    written = path.stat().st_ino
    while path.stat().st_mtime == 1.0 and time.monotonic() < end:
        time.sleep(0.01)
    assert (path.stat().st_ino, path.stat().st_mtime > 1.0) == (written, True)
    record.close()


def test_a_reset_to_a_task_whose_world_has_more_or_fewer_bodies_is_recorded(tmp_path: Path) -> None:
    """As from robosuite's Lift to Stack and back, in one scene."""
    record = TruthRecorder(tmp_path, ["Lift"], 20.0, limit=8)
    for positions in (16, 23, 16):
        record.reset(0.0, "Stack" if positions == 23 else "Lift", 0)
        add_steps(record, 2, positions)
    record.close()
    with np.load(tmp_path / FILE_NAME) as kept:
        assert kept["qpos"].shape == (6, 23)
        assert np.isfinite(kept["qpos"]).sum(axis=1).tolist() == [16, 16, 23, 23, 16, 16]


def test_at_rest_a_reset_to_a_world_with_other_bodies_is_recorded(tmp_path: Path) -> None:
    record = TruthRecorder(tmp_path, ["Lift"], 20.0)
    for k, positions in enumerate((16, 23, 23, 16)):
        world = Snapshot(np.zeros(positions), np.zeros(3))
        record.step(k / 20.0, 0.0, world, np.zeros(4), True, np.array([False]), "")
    record.close()
    with np.load(tmp_path / FILE_NAME) as kept:
        assert np.isfinite(kept["qpos"]).sum(axis=1).tolist() == [16, 23, 16]


def test_what_happens_in_rest_is_written_though_no_row_is_added(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(truth_recorder, "FLUSH_S", 0.02)
    record, path = TruthRecorder(tmp_path, ["task"], 80.0), tmp_path / FILE_NAME
    rest(record, 0.0, 0.2)
    end = time.monotonic() + 60.0
    while not path.exists() and time.monotonic() < end:
        time.sleep(0.01)
    time.sleep(0.1)
    record.chunk(0.2, 0.0, True)
    record.disturbed(0.2, "the gripper was opened")
    record.close()
    with np.load(path) as kept:
        assert (kept["chunk_rejected"].tolist(), kept["disturbed"].tolist()) == (
            [True],
            ["the gripper was opened"],
        )
