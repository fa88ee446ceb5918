"""Export of recorded episodes to bags, with the topics of a deployment that `bag_conversion` reads."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from builtin_interfaces.msg import Time
from geometry_msgs.msg import PoseStamped
from numpy.typing import NDArray
from openral.msg import ActionChunk, ControlStatus, ExecutedAction, SkillInfo
from rclpy.serialization import serialize_message
from sensor_msgs.msg import CompressedImage, JointState
from std_msgs.msg import Header

from openral_core.errors import DatasetError, OutputError
from openral_core.files.output_folder import check_folder
from openral_core.graph.namespaces import COMPRESSED_SUFFIX
from openral_core.image_message import encode_jpeg
from openral_core.robot import load_robot
from openral_core.scene import load_scene
from openral_core.teleoperation_names import TELEOPERATION
from openral_data.episode_bag import EpisodeBag
from openral_data.lerobot_v3 import Dataset
from openral_data.recorded_columns import RecordedColumns
from openral_data.recorded_scene import recorded_scene
from openral_data.recording.episode_notes import POLICY
from openral_data.recording_folder import RecordingFolder
from openral_data.ros.intake import JPEG_QUALITY

NODE = "/openral/recording"
"""Name of the node that announces the goal of an episode."""

_Rows = Mapping[str, NDArray[Any]]


def export_bags(dataset: Dataset, scene: str, out: Path) -> int:
    """Write a bag for each episode of a recording, `bags/episode-000000` and on; return how many. Else there is none.

    Pictures become JPEG; states are known at each frame only, control steps all of them.

    Args:
        dataset: as openral's recorder wrote it.
        scene: name or path of the scene; empty: the one that the dataset names.
        out: folder in which `bags` is made.

    Raises:
        DatasetError: the dataset does not hold every control step, or is of another scene.
        OutputError: there are bags already, or the folder cannot be written.
        OpenralError: there is no such scene.
    """
    name = scene or str(dataset.info.get("scene") or "")
    if "action.executed" not in dataset.info["features"] or not name:
        raise DatasetError(
            f"{dataset.root}: does not hold every control step (action.executed) and its scene; only what openral's "
            "recorder wrote can become bags"
        )
    described = load_scene(recorded_scene(scene, name))
    columns = RecordedColumns.of(described, load_robot(described.robot_id), Path(name).stem)
    _require_alike(dataset, columns)
    check_folder(out, "--out")
    folder = RecordingFolder(out)
    if folder.bags.exists() and any(folder.bags.iterdir()):
        raise OutputError(f"{folder.bags} holds bags already; name another --out")
    folder.bags.mkdir(parents=True, exist_ok=True)
    try:
        return _write_bags(dataset, folder, columns, described.action.representation)
    except BaseException:
        shutil.rmtree(folder.bags, ignore_errors=True)
        raise


def _write_bags(
    dataset: Dataset, folder: RecordingFolder, columns: RecordedColumns, representation: str
) -> int:
    """Write the bags of all episodes and return how many."""
    table = dataset.columns(columns.vectors())
    pictures = {camera.key: dataset.images(camera.key) for camera in columns.cameras}
    episodes = dataset.episodes
    for number, (first, end) in enumerate(
        zip(episodes["dataset_from_index"], episodes["dataset_to_index"], strict=True)
    ):
        rows = {key: values[first:end] for key, values in table.items()}
        about = {key: values[number] for key, values in episodes.items()}
        _write_bag(folder.bag_of(number), columns, rows, about, pictures, representation)
    return len(episodes["dataset_from_index"])


def _require_alike(dataset: Dataset, columns: RecordedColumns) -> None:
    """Raise DatasetError unless the dataset has the columns of a scene's recording."""
    found, wanted = dataset.info["features"], columns.features()
    for name, feature in wanted.items():
        if name not in found or found[name]["shape"] != feature["shape"]:
            has = found[name]["shape"] if name in found else "nothing"
            raise DatasetError(
                f"{dataset.root}: {name} is {has}, a recording of {columns.scene} has {feature['shape']}; name the "
                "scene that it was recorded in with --scene"
            )


def _write_bag(
    path: Path,
    columns: RecordedColumns,
    rows: _Rows,
    about: Mapping[str, Any],
    pictures: Mapping[str, Iterator[NDArray[np.uint8]]],
    representation: str,
) -> None:
    """Write one episode, message by message in the order of their stamps."""
    count = len(rows["stamp_s"])
    by_hand: NDArray[np.bool_] = rows["intervention"].reshape(count)
    kind = TELEOPERATION if by_hand.all() else POLICY
    skill, goal_id = str(about.get("skill") or ""), str(about.get("goal_id") or "")
    held = rows["action.held"].reshape(count, columns.steps)
    executed = rows["action.executed"].reshape(count, columns.steps, -1)
    stamps_s = rows["stamp_s"].reshape(count)
    bag = EpisodeBag(path)
    try:
        _write_goal(bag, about, kind, goal_id, stamps_s[0])
        for frame in range(count):
            stamp_s = float(stamps_s[frame])
            who = "operator" if by_hand[frame] else "policy"
            status = ControlStatus(instruction=str(about["tasks"][0]), skill=skill, commanded_by=who)
            _write(bag, "/openral/control_status", status, stamp_s)
            _write_state(bag, columns, rows, frame, stamp_s)
            for camera in columns.cameras:
                picture = CompressedImage(
                    format="jpeg", data=encode_jpeg(next(pictures[camera.key]), JPEG_QUALITY)
                )
                topic = f"/openral/cameras/{camera.name}/image_raw{COMPRESSED_SUFFIX}"
                _write(bag, topic, picture, stamp_s)
            chunk = ActionChunk(
                goal_id=goal_id,
                skill=skill,
                instruction=str(about["tasks"][0]),
                representation=representation,
                sequence=frame,
                horizon=columns.steps,
                dim=columns.action_dim,
                dt=1.0 / columns.control_hz,
                data=rows["action.commanded"][frame].astype(np.float32).tolist(),
            )
            _write(bag, "/openral/action_chunk", chunk, stamp_s)
            for step in range(columns.steps):
                done = ExecutedAction(
                    goal_id="" if held[frame, step] else goal_id,
                    held=bool(held[frame, step]),
                    data=executed[frame, step].astype(np.float32).tolist(),
                )
                _write(bag, "/openral/executed_action", done, stamp_s + (step + 1) / columns.control_hz)
        if not about.get("truncated"):
            _write_goal(bag, about, kind, "", stamps_s[-1] + 1.0 / columns.fps)
    finally:
        bag.close()


def _write_goal(bag: EpisodeBag, about: Mapping[str, Any], kind: str, goal_id: str, stamp_s: float) -> None:
    """Write which goal the episode's skill runs from now on, empty: none; nothing where the episode names no goal."""
    if about.get("goal_id"):
        name, version = str(about.get("skill") or ""), str(about.get("skill_version") or "")
        said = SkillInfo(
            name=name, version=version, kind=kind, node=NODE, active=bool(goal_id), goal_id=goal_id
        )
        _write(bag, "/openral/skills", said, stamp_s)


def _write_state(bag: EpisodeBag, columns: RecordedColumns, rows: _Rows, frame: int, stamp_s: float) -> None:
    """Write the joints, and then the hand's pose, as a deployment does."""
    positions = rows["observation.joints"][frame].astype(np.float64).tolist()
    _write(bag, "/joint_states", JointState(name=list(columns.joints), position=positions), stamp_s)
    x, y, z, qx, qy, qz, qw = (float(value) for value in rows["observation.state"][frame][:7])
    pose = PoseStamped()
    pose.pose.position.x, pose.pose.position.y, pose.pose.position.z = x, y, z
    turn = pose.pose.orientation
    turn.x, turn.y, turn.z, turn.w = qx, qy, qz, qw
    _write(bag, "/openral/ee_pose", pose, stamp_s)


def _write(bag: EpisodeBag, topic: str, message: Any, stamp_s: float) -> None:
    """Stamp a message and write it as received at that time."""
    nanoseconds = round(1e9 * float(stamp_s))
    message.header = Header(stamp=Time(sec=nanoseconds // 10**9, nanosec=nanoseconds % 10**9))
    name = f"{type(message).__module__.split('.')[0]}/msg/{type(message).__name__}"
    bag.write(topic, name, serialize_message(message), nanoseconds)
