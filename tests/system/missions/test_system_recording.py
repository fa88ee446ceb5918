"""A deployment that is recorded, read back by libraries that know nothing of openral; and a recorder that is killed."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import av
import numpy as np
import psutil
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from mcap.reader import make_reader
from system_files import load_truth
from system_stack import Stack, wait_for
from typer.testing import CliRunner

from openral_data.commands import app
from openral_data.datasets.video_splicing import readable_frames
from openral_data.recorded_columns import STATE_NAMES

CAMERA = "observation.images.camera1"
EVERY = 4
"""Control steps between two frames: 80 Hz and 20 Hz."""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The run folder of a mission that was recorded."""
    folder = tmp_path_factory.mktemp("recorded")
    words = (
        "--config",
        "metaworld_drawer",
        "--mission",
        "open the drawer",
        "--init-id",
        "1003",
        "--no-video",
    )
    with Stack(
        folder, "openral", "deploy", "sim", *words, "--record", "episodes", "--run-dir", "run"
    ) as stack:
        stack.wait()
        assert stack.said("episode 0"), stack.output
        assert stack.said("recorded 1 episode, "), stack.output
        yield folder / "run"


def rows_of(dataset: Path) -> dict[str, list[Any]]:
    return dict(pq.read_table(dataset / "data").to_pydict())


def test_each_frame_holds_what_the_simulator_says_was_executed(run: Path) -> None:
    truth, rows = load_truth(run), rows_of(run / "recording" / "dataset")
    row_of = {round(stamp * 80): row for row, stamp in enumerate(truth["stamp_s"])}
    assert len(rows["stamp_s"]) > 20
    for stamp, executed, held in zip(
        rows["stamp_s"], rows["action.executed"], rows["action.held"], strict=True
    ):
        steps = [row_of[round(stamp * 80) + step] for step in range(1, EVERY + 1)]
        np.testing.assert_allclose(executed, truth["action"][steps].reshape(-1), atol=1e-6)
        assert held == truth["held"][steps].tolist()
    assert not any(rows["intervention"])


def test_frames_follow_each_other_and_state_and_action_are_named(run: Path) -> None:
    dataset = run / "recording" / "dataset"
    rows, info = rows_of(dataset), json.loads((dataset / "meta" / "info.json").read_text())
    ends = np.flatnonzero(np.diff(rows["episode_index"])) + 1
    for part in np.split(np.round(np.array(rows["stamp_s"]) * 80), ends):
        assert set(np.diff(part)) == {EVERY}
    assert rows["index"] == list(range(info["total_frames"]))
    np.testing.assert_allclose(rows["timestamp"], np.array(rows["frame_index"]) / 20, atol=1e-5)
    assert tuple(info["features"]["observation.state"]["names"]) == STATE_NAMES
    state = np.array(rows["observation.state"])
    np.testing.assert_allclose(np.linalg.norm(state[:, 3:7], axis=1), 1.0, atol=1e-5)
    assert state[:, 7].max() > 0.05


def test_the_episode_says_what_was_asked_who_did_it_and_how_it_ended(run: Path) -> None:
    episodes = pq.read_table(run / "recording" / "dataset" / "meta" / "episodes").to_pylist()
    first, truth = episodes[0], load_truth(run)
    assert first["tasks"] == ["open the drawer"]
    assert (first["skill"], first["scene"]) == ("openral/rskill-mini-metaworld", "metaworld_drawer")
    assert (first["sim_task"], first["seed"]) == ("drawer-open-v3", 1003)
    assert first["skill_version"]
    rows = rows_of(run / "recording" / "dataset")
    last = round(rows["stamp_s"][first["length"] - 1] * 80) + EVERY
    done = bool(truth["success"][[round(stamp * 80) for stamp in truth["stamp_s"]].index(last), 0])
    assert first["outcome_simulator"] == ("success" if done else "failure")
    assert (first["outcome"], first["outcome_source"]) == (first["outcome_simulator"], "simulator")


def test_the_video_has_a_picture_for_each_row(run: Path) -> None:
    dataset = run / "recording" / "dataset"
    for episode in pq.read_table(dataset / "meta" / "episodes").to_pylist():
        chunk, file = (episode[f"videos/{CAMERA}/{part}_index"] for part in ("chunk", "file"))
        with av.open(str(dataset / f"videos/{CAMERA}/chunk-{chunk:03d}/file-{file:03d}.mp4")) as video:
            frames = [
                (float(frame.time), frame.to_ndarray(format="rgb24")) for frame in video.decode(video=0)
            ]
        assert [stamp for stamp, _ in frames] == pytest.approx(np.arange(episode["length"]) / 20)
        assert frames[0][1].shape == (128, 128, 3)
        assert np.std(frames[0][1]) > 10
        assert not np.array_equal(frames[0][1], frames[-1][1])


def test_the_bag_has_the_same_episode(run: Path) -> None:
    rows = rows_of(run / "recording" / "dataset")
    with (run / "recording" / "bags" / "episode-000000" / "bag_0.mcap").open("rb") as file:
        counts: dict[str, int] = {}
        stamps: set[int] = set()
        for _, channel, message in make_reader(file).iter_messages():
            counts[channel.topic] = counts.get(channel.topic, 0) + 1
            if channel.topic == "/openral/executed_action":
                sec, nanosec = np.frombuffer(message.data, "<u4", count=2, offset=4)
                stamps.add(round((int(sec) + 1e-9 * int(nanosec)) * 80))
    first = [
        stamp for stamp, episode in zip(rows["stamp_s"], rows["episode_index"], strict=True) if not episode
    ]
    assert {round(stamp * 80) + step for stamp in first for step in range(1, EVERY + 1)} <= stamps
    assert counts["/robot_description"] == 1
    # Pictures are sent once, and a busy machine may miss some.
    assert counts["/openral/cameras/corner2/image_raw/compressed"] >= 0.7 * len(first)
    assert counts["/openral/action_chunk"] > 3


OTHER_BRIDGE = """
import rclpy
from rclpy.node import Node
rclpy.init()
node = Node("sim_bridge", namespace="/openral")
print("ready", flush=True)
rclpy.spin(node)
"""


@contextmanager
def other_bridge() -> Iterator[None]:
    """A deployment's bridge in the graph of this test, in the namespace that is everybody's default."""
    process = subprocess.Popen([sys.executable, "-c", OTHER_BRIDGE], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == "ready\n"
        yield
    finally:
        process.terminate()
        process.wait(30)


@pytest.mark.long
def test_a_replay_goes_where_the_recording_went_beside_a_deployment(run: Path) -> None:
    """Not exactly: the recording began when the hand had been driven home, the replay begins as after a reset."""
    dataset = run / "recording" / "dataset"
    words = ("openral", "data", "replay", str(dataset), "--episode", "0")
    domain = int(os.environ["ROS_DOMAIN_ID"])
    with other_bridge(), Stack(run.parent / "replay", *words, domain=domain) as stack:
        assert stack.wait() == 0, stack.output
    first = pq.read_table(dataset / "meta" / "episodes").to_pylist()[0]
    assert f'"open the drawer", {first["length"]} frames' in stack.output
    found = re.search(r"at the end ([\d.]+) mm", stack.output)
    assert found is not None
    assert float(found[1]) < 50.0


def start_recorder(stacks: ExitStack, folder: Path, scene: Path, strategy: str, *words: str) -> Stack:
    """A bridge of the fake world that is recorded, without skills."""
    arguments = (
        f"scene:={scene}",
        f"run_dir:={folder / 'run'}",
        f"record:={strategy}",
        "exit_when_done:=false",
    )
    stack = Stack(folder, "ros2", "launch", "openral", "deploy_sim.launch.py", *arguments, *words)
    return stacks.enter_context(stack)


def frames_written(run_dir: Path) -> int:
    """Rows that are on the disk of segments that are being written."""
    count = 0
    for path in run_dir.glob("recording/segments/*/frames.arrows"):
        try:
            with pa.ipc.open_stream(path) as reader:
                for batch in reader:
                    count += batch.num_rows
        except (pa.ArrowException, OSError):
            continue
    return count


def whole_frames(run_dir: Path) -> int:
    """Frames that are on the disk with their picture; the encoder is a process of its own and comes behind the rows."""
    videos = run_dir.glob("recording/segments/*/*.mp4")
    return min(frames_written(run_dir), sum(map(readable_frames, videos)))


def test_an_operator_begins_ends_and_judges_an_episode(fake_scene: Path, tmp_path: Path) -> None:
    with ExitStack() as stacks:
        stack = start_recorder(stacks, tmp_path, fake_scene, "episodes")
        wait_for(
            lambda: (tmp_path / "run" / "recording").is_dir(), lambda: f"a recorder; output:\n{stack.output}"
        )
        started = stack.beside("openral", "data", "record", "start", "--patience", "60")
        assert started.returncode == 0, started.stdout + started.stderr
        wait_for(lambda: frames_written(tmp_path / "run") > 5, lambda: f"frames; output:\n{stack.output}")
        domain = {"ROS_DOMAIN_ID": str(stack.domain)}
        for order in (["mark", "failure"], ["stop"]):
            done = CliRunner().invoke(app, ["record", *order, "--patience", "60"], env=domain)
            assert done.exit_code == 0, done.output
        refused = CliRunner().invoke(app, ["record", "highlight", "--patience", "60"], env=domain)
        assert (refused.exit_code, "record:=highlight" in refused.output) == (1, True)
        stack.interrupt()
        assert stack.wait() == 0, stack.output
    [episode] = pq.read_table(tmp_path / "run" / "recording" / "dataset" / "meta" / "episodes").to_pylist()
    assert (episode["outcome"], episode["outcome_source"], episode["seed"]) == ("failure", "operator", 3)
    assert episode["length"] > 5


@pytest.mark.long
def test_a_killed_recorder_loses_less_than_a_second_and_is_started_again(
    fake_scene: Path, tmp_path: Path
) -> None:
    with ExitStack() as stacks:
        stack = start_recorder(stacks, tmp_path, fake_scene, "always")
        whole = [0]

        def is_under_way() -> bool:
            """A second is kept whatever happens, and less than one would be lost now."""
            whole[0] = whole_frames(tmp_path / "run")
            return whole[0] > max(20, frames_written(tmp_path / "run") - 20)

        wait_for(is_under_way, lambda: f"frames; output:\n{stack.output}")
        [recorder] = [process for process in stack.processes() if "recorder" in process.cmdline()]
        family = [recorder, *recorder.children(recursive=True)]
        assert len(family) == 2  # the encoder is a process of its own
        for process in family:
            process.kill()
        psutil.wait_procs(family, timeout=10)
        stack.until_says("cut off")  # the one that is started again finishes what was left
        rows = rows_of(tmp_path / "run" / "recording" / "dataset")
        wait_for(
            lambda: frames_written(tmp_path / "run") > 20, lambda: f"more frames; output:\n{stack.output}"
        )
        stack.interrupt()
        assert stack.wait() == 0, stack.output
    assert len(rows["stamp_s"]) >= whole[0]
    episode = pq.read_table(tmp_path / "run" / "recording" / "dataset" / "meta" / "episodes").to_pylist()[0]
    assert episode["truncated"]
    video = tmp_path / "run" / "recording" / "dataset" / f"videos/{CAMERA}/chunk-000/file-000.mp4"
    with av.open(str(video)) as container:
        assert sum(1 for _ in container.decode(video=0)) == len(rows["stamp_s"])
    again = list((tmp_path / "run" / "recording").glob("ring-*/dataset/data/*/*.parquet"))
    assert again  # what the second recorder heard until the end
