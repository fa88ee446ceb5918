"""What a run says of its recording at its end."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from openral_cli.deploy.full_disk import DiskWatch
from openral_cli.deploy.recording_summary import RunRecording
from openral_core.errors import OutputError, UsageError
from openral_core.files.bounded_log import move_when_long
from openral_data.dataset_schema import DatasetMetadata
from openral_data.episode import Episode, encode_png
from openral_data.lerobot_v3 import DatasetWriter

CAMERA, FRAMES = "observation.images.camera1", 3


def put_episodes(root: Path, count: int) -> None:
    """Write a dataset of so many episodes in place of one that is there."""
    shutil.rmtree(root, ignore_errors=True)
    writer = DatasetWriter(
        root, DatasetMetadata(10, {CAMERA: (16, 16)}, "ee_pos3_gripper1", 4, 1, {"push": "push"}, "dot")
    )
    one = np.zeros((FRAMES, 1), np.float32)
    shown = Episode(
        "push",
        "policy",
        0,
        0,
        {CAMERA: [encode_png(np.zeros((16, 16, 3), np.uint8))] * FRAMES},
        np.zeros((FRAMES, 4), np.float32),
        np.zeros((FRAMES, 1, 4), np.float32),
        np.ones(FRAMES, np.int64),
        one.astype(bool),
        one,
        one,
        np.zeros((FRAMES, 6), np.float32),
    )
    for _ in range(count):
        writer.add(shown)
    writer.close()


@pytest.fixture
def small_disk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A mounted file system with room for 256 kB."""
    folder = tmp_path_factory.mktemp("disk")
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(folder)],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        pytest.skip(f"a small disk cannot be mounted here: {done.stderr.strip()}")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def begun(run: Path, strategy: str, record_dir: str = "") -> RunRecording:
    recording = RunRecording.of({"record": strategy, "record_dir": record_dir}, run)
    assert recording is not None
    return recording


def reported(recording: RunRecording) -> tuple[bool, str]:
    console = Console(record=True, width=200)
    is_fine = recording.report(console)
    return is_fine, console.export_text()


def test_a_run_that_records_nothing_on_purpose_says_nothing(tmp_path: Path) -> None:
    assert RunRecording.of({"record": "none", "record_dir": ""}, tmp_path) is None
    with pytest.raises(UsageError, match="is no strategy"):
        RunRecording.of({"record": "sometimes"}, tmp_path)


def test_only_what_this_run_added_is_counted(tmp_path: Path) -> None:
    dataset = tmp_path / "kept" / "dataset"
    put_episodes(dataset, 2)
    recording = begun(tmp_path / "run", "episodes", str(dataset.parent))
    put_episodes(dataset, 3)
    assert reported(recording) == (True, f"recorded 1 episode, {FRAMES} frames: {dataset.parent}\n")


@pytest.mark.parametrize("strategy", ["episodes", "always"])
def test_a_recording_that_stayed_empty_fails_the_run(strategy: str, tmp_path: Path) -> None:
    is_fine, said = reported(begun(tmp_path, strategy))
    assert not is_fine
    assert said.startswith("nothing was recorded: ")


@pytest.mark.parametrize("strategy", ["episodes", "always", "highlight", "interventions"])
def test_a_recorder_that_stopped_is_quoted(strategy: str, tmp_path: Path) -> None:
    recording = begun(tmp_path, strategy)
    why = "1.2 GB are free in recording, the floor is 2.0 GB; free some space, the arm goes on"
    (tmp_path / "launch.log").write_text(
        f"[recorder-7] [WARN] [1.5] [openral.recorder]: recording stopped: {why}\n[reasoner-6] [INFO] [2.0] other\n"
    )
    assert reported(recording) == (False, f"nothing was recorded: {why}\n")


def test_a_recorder_that_stopped_long_ago_is_quoted(tmp_path: Path) -> None:
    recording = begun(tmp_path, "episodes")
    log = tmp_path / "launch.log"
    log.write_text("[recorder-7] [WARN] [1.5] [openral.recorder]: recording stopped: the disk is full\n")
    assert move_when_long(log, 1)
    log.write_text("[reasoner-6] [INFO] [2.0] other\n")
    assert reported(recording) == (False, "nothing was recorded: the disk is full\n")


def test_a_disk_with_less_room_than_the_floor_is_refused_before_the_run(
    small_disk: Path, tmp_path: Path
) -> None:
    arguments = {"record": "episodes", "record_dir": str(small_disk / "recording")}
    with pytest.raises(OutputError) as refused:
        RunRecording.of(arguments, tmp_path)
    assert str(refused.value) == (
        f"--record-dir {small_disk}/recording: 0.0 GB are free there, and nothing is recorded below 2 GB; free some "
        "space, or name another --record-dir"
    )
    with pytest.raises(OutputError, match=r"recording folder .* nothing is recorded below 2 GB"):
        RunRecording.of({"record": "episodes", "record_dir": ""}, small_disk / "run")
    assert list(small_disk.iterdir()) == []


def test_a_folder_that_cannot_be_written_is_refused_before_the_run(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match=r"--record-dir /proc/nope: .*; name a folder that can be written"):
        RunRecording.of({"record": "episodes", "record_dir": "/proc/nope"}, tmp_path)


def test_a_disk_that_gets_full_is_told_once(small_disk: Path) -> None:
    watch = DiskWatch(small_disk)
    assert watch.look() == ""
    (small_disk / "filler").write_bytes(bytes(shutil.disk_usage(small_disk).free))
    assert watch.look().startswith(f"{small_disk}: No space left on device; the deployment goes on")
    assert watch.look() == ""
    assert watch.was_full


@pytest.mark.parametrize(
    ("strategy", "why"),
    [("highlight", "nobody asked for a highlight"), ("interventions", "nobody took the arm")],
)
def test_no_occasion_is_no_fault(strategy: str, why: str, tmp_path: Path) -> None:
    assert reported(begun(tmp_path, strategy)) == (True, f"nothing was recorded: {why}\n")


def test_a_broken_dataset_and_unfinished_parts_are_named(tmp_path: Path) -> None:
    recording = begun(tmp_path, "episodes")
    (tmp_path / "recording" / "segments" / "one").mkdir(parents=True)
    assert f"1 unfinished: `openral data repair {tmp_path}" in reported(recording)[1]
    put_episodes(tmp_path / "recording" / "dataset", 1)
    (tmp_path / "recording" / "dataset" / "meta" / "info.json").write_text("{")
    is_fine, said = reported(recording)
    assert not is_fine
    assert said.startswith("the recording cannot be read: ")
