"""Makes a LeRobot v3 dataset of bags, by the same reading of messages as a recorder's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import rosbag2_py

from openral_core.errors import ContractError, DatasetError
from openral_core.graph.names import COMPRESSED_SUFFIX
from openral_core.robot import load_robot
from openral_core.scene import load_scene
from openral_data.recorded_columns import RecordedColumns
from openral_data.recording.recorder import EpisodeRecorder
from openral_data.recording.strategy import strategy_of
from openral_data.recording_folder import RecordingFolder
from openral_data.ros.intake import MessageIntake
from openral_data.ros.topics import recorded_topics

FLUSH_EVERY = 2000
"""Messages between two looks at time and disk."""


def convert_bags(
    bags: Sequence[Path], scene: str, out: Path, *, whole: bool, say: Callable[[str, bool], None]
) -> int:
    """Append the episodes of bags to a recording; return how many it has then.

    Args:
        bags: rosbag2 folders or MCAP files.
        scene: name or path of the scene that they were recorded in.
        out: folder of the recording, which may hold one.
        whole: each bag is one episode; else goals of policies and operators begin and end episodes.
        say: is told a line, and whether it is about something that went wrong.

    Raises:
        DatasetError: a bag cannot be read, or lacks what a frame needs.
        OpenralError: there is no such scene, or the folder cannot be written.
    """
    described = load_scene(scene)
    columns = RecordedColumns.of(described, load_robot(described.robot_id), Path(scene).stem)
    strategy = strategy_of("episodes")
    recorder = EpisodeRecorder(RecordingFolder(out), columns, strategy, truth=None, min_free_gb=0.0, say=say)
    try:
        for bag in bags:
            if whole:
                recorder.start()
            _read(bag, recorder, say)
            recorder.stop()
    finally:
        recorder.close()
    return recorder.episodes


def _read(bag: Path, recorder: EpisodeRecorder, say: Callable[[str, bool], None]) -> None:
    """Hand the messages of one bag to the recorder."""
    topics = {topic.name: topic for topic in recorded_topics(recorder.columns)}
    compressed = {f"{topic.name}{COMPRESSED_SUFFIX}": topic for topic in topics.values() if topic.camera}
    intake = MessageIntake(recorder)
    reader = rosbag2_py.SequentialReader()
    try:
        options = rosbag2_py.StorageOptions(uri=str(bag), storage_id="mcap")
        reader.open(options, rosbag2_py.ConverterOptions("", ""))
    except (OSError, ValueError, RuntimeError) as error:
        raise DatasetError(
            f"{bag}: cannot be read ({error}); name the folder of a bag, or its MCAP file"
        ) from error
    there = {topic.name for topic in reader.get_all_topics_and_types()}
    needed = ["/openral/executed_action", "/joint_states", "/openral/ee_pose"]
    missing = [name for name in needed if name not in there]
    if missing:
        raise DatasetError(
            f"{bag}: has no {missing[0]}, so nothing says what was done; record it with all of {needed}"
        )
    recorder.assembler.restart()
    count = 0
    while reader.has_next():
        name, data, received_ns = reader.read_next()
        count += 1
        try:
            if name in compressed:
                intake.take_compressed(compressed[name], data, received_ns)
            elif name in topics:
                intake.take(topics[name], data, received_ns)
        except ContractError as error:
            say(f"left out: {error}", True)
        if count % FLUSH_EVERY == 0:
            recorder.tick()
