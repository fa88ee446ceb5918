"""What each strategy keeps, what is lost and said so, and what a full disk or a kill leaves."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
import weakref
from pathlib import Path

import numpy as np
import psutil
import pytest
import rosbag2_py
from geometry_msgs.msg import TransformStamped
from rclpy.serialization import deserialize_message, serialize_message
from recorded_deployment import COLUMNS, EVERY, RecordedDeployment, grey
from tf2_msgs.msg import TFMessage

from openral_core.errors import ContractError, DatasetError, OutputError
from openral_data.datasets.check import dataset_faults
from openral_data.episode_bag import EpisodeBag, join_bags
from openral_data.lerobot_v3 import Dataset, open_dataset
from openral_data.recording import segments_to_episode
from openral_data.recording.assembler import ExecutedStep, FrameAssembler
from openral_data.recording.outcome import SimulatorVerdict, simulator_verdict
from openral_data.recording.recorder import FLUSH_S
from openral_data.recording.repair import repair_recording
from openral_data.recording_folder import RecordingFolder
from openral_data.ros.intake import MessageIntake
from openral_data.ros.topics import recorded_topics

CAMERA = COLUMNS.cameras[0].key


def dataset_of(root: Path) -> Dataset:
    assert list(dataset_faults(root / "dataset")) == []
    return open_dataset(root / "dataset")


def first_steps(dataset: Dataset) -> list[int]:
    """The control step of each frame."""
    return np.round(dataset.columns(["stamp_s"])["stamp_s"] * 80).astype(int).ravel().tolist()


def test_an_episode_lasts_as_long_as_a_policys_goal(tmp_path: Path) -> None:
    world = RecordedDeployment(tmp_path, "episodes")
    world.run(40)
    world.goal("a" * 32)
    world.run(80, goal_id="a" * 32)
    world.goal("")
    world.goal("b" * 32, kind="ros_action")  # a motion demonstrates nothing
    world.run(40, goal_id="b" * 32, words="home")
    world.goal("", kind="ros_action")
    world.goal("c" * 32)
    world.run(60, goal_id="c" * 32, words="pull the cube")
    world.recorder.close()
    dataset = dataset_of(tmp_path)
    assert dataset.episodes["tasks"] == [["push the cube"], ["pull the cube"]]
    assert dataset.episodes["goal_id"] == ["a" * 32, "c" * 32]
    # The last goal runs on as the recorder is told to end.
    assert dataset.episodes["truncated"] == [False, True]
    steps = first_steps(dataset)
    assert (steps[0], steps[-1] + EVERY) == (44, 220)
    columns = dataset.columns(["action", "action.executed", "observation.state", "observation.joints"])
    assert columns["action.executed"][0].tolist() == [s for s in range(45, 49) for _ in range(4)]
    assert columns["action"][:, 0].tolist() == [step + 1 for step in steps]
    assert columns["observation.state"][:, 0].tolist() == steps
    assert columns["observation.joints"][:, 0].tolist() == steps
    for camera in dataset.cameras:
        levels = [float(image.mean()) for image in dataset.images(camera)]
        np.testing.assert_allclose(levels, [grey(step) for step in steps], atol=2)


def test_a_picture_that_does_not_come_is_repeated_and_counted(tmp_path: Path) -> None:
    world = RecordedDeployment(tmp_path, "episodes")
    world.goal("a" * 32)
    world.run(400, goal_id="a" * 32, lose=(200, 204))
    world.recorder.close()
    dataset = dataset_of(tmp_path)
    assert dataset.episodes["repeated_images"] == [4]  # two of two cameras
    steps = first_steps(dataset)
    levels = [float(image.mean()) for image in dataset.images(CAMERA)]
    assert levels[steps.index(204)] == levels[steps.index(196)] != levels[steps.index(208)]


@pytest.mark.parametrize("steps_come", [False, True], ids=["no step comes", "the first camera is silent"])
def test_pictures_that_no_frame_waits_for_are_not_kept(steps_come: bool) -> None:
    assembler, pictures = FrameAssembler(COLUMNS), []
    step = ExecutedStep(np.zeros(COLUMNS.action_dim, np.float32), held=True, intervention=False)
    for number in range(0, 60 * round(COLUMNS.control_hz), EVERY):  # a minute
        stamp_s = number / COLUMNS.control_hz
        for camera in COLUMNS.cameras[steps_come:]:
            picture = np.zeros((camera.height, camera.width, 3), np.uint8)
            pictures.append(weakref.ref(picture))
            assembler.image(camera.key, stamp_s, picture)
        if steps_come:
            assembler.executed(stamp_s, step)
    del picture
    assert sum(picture() is not None for picture in pictures) < len(pictures) / 10


@pytest.mark.parametrize("steps_come", [False, True], ids=["no step comes", "steps come"])
def test_pictures_without_a_stamp_cost_no_time_and_are_not_kept(steps_come: bool) -> None:
    assembler, pictures, frames = FrameAssembler(COLUMNS), [], 0
    step = ExecutedStep(np.zeros(COLUMNS.action_dim, np.float32), held=True, intervention=False)
    for number in range(60 * round(COLUMNS.control_hz) if not steps_come else 200):
        picture = np.zeros((COLUMNS.cameras[0].height, COLUMNS.cameras[0].width, 3), np.uint8)
        pictures.append(weakref.ref(picture))
        assembler.image(COLUMNS.cameras[0].key, 0.0, picture)
        if steps_come:
            stamp_s = 1.7e9 + number / COLUMNS.control_hz  # a grid of 3e10 frames lies between
            assembler.joints(stamp_s, COLUMNS.joints, (0.0, 0.0))
            assembler.pose(stamp_s, (0.0,) * 7)
            frames += len(assembler.executed(stamp_s, step))
    del picture
    assert frames == 0
    assert sum(picture() is not None for picture in pictures) < len(pictures) / 10


def test_bytes_that_are_no_message_are_left_out(tmp_path: Path) -> None:
    world = RecordedDeployment(tmp_path, "episodes")
    intake, topics = MessageIntake(world.recorder), {topic.name: topic for topic in recorded_topics(COLUMNS)}
    world.goal("a" * 32)
    world.run(40, goal_id="a" * 32)
    picture = next(topic for topic in topics.values() if topic.camera)
    for take, topic in (
        (intake.take, topics["/joint_states"]),
        (intake.take, topics["/openral/skills"]),
        (intake.take, picture),
        (intake.take_compressed, picture),
    ):
        with pytest.raises(ContractError, match=f"{topic.name}: 8 bytes are no "):
            take(topic, b"\x00\x01\x00\x00\xff\xff\xff\xff", 0)
    world.run(40, goal_id="a" * 32)
    world.recorder.close()
    assert len(dataset_of(tmp_path)) == 80 // EVERY - 1


def test_each_bag_has_the_frames_of_every_node_that_publishes_fixed_ones(tmp_path: Path) -> None:
    world = RecordedDeployment(tmp_path, "episodes")
    intake, topics = MessageIntake(world.recorder), {topic.name: topic for topic in recorded_topics(COLUMNS)}
    for stamp_ns, frame in enumerate(("link0", "camera1", "link0"), 1):
        fixed = TFMessage(transforms=[TransformStamped(child_frame_id=frame)])
        intake.take(topics["/tf_static"], serialize_message(fixed), stamp_ns)
    world.goal("a" * 32)
    world.run(80, goal_id="a" * 32)
    world.recorder.close()
    reader = rosbag2_py.SequentialReader()
    bag = rosbag2_py.StorageOptions(uri=str(tmp_path / "bags" / "episode-000000"), storage_id="mcap")
    reader.open(bag, rosbag2_py.ConverterOptions("", ""))
    frames = []
    while reader.has_next():
        topic, data, _ = reader.read_next()
        if topic == "/tf_static":
            frames += [frame.child_frame_id for frame in deserialize_message(data, TFMessage).transforms]
    assert frames == ["camera1", "link0"]


def test_orders_begin_end_throw_away_and_mark(tmp_path: Path) -> None:
    world = RecordedDeployment(tmp_path, "episodes")
    assert world.recorder.stop()[0] is False
    assert world.recorder.start() == (True, "recording")
    world.goal("a" * 32)
    world.run(40, goal_id="a" * 32)
    world.goal("")  # only stop ends it
    world.run(40)
    assert world.recorder.discard()[0]
    assert world.recorder.start()[0]
    world.run(40)
    assert world.recorder.mark("failure")[0]
    assert world.recorder.stop()[0]
    assert not world.recorder.highlight()[0]
    assert world.recorder.mark("success")[0]  # he thinks better of it
    world.recorder.close()
    dataset = dataset_of(tmp_path)
    assert len(dataset.episodes["tasks"]) == 1
    said = {name: dataset.episodes[name] for name in ("outcome", "outcome_source", "outcome_reward_model")}
    assert said == {
        "outcome": ["success"],
        "outcome_source": ["operator"],
        "outcome_reward_model": ["unknown"],
    }


def test_interventions_are_marked_and_only_corrected_episodes_are_kept(tmp_path: Path) -> None:
    world = RecordedDeployment(tmp_path, "interventions")
    for goal, corrected in (("a" * 32, False), ("b" * 32, True)):
        world.goal(goal)
        world.run(40, goal_id=goal)
        if corrected:
            world.hand("c" * 32)
            world.run(40, goal_id="c" * 32)
            world.hand("")
        world.run(40, goal_id=goal)
        world.goal("")
    world.recorder.close()
    dataset = dataset_of(tmp_path)
    assert dataset.episodes["goal_id"] == ["b" * 32]
    marked = dataset.columns(["intervention"])["intervention"].ravel()
    assert dataset.episodes["interventions"] == [int(marked.sum())] == [10]


def test_a_highlight_joins_the_newest_parts_to_one_episode(tmp_path: Path) -> None:
    world = RecordedDeployment(tmp_path, "highlight")
    for _ in range(8):
        world.run(80)
        world.age(5.0)
    done, words = world.recorder.highlight()
    assert done, words
    world.run(40)
    world.recorder.close()
    dataset = dataset_of(tmp_path)
    assert len(dataset.episodes["tasks"]) == 1
    steps = first_steps(dataset)
    assert len(steps) > 6 * 15
    assert steps[0] > 80
    levels = [float(image.mean()) for image in dataset.images(CAMERA)]
    np.testing.assert_allclose(levels, [grey(step) for step in steps], atol=2)


def test_the_ring_keeps_the_newest_datasets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("openral_data.recording.dataset_ring.RING_EPISODES", 2)
    monkeypatch.setattr("openral_data.recording.dataset_ring.RING_DATASETS", 2)
    world = RecordedDeployment(tmp_path, "always")
    for _ in range(6):
        world.run(40)
        world.age(60.0)
    world.recorder.close()
    rings = sorted(path.name for path in tmp_path.glob("ring-*"))
    assert rings == ["ring-000001", "ring-000002"]
    for name in rings:
        assert len(dataset_of(tmp_path / name).episodes["tasks"]) == 2


@pytest.mark.slow
def test_a_dataset_of_the_ring_that_is_renamed_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("openral_data.recording.dataset_ring.RING_EPISODES", 1)
    monkeypatch.setattr("openral_data.recording.dataset_ring.RING_DATASETS", 1)
    for name in ("", "ring-000000-keep"):
        world = RecordedDeployment(tmp_path, "always")
        for _ in range(2):
            world.run(40)
            world.age(60.0)
        world.recorder.close()
        assert not any("not finished" in line for line in world.said), world.said
        if name:
            assert len(dataset_of(tmp_path / name)) > 0
        else:
            (tmp_path / "ring-000001").rename(tmp_path / "ring-000000-keep")


def test_below_the_floor_nothing_is_recorded_and_it_says_why(tmp_path: Path) -> None:
    world = RecordedDeployment(tmp_path, "episodes", min_free_gb=1e9)
    assert "GB are free" in world.recorder.stopped_by
    world.goal("a" * 32)
    world.run(80, goal_id="a" * 32)
    done, why = world.recorder.start()
    assert (done, why) == (False, world.recorder.stopped_by)
    world.recorder.close()
    assert not (tmp_path / "dataset").exists()


FULL_DISK = """
import resource, signal, sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from recorded_deployment import RecordedDeployment
world = RecordedDeployment(Path(sys.argv[1]), "episodes")
world.goal("a" * 32)
world.run(400, goal_id="a" * 32)
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
size = max(path.stat().st_size for path in Path(sys.argv[1]).rglob("frames.arrows"))
resource.setrlimit(resource.RLIMIT_FSIZE, (size + 2000, resource.RLIM_INFINITY))
import time
for _ in range(10):
    time.sleep(0.06)
    world.run(80, goal_id="a" * 32)
assert "recording stopped" in world.recorder.stopped_by, world.said
world.goal("b" * 32)
assert world.recorder.notes is None
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
world.recorder.close()
print(world.recorder.stopped_by)
"""


def test_a_disk_that_is_full_ends_the_recording_and_what_was_written_is_repaired(tmp_path: Path) -> None:
    words = [sys.executable, "-c", FULL_DISK, str(tmp_path), str(Path(__file__).parent)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    folder = RecordingFolder(tmp_path)
    assert len(folder.unfinished()) == 1
    [line] = repair_recording(folder)
    assert "episode 0" in line
    dataset = dataset_of(tmp_path)
    assert len(dataset) > 60
    assert dataset.episodes["truncated"] == [True]


def test_an_encoder_that_is_killed_ends_the_episode_and_what_was_written_is_repaired(tmp_path: Path) -> None:
    world = RecordedDeployment(tmp_path, "episodes")
    world.goal("a" * 32)
    world.run(400, goal_id="a" * 32)
    world.age(FLUSH_S)
    [encoder] = [
        c for c in psutil.Process().children() if "openral_data.recording.video_process" in c.cmdline()
    ]
    encoder.kill()
    encoder.wait()
    world.run(80, goal_id="a" * 32)
    assert "the video encoder ended" in world.recorder.stopped_by
    world.recorder.close()
    folder = RecordingFolder(tmp_path)
    [segment] = folder.unfinished()
    assert (segment / "bag" / "metadata.yaml").is_file(), "the bag was closed"
    [line] = repair_recording(folder)
    assert "episode 0" in line
    assert len(dataset_of(tmp_path)) > 20


def test_a_bag_that_could_not_be_kept_is_kept_by_a_repair_beside_its_own_episode(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(bags: object, target: object) -> None:
        raise OSError(28, "No space left on device")

    world = RecordedDeployment(tmp_path, "episodes")
    for goal in ("a" * 32, "b" * 32):
        world.goal(goal)
        with monkeypatch.context() as patch:
            if goal == "a" * 32:
                patch.setattr(segments_to_episode, "_keep_bags", full)
            world.run(80, goal_id=goal)
            world.goal("")
            time.sleep(1.0)
    world.recorder.close()
    folder = RecordingFolder(tmp_path)
    assert not folder.bag_of(0).exists()
    kept = sorted(folder.bag_of(1).iterdir())
    assert len(folder.unfinished()) == 1
    [line] = repair_recording(folder)
    assert "episode 0" in line
    assert folder.bag_of(0).exists()
    assert sorted(folder.bag_of(1).iterdir()) == kept
    assert len(dataset_of(tmp_path).episodes["tasks"]) == 2


def test_a_bag_in_the_place_of_a_new_one_is_left_alone_and_so_is_the_episode(tmp_path: Path) -> None:
    """As where somebody moved the dataset away and left the bags."""
    folder, earlier = RecordingFolder(tmp_path), tmp_path / "bags" / "episode-000000"
    earlier.mkdir(parents=True)
    (earlier / "earlier.mcap").write_bytes(b"earlier")
    world = RecordedDeployment(tmp_path, "episodes")
    world.goal("a" * 32)
    world.run(80, goal_id="a" * 32)
    world.goal("")
    world.recorder.close()
    assert any(f"{earlier}: is there already, and its episode is not" in line for line in world.said)
    [segment] = folder.unfinished()
    assert [path.name for path in earlier.iterdir()] == ["earlier.mcap"]
    earlier.rename(tmp_path / "earlier")
    [line] = repair_recording(folder)
    assert line.startswith(f"{segment.name}: episode 0, ")
    assert any(folder.bag_of(0).glob("*.mcap"))


def test_a_damaged_bag_is_a_line_of_the_repair_and_a_failed_join_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def damaged(bag: Path) -> int:
        raise RuntimeError("no storage could be initialized")  # as the rosbag2_py of ROS 2 does

    monkeypatch.setattr(segments_to_episode, "complete_bag", damaged)
    world = RecordedDeployment(tmp_path / "run", "episodes")
    world.goal("a" * 32)
    world.run(80, goal_id="a" * 32)
    world.recorder.close()
    [line] = repair_recording(RecordingFolder(tmp_path / "run"))
    assert "not repaired" in line
    assert "cannot be completed (no storage could be initialized)" in line
    for name in ("sound", "empty"):
        EpisodeBag(tmp_path / name).close()
    next((tmp_path / "empty").glob("*.mcap")).write_bytes(b"")
    with pytest.raises(DatasetError, match="its bags cannot be joined"):
        join_bags([tmp_path / "sound", tmp_path / "empty"], tmp_path / "bags" / "joined")
    assert list((tmp_path / "bags").iterdir()) == []


def test_an_episode_without_its_bag_says_so(tmp_path: Path) -> None:
    world = RecordedDeployment(tmp_path, "episodes")
    world.goal("a" * 32)
    world.run(80, goal_id="a" * 32)
    time.sleep(FLUSH_S)
    world.run(10, goal_id="a" * 32)
    world.recorder._encoder.close()  # the process sees its input end
    world.recorder._lock.release()
    [segment] = RecordingFolder(tmp_path).unfinished()
    shutil.rmtree(segment / "bag")
    [line] = repair_recording(RecordingFolder(tmp_path))
    assert line.endswith(" frames, cut off, without all of its bag")


def test_whatever_byte_a_kill_stopped_at_the_whole_frames_are_repaired(tmp_path: Path) -> None:
    world = RecordedDeployment(tmp_path, "episodes")
    world.goal("a" * 32)
    for _ in range(4):
        world.run(100, goal_id="a" * 32)
        time.sleep(FLUSH_S)
    [segment] = RecordingFolder(tmp_path).unfinished()
    world.recorder._encoder.close()  # the process sees its input end
    world.recorder._lock.release()
    for name in ("frames.arrows", f"{CAMERA}.mp4"):
        path = segment / name
        os.truncate(path, path.stat().st_size - 777)
    lines = repair_recording(RecordingFolder(tmp_path))
    assert "episode 0" in lines[0], lines
    steps = first_steps(dataset_of(tmp_path))
    assert steps == list(range(steps[0], steps[0] + EVERY * len(steps), EVERY))
    assert repair_recording(RecordingFolder(tmp_path)) == []


def test_two_recorders_do_not_write_into_one_folder(tmp_path: Path) -> None:
    world = RecordedDeployment(tmp_path, "episodes")
    with pytest.raises(OutputError, match="another recorder writes there"):
        RecordedDeployment(tmp_path, "episodes")
    world.recorder.close()


def test_a_folder_with_other_columns_is_refused(tmp_path: Path) -> None:
    world = RecordedDeployment(tmp_path, "episodes")
    world.goal("a" * 32)
    world.run(80, goal_id="a" * 32)
    world.recorder.close()
    others = COLUMNS.from_json({**COLUMNS.as_json(), "action_dim": 7})
    with pytest.raises(DatasetError, match=r"has action \['float32', 7\], the dataset \['float32', 4\]"):
        RecordedDeployment(tmp_path, "episodes", columns=others)
    again = RecordedDeployment(tmp_path, "episodes")  # the refused one holds no lock
    again.recorder.close()


@pytest.mark.slow
def test_a_highlight_whose_newest_part_has_no_frame_has_the_outcome_of_the_simulator(tmp_path: Path) -> None:
    truth = tmp_path / "truth.npz"
    np.savez(
        truth,
        stamp_s=np.arange(400) / 80,
        success=np.ones((400, 1), bool),
        tasks=np.array(["fake/push"]),
        reset_stamp_s=np.array([0.0]),
        reset_task=np.array(["fake/push"]),
        reset_init=np.array([7]),
    )
    world = RecordedDeployment(tmp_path / "recording", "highlight", truth=truth)
    for _ in range(2):
        world.run(80)
        world.age(5.0)  # and the next part begins
    assert world.recorder.highlight()[0]
    world.recorder.close()
    episodes = dataset_of(tmp_path / "recording").episodes
    assert (episodes["outcome"], episodes["seed"]) == (["success"], [7])


@pytest.mark.slow
def test_a_mark_counts_for_the_highlight_that_holds_its_moment(tmp_path: Path) -> None:
    world = RecordedDeployment(tmp_path, "highlight")
    for number in range(3):
        world.run(80)
        if number == 1:
            world.recorder.mark("failure")
        world.age(5.0)
    assert world.recorder.highlight()[0]
    world.recorder.tick()
    world.run(80)
    world.age(5.0)
    assert world.recorder.highlight()[0]
    world.recorder.close()
    episodes = dataset_of(tmp_path).episodes
    assert episodes["outcome"] == ["failure", "unknown"]
    assert episodes["outcome_source"] == ["operator", "unknown"]


@pytest.mark.parametrize("size", [0, 10, 300])
def test_a_simulators_record_that_is_cut_off_says_nothing(tmp_path: Path, size: int) -> None:
    truth = tmp_path / "truth.npz"
    np.savez(truth, stamp_s=np.arange(400) / 80, success=np.ones((400, 1), bool))
    truth.write_bytes(truth.read_bytes()[:size])
    assert simulator_verdict(truth, 0.0, 1.0, "", 0.0) == SimulatorVerdict()
