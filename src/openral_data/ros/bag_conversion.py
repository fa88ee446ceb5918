"""Conversion of bags to a LeRobot v3 dataset, by the same processing of messages as in the recorder."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import rosbag2_py

from openral_core.errors import ContractError, DatasetError
from openral_core.graph.namespaces import COMPRESSED_SUFFIX
from openral_core.robot import load_robot
from openral_core.scene import load_scene
from openral_data.episode_bag import UNREADABLE, UnreadablePart, mcap_files, unreadable_parts
from openral_data.recorded_columns import RecordedColumns
from openral_data.recording.recorder import EpisodeRecorder
from openral_data.recording.strategy import strategy_of
from openral_data.recording_folder import RecordingFolder
from openral_data.ros.intake import MessageIntake
from openral_data.ros.topics import recorded_topics

FLUSH_EVERY = 2000
"""Number of messages from one call of `EpisodeRecorder.tick` to the next."""


def convert_bags(
    bags: Sequence[Path], scene: str, out: Path, *, whole: bool, say: Callable[[str, bool], None]
) -> int:
    """Append the episodes of bags to a recording, except those that it has already; return its number of episodes.

    An episode during which a truncated or damaged bag ends, or whose goal still runs at the end of its bag, is kept as
    `truncated`; one during which the conversion is interrupted is not kept.

    Args:
        bags: rosbag2 folders or MCAP files.
        scene: name or path of the scene that they were recorded in.
        out: folder of the recording, which may hold one.
        whole: whether each bag is one episode; else goals of policies and teleoperation begin and end episodes.
        say: called with a line of text, and whether it reports a problem.

    Raises:
        DatasetError: a bag cannot be read, is damaged, or lacks what a frame needs.
        OpenralError: there is no such scene, or the folder cannot be written.
    """
    described = load_scene(scene)
    columns = RecordedColumns.of(described, load_robot(described.robot_id), Path(scene).stem)
    strategy = strategy_of("episodes")
    for bag in bags:  # before anything is written
        _unreadable(bag, _open(bag))
    recorder = EpisodeRecorder(
        RecordingFolder(out), columns, strategy, truth=None, min_free_gb=0.0, say=say, from_bags=True
    )
    try:
        for bag in bags:
            recorder.forget()
            if whole:
                recorder.start()
            _read(bag, recorder, say)
            if whole:
                recorder.stop()
            else:
                recorder.cut_off()
    except BaseException:
        recorder.discard()  # the bag has it whole, for another conversion
        raise
    finally:
        recorder.close()
    return recorder.episodes


def _read(bag: Path, recorder: EpisodeRecorder, say: Callable[[str, bool], None]) -> None:
    """Hand the messages of one bag to the recorder."""
    reader = _open(bag)
    unreadable, count, received_ns = _unreadable(bag, reader), 0, 0
    topics = {topic.name: topic for topic in recorded_topics(recorder.columns)}
    compressed = {f"{topic.name}{COMPRESSED_SUFFIX}": topic for topic in topics.values() if topic.camera}
    intake = MessageIntake(recorder)
    try:
        for count, (name, data, received_ns) in enumerate(_messages(bag, reader), 1):
            try:
                if name in compressed:
                    intake.take_compressed(compressed[name], data, received_ns)
                elif name in topics:
                    intake.take(topics[name], data, received_ns)
            except ContractError as error:
                say(f"left out: {error}", True)
            if count % FLUSH_EVERY == 0:
                recorder.tick()
    except DatasetError:
        recorder.cut_off()
        raise
    if unreadable:
        read = _read_so_far(count, received_ns)
        say(f"{unreadable}; {read}, and the episode that it ends in is kept as cut off", True)
        recorder.cut_off()


def _open(bag: Path) -> Any:
    """Open a bag. Raises DatasetError: it cannot be read, or lacks what a frame needs."""
    reader = rosbag2_py.SequentialReader()
    try:
        options = rosbag2_py.StorageOptions(uri=str(bag), storage_id="mcap")
        reader.open(options, rosbag2_py.ConverterOptions("", ""))
    except UNREADABLE as error:
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
    return reader


def _unreadable(bag: Path, reader: Any) -> UnreadablePart | None:
    """Return the file of a bag that can be read in part, if it is the last; None: all can be read.

    Raises:
        DatasetError: others follow it.
    """
    parts = unreadable_parts(bag, reader)
    if parts and parts[0].path != mcap_files(bag)[-1]:
        raise DatasetError(
            f"{parts[0]}, and other files of its bag go on after it; fetch it again, or convert the files one by one, "
            "each by its name"
        )
    return parts[0] if parts else None


def _read_so_far(count: int, received_ns: int) -> str:
    """Return what was read of a bag: how many messages, and until when."""
    if not count:
        return "no message was read"
    last = datetime.fromtimestamp(received_ns * 1e-9, timezone.utc)
    return f"{count} messages were read, the last one of {last:%Y-%m-%d %H:%M:%S.%f} UTC"


def _messages(bag: Path, reader: Any) -> Iterator[tuple[str, bytes, int]]:
    """Yield topic, bytes and time of each message. Raises DatasetError: the bag is damaged."""
    count, received_ns = 0, 0
    while reader.has_next():
        try:
            message = reader.read_next()
        except UNREADABLE as error:
            raise DatasetError(
                f"{bag}: {error}; {_read_so_far(count, received_ns)}, and the episode is kept up to there, as cut off; "
                "fetch the bag again"
            ) from error
        count, received_ns = count + 1, message[2]
        yield message
