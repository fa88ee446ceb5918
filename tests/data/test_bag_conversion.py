"""A recording becomes bags, and bags become a recording again: what each frame held is the same."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import rosbag2_py
import yaml
from openral.msg import ExecutedAction, TaskProgress
from rclpy.serialization import deserialize_message, serialize_message
from recorded_deployment import EVERY, HEIGHT, HZ, WIDTH, RecordedDeployment

from openral_core.errors import DatasetError, NotFoundError, OutputError
from openral_core.robot import load_robot
from openral_core.scene import load_scene
from openral_data.datasets.check import dataset_faults
from openral_data.episode_bag import EpisodeBag
from openral_data.lerobot_v3 import Dataset, open_dataset
from openral_data.recorded_columns import RecordedColumns
from openral_data.replay_deviation import load_episode
from openral_data.ros.bag_conversion import convert_bags
from openral_data.ros.bag_export import export_bags

NUMBERS = (
    *("observation.state", "observation.joints", "action", "action.executed", "action.commanded"),
    *("action.held", "intervention", "stamp_s"),
)
SCENE = {
    "scene": {
        "id": "fake",
        "backend": "mock",
        "observation_height": HEIGHT,
        "observation_width": WIDTH,
        "cameras": [
            {"name": f"c{n}", "feature_key": f"observation.images.camera{n}", "rate_hz": HZ / EVERY}
            for n in (1, 2)
        ],
        "backend_options": {"family": "fake", "tasks": ["push"]},
    },
    "robot_id": "sawyer",
    "control_hz": HZ,
    "action": {
        "representation": "delta_ee_3d_plus_gripper",
        "dim": 4,
        "low": [-1] * 4,
        "high": [1] * 4,
        "step_m": 0.01,
    },
    "workspace": {"low": [-1, -1, -1], "high": [1, 1, 1]},
}


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("scene") / "fake.yaml"
    path.write_text(yaml.safe_dump(SCENE))
    return path


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory, scene: Path) -> Dataset:
    """A policy that is corrected and goes on, and an operator who demonstrates."""
    described = load_scene(str(scene))
    columns = RecordedColumns.of(described, load_robot(described.robot_id), scene.stem)
    root = tmp_path_factory.mktemp("recorded")
    world = RecordedDeployment(root, "episodes", columns=columns)
    world.goal("a" * 32)
    world.run(40, goal_id="a" * 32)
    world.hand("b" * 32)
    world.run(20, goal_id="b" * 32)
    world.run(6)
    world.hand("")
    world.run(30, goal_id="a" * 32)
    world.goal("")
    world.hand("c" * 32)
    world.run(48, goal_id="c" * 32, words="pull the cube")
    world.hand("")
    world.recorder.close()
    return open_dataset(root / "dataset")


@pytest.mark.parametrize("whole", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_bags_of_a_recording_give_the_recording_again(
    recorded: Dataset, scene: Path, tmp_path: Path, whole: bool
) -> None:
    assert export_bags(recorded, str(scene), tmp_path / "there") == 2
    bags = sorted((tmp_path / "there" / "bags").iterdir())
    count = convert_bags(bags, str(scene), tmp_path / "back", whole=whole, say=lambda line, trouble: None)
    assert count == 2
    assert list(dataset_faults(tmp_path / "back" / "dataset")) == []
    back = open_dataset(tmp_path / "back" / "dataset")
    for name in ("tasks", "length", "skill", "skill_version", "goal_id", "interventions", "missing_steps"):
        assert back.episodes[name] == recorded.episodes[name], name
    ours, theirs = recorded.columns(NUMBERS), back.columns(NUMBERS)
    for name in NUMBERS:
        np.testing.assert_allclose(theirs[name], ours[name], atol=1e-6, err_msg=name)
    assert ours["intervention"].any()
    assert not ours["intervention"].all()
    assert ours["action.held"].any()
    for camera in recorded.cameras:
        for image, other in zip(recorded.images(camera), back.images(camera), strict=True):
            assert abs(float(image.mean()) - float(other.mean())) < 3.0


def test_a_recording_in_a_scene_of_ones_own_asks_for_its_file(
    recorded: Dataset, scene: Path, tmp_path: Path
) -> None:
    asked = "scene 'fake', in which it was recorded, is none that ships; give its file by --scene"
    with pytest.raises(NotFoundError, match=asked):
        export_bags(recorded, "", tmp_path)
    with pytest.raises(NotFoundError, match=asked):
        load_episode(recorded.root, 0)
    assert load_episode(recorded.root, 0, str(scene)).scene == str(scene)


@pytest.mark.parametrize(
    "kilobytes",
    [
        100,
        pytest.param(220, marks=pytest.mark.slow),
        *(pytest.param(size, marks=pytest.mark.long) for size in (130, 170, 260)),
    ],
)
def test_a_full_disk_is_told_with_its_folder_and_without_a_traceback(
    recorded: Dataset, scene: Path, tmp_path: Path, kilobytes: int
) -> None:
    export_bags(recorded, str(scene), tmp_path / "there")
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", str(disk)]
    done = subprocess.run(mount, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"a small disk cannot be mounted here: {done.stderr.strip()}")
    bags = sorted((tmp_path / "there" / "bags").iterdir())
    words = ["data", "convert", *map(str, bags), "--scene", str(scene), "--out", str(disk / "out")]
    try:
        done = subprocess.run(
            [sys.executable, "-c", "from openral_cli.app import main; main()", *words],
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
    finally:
        subprocess.run(["umount", "--lazy", str(disk)], check=True)
    assert done.returncode == 1, done.stdout
    assert "Traceback" not in done.stderr
    assert re.search(
        rf"{re.escape(str(disk))}\S*: No space left on device; free some space there", done.stderr
    )


def test_bags_are_not_written_over(recorded: Dataset, scene: Path, tmp_path: Path) -> None:
    export_bags(recorded, str(scene), tmp_path)
    with pytest.raises(OutputError, match="holds bags already"):
        export_bags(recorded, str(scene), tmp_path)


def test_an_export_that_fails_leaves_no_bags(recorded: Dataset, scene: Path, tmp_path: Path) -> None:
    root = shutil.copytree(recorded.root, tmp_path / "dataset")
    [*_, last] = sorted(root.glob(f"videos/{recorded.cameras[0]}/*/*.mp4"))
    last.unlink()
    with pytest.raises(DatasetError, match="is not there; fetch the whole dataset"):
        export_bags(open_dataset(root), str(scene), tmp_path / "out")
    assert list((tmp_path / "out").iterdir()) == []


def test_a_recording_of_another_scene_is_refused(recorded: Dataset, tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"observation\.images\.camera1.*--scene"):
        export_bags(recorded, "metaworld_drawer", tmp_path)


def messages(bag: Path) -> Iterator[tuple[str, str, bytes, int]]:
    """Topic, type, bytes and time of each message."""
    reader = rosbag2_py.SequentialReader()
    reader.open(rosbag2_py.StorageOptions(str(bag), "mcap"), rosbag2_py.ConverterOptions("", ""))
    kinds = {topic.name: topic.type for topic in reader.get_all_topics_and_types()}
    while reader.has_next():
        topic, data, time_ns = reader.read_next()
        yield topic, kinds[topic], data, time_ns


@pytest.fixture(scope="module")
def judged(recorded: Dataset, scene: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bag of many chunks in whose first half a reward model sees no success yet, and at whose end it does."""
    root = tmp_path_factory.mktemp("judged")
    export_bags(recorded, str(scene), root)
    source, target = root / "bags" / "episode-000000", root / "bag"
    everything = list(messages(source))
    bag = EpisodeBag(target)
    for number, (topic, kind, data, time_ns) in enumerate(everything):
        if number in (len(everything) // 5, len(everything) - 2):
            reading = TaskProgress(goal_id="a" * 32, succeeded=number > len(everything) // 2)
            bag.write("/openral/progress", "openral/msg/TaskProgress", serialize_message(reading), time_ns)
        bag.write(topic, kind, data, time_ns)
        if number % 40 == 0:
            bag.flush()
    bag.close()
    return target


def converted(bags: list[Path], scene: Path, out: Path) -> tuple[Dataset, list[str]]:
    said: list[str] = []
    convert_bags(bags, str(scene), out, whole=False, say=lambda line, trouble: said.append(line))
    return open_dataset(out / "dataset"), said


def mcap_of(bag: Path) -> Path:
    [path] = bag.glob("*.mcap")
    return path


def test_an_episode_in_which_a_bag_is_cut_off_is_truncated_and_nobody_says_that_it_failed(
    judged: Path, scene: Path, tmp_path: Path
) -> None:
    whole, _ = converted([judged], scene, tmp_path / "whole")
    assert (whole.episodes["truncated"], whole.episodes["outcome"]) == ([False], ["success"])
    cut = tmp_path / "cut.mcap"
    content = mcap_of(judged).read_bytes()
    cut.write_bytes(content[: len(content) // 2])
    part, said = converted([cut], scene, tmp_path / "part")
    assert 2 < part.episodes["length"][0] < whole.episodes["length"][0]
    assert (part.episodes["truncated"], part.episodes["outcome"]) == ([True], ["unknown"])
    assert any(line.startswith(f"{cut}: ends in the middle") for line in said), said


@pytest.mark.slow
def test_an_episode_whose_goal_still_runs_at_the_end_of_its_bag_is_truncated(
    judged: Path, scene: Path, tmp_path: Path
) -> None:
    everything = list(messages(judged))
    [*_, ended] = [n for n, (topic, *_) in enumerate(everything) if topic == "/openral/skills"]
    bag = EpisodeBag(tmp_path / "bag")
    for number, (topic, kind, data, time_ns) in enumerate(everything):
        if number != ended:
            bag.write(topic, kind, data, time_ns)
    bag.close()
    part, _ = converted([tmp_path / "bag", judged], scene, tmp_path / "part")
    assert part.episodes["truncated"] == [True]
    export_bags(part, str(scene), tmp_path / "exported")
    again, _ = converted([tmp_path / "exported" / "bags" / "episode-000000"], scene, tmp_path / "again")
    assert again.episodes["truncated"] == [True]


def test_a_bag_that_was_converted_cut_off_says_where_it_is_converted_whole(
    judged: Path, scene: Path, tmp_path: Path
) -> None:
    cut = tmp_path / "cut.mcap"
    content = mcap_of(judged).read_bytes()
    cut.write_bytes(content[: len(content) // 2])
    converted([cut], scene, tmp_path / "out")
    kept, said = converted([judged], scene, tmp_path / "out")
    assert kept.episodes["truncated"] == [True]
    assert said == [
        "episode 0 is there already, cut off, and stays so; into another folder it is converted whole"
    ]


@pytest.mark.slow
def test_a_bag_without_a_goal_that_was_converted_cut_off_is_not_converted_twice(
    judged: Path, scene: Path, tmp_path: Path
) -> None:
    bag = EpisodeBag(tmp_path / "bag")
    for number, (topic, kind, data, time_ns) in enumerate(messages(judged)):
        if topic != "/openral/skills":
            bag.write(topic, kind, data, 1_700_000_000_000_000_000 + time_ns)
        if number % 40 == 0:
            bag.flush()
    bag.close()
    cut = tmp_path / "cut.mcap"
    content = mcap_of(tmp_path / "bag").read_bytes()
    cut.write_bytes(content[: len(content) // 2])
    said: list[str] = []
    for path in (cut, tmp_path / "bag", cut):
        count = convert_bags(
            [path], str(scene), tmp_path / "out", whole=True, say=lambda line, trouble: said.append(line)
        )
        assert count == 1, said
    assert open_dataset(tmp_path / "out" / "dataset").episodes["truncated"] == [True]
    assert any("is there already, cut off, and stays so" in line for line in said), said


def test_what_comes_before_the_damage_in_a_bag_is_kept_as_truncated(
    judged: Path, scene: Path, tmp_path: Path
) -> None:
    bag = shutil.copytree(judged, tmp_path / "bag")
    content = bytearray(mcap_of(bag).read_bytes())
    middle = len(content) // 2
    content[middle : middle + 6] = b"damage"
    mcap_of(bag).write_bytes(content)
    why = r"bag_0\.mcap' is damaged: .* \d+ messages were read, the last one of .*fetch the bag again"
    with pytest.raises(DatasetError, match=why):
        converted([bag], scene, tmp_path / "out")
    kept = open_dataset(tmp_path / "out" / "dataset")
    assert (kept.episodes["truncated"], kept.episodes["outcome"]) == ([True], ["unknown"])


def test_a_bag_whose_data_summary_and_end_are_damaged_says_from_where_and_what_was_read(
    judged: Path, scene: Path, tmp_path: Path
) -> None:
    content, damaged = bytearray(mcap_of(judged).read_bytes()), tmp_path / "damaged.mcap"
    middle, size = len(content) // 2, len(content)
    for begin in (middle, size - 600, size - 40):
        content[begin : begin + 6] = b"damage"
    damaged.write_bytes(content)
    part, said = converted([damaged], scene, tmp_path / "part")
    assert (part.episodes["truncated"], part.episodes["outcome"]) == ([True], ["unknown"])
    [line] = [line for line in said if str(damaged) in line]
    found = re.search(
        rf"damaged\.mcap: is damaged from byte (\d+) of {size} on, and so is its summary; (\d+) messages were read, "
        r"the last one of \d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+ UTC, and the episode",
        line,
    )
    assert found, line
    assert middle - 100_000 < int(found[1]) <= middle
    assert int(found[2]) == len(list(messages(damaged)))
    assert sum(1 for _ in messages(judged)) > int(found[2]) > 0


def test_a_bag_whose_summary_alone_is_damaged_is_whole(judged: Path, scene: Path, tmp_path: Path) -> None:
    content, damaged = bytearray(mcap_of(judged).read_bytes()), tmp_path / "damaged.mcap"
    content[-40:-34] = b"damage"
    damaged.write_bytes(content)
    part, said = converted([damaged], scene, tmp_path / "part")
    assert (part.episodes["truncated"], part.episodes["outcome"]) == ([False], ["success"])
    assert not [line for line in said if str(damaged) in line]


def test_a_bag_whose_first_file_is_cut_off_is_refused_before_anything_is_written(
    judged: Path, scene: Path, tmp_path: Path
) -> None:
    bag = tmp_path / "bag"
    bag.mkdir()
    content = mcap_of(judged).read_bytes()
    (bag / "bag_0.mcap").write_bytes(content[: len(content) // 2])
    (bag / "bag_1.mcap").write_bytes(content)
    with pytest.raises(DatasetError, match=r"bag_0\.mcap: ends in the middle, .*, and other files"):
        converted([judged, bag], scene, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("whole", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_a_bag_that_is_converted_again_gives_no_second_episode(
    recorded: Dataset, scene: Path, tmp_path: Path, whole: bool
) -> None:
    export_bags(recorded, str(scene), tmp_path / "there")
    first, second = sorted((tmp_path / "there" / "bags").iterdir())
    said: list[str] = []
    for bags, count in (([first, first], 1), ([first, second], 2), ([second], 2)):
        done = convert_bags(
            bags, str(scene), tmp_path / "out", whole=whole, say=lambda line, trouble: said.append(line)
        )
        assert done == count
    assert said.count("episode 0 is there already; it was not added again") == 2
    assert said.count("episode 1 is there already; it was not added again") == 1
    assert list(dataset_faults(tmp_path / "out" / "dataset")) == []


@pytest.mark.slow
def test_episodes_without_a_goal_at_the_same_simulated_times_are_told_apart(
    judged: Path, scene: Path, tmp_path: Path
) -> None:
    """As after a reset of the simulator, whose clock begins anew: all but the executed actions is the same."""
    for name, scale in (("one", 1.0), ("other", 0.5)):
        bag = EpisodeBag(tmp_path / name)
        for topic, kind, data, time_ns in messages(judged):
            if topic == "/openral/executed_action":
                step = deserialize_message(data, ExecutedAction)
                step.data = [scale * number for number in step.data]
                bag.write(topic, kind, serialize_message(step), time_ns)
            elif topic != "/openral/skills":
                bag.write(topic, kind, data, time_ns)
        bag.close()
    said: list[str] = []
    for names in (["one", "other"], ["other", "one"]):
        bags = [tmp_path / name for name in names]
        kept = convert_bags(
            bags, str(scene), tmp_path / "out", whole=True, say=lambda line, trouble: said.append(line)
        )
        assert kept == 2, said
    data = open_dataset(tmp_path / "out" / "dataset")
    first = data.episodes["length"][0]
    executed = data.columns(["action.executed"])["action.executed"]
    np.testing.assert_allclose(executed[first:], 0.5 * executed[:first])


@pytest.mark.parametrize("whole", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_a_bag_across_a_reset_becomes_two_episodes(
    judged: Path, scene: Path, tmp_path: Path, whole: bool
) -> None:
    everything = list(messages(judged))
    executed = [n for n, (topic, *_) in enumerate(everything) if topic == "/openral/executed_action"]
    middle = executed[len(executed) // 2]
    bag = EpisodeBag(tmp_path / "bag")
    for number, (topic, kind, data, time_ns) in enumerate(everything):
        if number == middle:
            began = deserialize_message(data, ExecutedAction)
            reset_s = began.header.stamp.sec + 1e-9 * began.header.stamp.nanosec
            data = serialize_message(ExecutedAction(header=began.header, held=True))
        bag.write(topic, kind, data, time_ns)
    bag.close()
    said: list[str] = []
    for _ in range(2):
        bags, out = [tmp_path / "bag"], tmp_path / "out"
        done = convert_bags(bags, str(scene), out, whole=whole, say=lambda line, trouble: said.append(line))
        assert done == 2
    assert [line.partition(",")[0] for line in said if " frames" in line] == [
        "episode 0: 11 frames",
        "episode 1: 11 frames",
    ]
    assert [line for line in said if "there already" in line] == [
        f"episode {number} is there already; it was not added again" for number in (0, 1)
    ]
    back = open_dataset(tmp_path / "out" / "dataset")
    columns = back.columns(["stamp_s", "episode_index"])
    later = columns["stamp_s"].ravel() > reset_s
    assert columns["episode_index"].tolist() == later.astype(int).tolist()
    assert list(dataset_faults(tmp_path / "out" / "dataset")) == []


@pytest.mark.slow
def test_words_of_one_bag_are_not_those_of_the_next(recorded: Dataset, scene: Path, tmp_path: Path) -> None:
    export_bags(recorded, str(scene), tmp_path / "there")
    first, second = sorted((tmp_path / "there" / "bags").iterdir())
    silent = EpisodeBag(tmp_path / "silent")
    for topic, kind, data, time_ns in messages(second):
        if topic not in ("/openral/control_status", "/openral/skills"):
            silent.write(topic, kind, data, time_ns)
    silent.close()
    bags = [first, tmp_path / "silent"]
    convert_bags(bags, str(scene), tmp_path / "out", whole=True, say=lambda line, trouble: None)
    episodes = open_dataset(tmp_path / "out" / "dataset").episodes
    assert episodes["tasks"] == [["push the cube"], ["unknown task"]]


def test_an_interrupted_conversion_is_done_again_as_a_whole(
    judged: Path, scene: Path, tmp_path: Path
) -> None:
    everything = list(messages(judged))
    bag = EpisodeBag(tmp_path / "bag")
    for number, (topic, kind, data, time_ns) in enumerate(everything):
        if number == len(everything) // 2:
            short = serialize_message(ExecutedAction(data=[0.0]))
            bag.write("/openral/executed_action", "openral/msg/ExecutedAction", short, time_ns)
        bag.write(topic, kind, data, time_ns)
    bag.close()

    def interrupt(line: str, trouble: bool) -> None:
        if "left out" in line:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        convert_bags([tmp_path / "bag"], str(scene), tmp_path / "out", whole=False, say=interrupt)
    again, _ = converted([tmp_path / "bag"], scene, tmp_path / "out")
    whole, _ = converted([judged], scene, tmp_path / "whole")
    assert again.episodes["length"] == whole.episodes["length"]
    assert again.episodes["truncated"] == [False]
