"""rosbag2_py as programs written for ROS 2 use it."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from std_msgs.msg import Int32, String

import rclpy
import rosbag2_py
from rclpy.duration import Duration
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.serialization import deserialize_message, serialize_message
from rclpy.time import Time
from ros2cli.bag import recorder

TUTORIAL = """
import sys
from rclpy.serialization import serialize_message
from std_msgs.msg import String
import rosbag2_py
class Recording:
    def __init__(self, uri):
        self.writer = rosbag2_py.SequentialWriter()
        storage = rosbag2_py.StorageOptions(uri=uri, storage_id="mcap")
        self.writer.open(storage, rosbag2_py.ConverterOptions("", ""))
        self.writer.create_topic(rosbag2_py.TopicMetadata(
            id=0, name="chatter", type="std_msgs/msg/String", serialization_format="cdr"))
recording = Recording(sys.argv[1])
recording.writer.write("chatter", serialize_message(String(data="hello")), 5)
{end}
"""


def fill(path: Path, count: int = 10) -> rosbag2_py.SequentialWriter:
    """Messages on two topics, at the same times 1000, 1001 ... [ns]."""
    writer = rosbag2_py.SequentialWriter()
    writer.open(rosbag2_py.StorageOptions(uri=str(path), storage_id="mcap", max_cache_size=100))
    for name, kind in (("/text", "std_msgs/msg/String"), ("/number", "std_msgs/msg/Int32")):
        writer.create_topic(rosbag2_py.TopicMetadata(0, name, kind, "cdr"))
    for index in range(count):
        writer.write("/text", serialize_message(String(data=str(index))), 1000 + index)
        writer.write("/number", serialize_message(Int32(data=index)), 1000 + index, 900 + index)
    return writer


def opened(path: Path, **options: int) -> rosbag2_py.SequentialReader:
    reader = rosbag2_py.SequentialReader()
    reader.open(rosbag2_py.StorageOptions(uri=str(path), **options), rosbag2_py.ConverterOptions("", ""))
    return reader


def rest(reader: rosbag2_py.SequentialReader) -> list[tuple[str, int]]:
    found = []
    while reader.has_next():
        topic, _, stamp = reader.read_next()
        found.append((topic, stamp))
    return found


@pytest.mark.parametrize("end", ["", "raise KeyboardInterrupt", "sys.exit(3)"])
def test_a_program_that_does_not_close_its_bag_leaves_a_whole_one(tmp_path: Path, end: str) -> None:
    path = tmp_path / "bag"
    subprocess.run(
        [sys.executable, "-c", TUTORIAL.format(end=end), str(path)], capture_output=True, timeout=200
    )
    assert rosbag2_py.MetadataIo().metadata_file_exists(str(path))
    assert rosbag2_py.Info().read_metadata(str(path), "mcap").message_count == 1


def test_a_deleted_writer_closes_its_bag_and_a_forked_child_does_not(tmp_path: Path) -> None:
    writer = fill(tmp_path / "bag")
    child = "import os, sys; pid = os.fork(); "
    code = TUTORIAL.format(
        end=child + "(pid or (recording.writer.close(), os._exit(0))); os.waitpid(pid, 0); "
        "recording.writer.write('chatter', b'', 6)"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "forked")], check=True, timeout=200)
    assert rosbag2_py.Info().read_metadata(str(tmp_path / "forked"), "").message_count == 2
    del writer
    assert rosbag2_py.MetadataIo().read_metadata(str(tmp_path / "bag")).message_count == 20


def test_a_filter_holds_from_where_the_reader_stands(tmp_path: Path) -> None:
    fill(tmp_path / "bag").close()
    reader = opened(tmp_path / "bag")
    assert [reader.read_next()[2] for _ in range(5)] == [1000, 1000, 1001, 1001, 1002]
    reader.set_filter(rosbag2_py.StorageFilter(topics=["/text"]))
    assert rest(reader)[-2:] == [("/text", 1008), ("/text", 1009)]
    reader.seek(1007)
    reader.read_next()
    reader.reset_filter()
    left = rest(reader)
    assert len(left) == 5
    assert {stamp for _, stamp in left} == {1007, 1008, 1009}
    with pytest.raises(RuntimeError, match="no more messages"):
        reader.read_next()
    for chosen, topics in (
        (rosbag2_py.StorageFilter(regex="/num.*"), {"/number"}),
        (rosbag2_py.StorageFilter(regex="num"), set()),
        (rosbag2_py.StorageFilter(exclude_topics=["/number"]), {"/text"}),
        (rosbag2_py.StorageFilter(regex="/.*", regex_to_exclude=".*ext"), {"/number"}),
    ):
        reader = opened(tmp_path / "bag")
        reader.set_filter(chosen)
        assert {topic for topic, _ in rest(reader)} == topics
    assert {stamp for _, stamp in rest(opened(tmp_path / "bag", start_time_ns=1003, end_time_ns=1004))} == {
        1003,
        1004,
    }


def test_what_a_bag_says_about_itself(tmp_path: Path) -> None:
    fill(tmp_path / "bag").close()
    reader = rosbag2_py.SequentialReader()
    reader.open_uri(str(tmp_path / "bag"))
    definitions = {one.topic_type: one for one in reader.get_all_message_definitions()}
    assert definitions["std_msgs/msg/String"].encoded_message_definition == "string data\n"
    assert reader.set_read_order(rosbag2_py.ReadOrder(rosbag2_py.ReadOrderSortBy.ReceivedTimestamp, False))
    assert not reader.set_read_order(rosbag2_py.ReadOrder(rosbag2_py.ReadOrderSortBy.File))
    io = rosbag2_py.MetadataIo()
    metadata = io.read_metadata(str(tmp_path / "bag"))
    assert io.deserialize_metadata(io.serialize_metadata(metadata)) == metadata
    assert metadata.duration.nanoseconds == 9
    [file] = metadata.files
    assert (file.path, file.message_count, file.starting_time.nanoseconds) == ("bag_0.mcap", 20, 1000)
    assert rosbag2_py.Info().read_metadata(str(tmp_path / "bag"), "mcap").files == [file]
    unknown = rosbag2_py.LocalMessageDefinitionSource().get_full_text("no_such_msgs/msg/Thing")
    assert (unknown.topic_type, unknown.encoding) == ("no_such_msgs/msg/Thing", "unknown")
    short = rosbag2_py.LocalMessageDefinitionSource().get_full_text("std_msgs/String")
    assert (short.topic_type, short.encoded_message_definition) == ("std_msgs/String", "string data\n")
    assert rosbag2_py.get_default_storage_id() in rosbag2_py.get_registered_writers()
    with pytest.raises(RuntimeError, match="exists already"):
        fill(tmp_path / "bag")
    with pytest.raises(RuntimeError, match=r"has no metadata\.yaml"):
        io.read_metadata(str(tmp_path))


def test_metadata_is_made_of_times_and_durations() -> None:
    start, duration = Time(nanoseconds=100), Duration(nanoseconds=200)
    file = rosbag2_py.FileInformation(path="one", starting_time=start, duration=duration, message_count=12)
    assert rosbag2_py.FileInformation("one", start, duration, 12) == file
    metadata = rosbag2_py.BagMetadata(files=[file], duration=duration, starting_time=start, message_count=12)
    assert (metadata.starting_time_ns, metadata.duration_ns) == (100, 200)
    metadata.starting_time, metadata.duration = Time(nanoseconds=7), Duration(nanoseconds=8)
    assert (metadata.starting_time.nanoseconds, metadata.duration.nanoseconds) == (7, 8)
    assert (metadata.version, metadata.custom_data) == (9, {})


@pytest.mark.parametrize("kind", [rosbag2_py.Recorder, rosbag2_py.Player])
def test_an_unknown_log_level_is_refused(kind: type) -> None:
    kind("debug")
    with pytest.raises(RuntimeError, match="loud"):
        kind("loud")


def test_a_bag_is_split_compressed_and_written_anew(tmp_path: Path) -> None:
    options = rosbag2_py.CompressionOptions("zstd", rosbag2_py.compression_mode_from_string("file"))
    writer = rosbag2_py.SequentialCompressionWriter(options)
    writer.open(rosbag2_py.StorageOptions(uri=str(tmp_path / "bag")))
    topic = rosbag2_py.TopicMetadata(0, "/text", "std_msgs/msg/String", "cdr")
    writer.create_topic(topic)
    writer.create_topic(rosbag2_py.TopicMetadata(1, "/gone", "std_msgs/msg/String", "cdr"))
    writer.remove_topic(rosbag2_py.TopicMetadata(1, "/gone", "std_msgs/msg/String", "cdr"))
    writer.write("/text", serialize_message(String(data="x" * 100_000)), 1)
    writer.split_bagfile()
    writer.write("/text", serialize_message(String(data="y")), 2)
    writer.close()
    files = sorted((tmp_path / "bag").glob("*.mcap*"))
    assert [file.name for file in files] == ["bag_0.mcap.zstd", "bag_1.mcap.zstd"]
    assert files[0].stat().st_size < 20_000
    (tmp_path / "out.yaml").write_text(f"output_bags: [{{uri: {tmp_path / 'new'}, all_topics: true}}]")
    inputs = [rosbag2_py.StorageOptions(uri=str(tmp_path / "bag"), storage_id="mcap")]
    rosbag2_py.bag_rewrite(inputs, str(tmp_path / "out.yaml"))
    reader = opened(tmp_path / "new")
    assert [one.name for one in reader.get_all_topics_and_types()] == ["/text"]
    assert len(rest(reader)) == 2
    with pytest.raises(RuntimeError, match="nothing"):
        rosbag2_py.bag_rewrite(inputs, str(tmp_path / "nothing.yaml"))


def heard_publisher() -> tuple[Node, Publisher[String]]:
    """Return a node of a context of its own, and its publisher of the topic chatter, which somebody hears."""
    context = rclpy.Context()
    context.init(args=[])
    node = rclpy.create_node("beside", context=context)
    publisher = node.create_publisher(String, "chatter", 10)
    deadline = time.monotonic() + 90
    while not publisher.get_subscription_count() and time.monotonic() < deadline:
        time.sleep(0.05)
    return node, publisher


def end(node: Node) -> None:
    """End a node and its context."""
    node.destroy_node()
    node.context.shutdown()


def test_a_recorder_and_a_player_in_a_program(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    options = rosbag2_py.StorageOptions(uri=str(tmp_path / "bag"), storage_id="mcap")
    what = rosbag2_py.RecordOptions()
    what.topics = ["chatter"]
    recording = rosbag2_py.Recorder()
    thread = threading.Thread(target=recording.record, args=(options, what))
    thread.start()
    node, publisher = heard_publisher()
    for index in range(5):
        publisher.publish(String(data=str(index)))
    deadline = time.monotonic() + 90
    while time.monotonic() < deadline and recorder_count(tmp_path / "bag") < 5:
        time.sleep(0.2)
    rosbag2_py.Recorder.cancel()
    thread.join(90)
    assert not thread.is_alive()
    assert rosbag2_py.MetadataIo().read_metadata(str(tmp_path / "bag")).message_count == 5

    heard: list[str] = []
    executor = SingleThreadedExecutor(context=node.context)
    executor.add_node(node)
    node.create_subscription(String, "again", lambda message: heard.append(message.data), 10)
    play = rosbag2_py.PlayOptions()
    play.topic_remapping_options = ["--ros-args", "--remap", "chatter:=again"]
    player = threading.Thread(target=rosbag2_py.Player().play, args=(options, play))
    player.start()
    while player.is_alive() or (len(heard) < 5 and time.monotonic() < deadline):
        executor.spin_once(timeout_sec=0.1)
    executor.shutdown()
    end(node)
    assert heard == ["0", "1", "2", "3", "4"]
    assert "[rosbag2_player]: Playback until timestamp: -1" in capfd.readouterr().err


def test_what_came_before_the_end_is_in_the_bag_though_it_was_not_written_yet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a busy machine messages wait to be written, and the recording ends meanwhile."""
    made, busy, spun = list[recorder.Recorder](), threading.Event(), threading.Event()
    start, spin = recorder.Recorder.start, SingleThreadedExecutor.spin_once

    def starting(self: recorder.Recorder) -> None:
        made.append(self)
        start(self)

    def spinning(self: SingleThreadedExecutor, timeout_sec: float | None = None) -> None:
        if busy.is_set():
            spun.set()
            time.sleep(0.01)
        else:
            spin(self, timeout_sec)

    monkeypatch.setattr(recorder.Recorder, "start", starting)
    monkeypatch.setattr(SingleThreadedExecutor, "spin_once", spinning)
    what = rosbag2_py.RecordOptions()
    what.topics = ["chatter"]
    options = rosbag2_py.StorageOptions(uri=str(tmp_path / "bag"), storage_id="mcap")
    thread = threading.Thread(target=rosbag2_py.Recorder().record, args=(options, what))
    thread.start()
    node, publisher = heard_publisher()
    busy.set()
    assert spun.wait(90)
    publisher.publish(String(data="the last words"))
    deadline = time.monotonic() + 90
    while not any(each.is_pending() for each in made[0]._subscribed.values()) and time.monotonic() < deadline:
        time.sleep(0.05)
    rosbag2_py.Recorder.cancel()
    thread.join(90)
    end(node)
    assert rosbag2_py.MetadataIo().read_metadata(str(tmp_path / "bag")).message_count == 1


def recorder_count(path: Path) -> int:
    """How many messages of a bag that is being written are on the disk."""
    try:
        return rosbag2_py.Info().read_metadata(str(path), "").message_count
    except rosbag2_py.BagError:
        return 0


def test_messages_come_back_as_they_were(tmp_path: Path) -> None:
    fill(tmp_path / "bag", 2).close()
    reader = opened(tmp_path / "bag")
    reader.set_filter(rosbag2_py.StorageFilter(topics=["/number"]))
    _, data, _ = reader.read_next()
    assert deserialize_message(data, Int32) == Int32(data=0)


def test_a_program_of_ros_2s_tutorials_names_the_extension_module(tmp_path: Path) -> None:
    """`rosbag2_py._storage.StorageOptions` is in "Recording a bag from a node (Python)"."""
    writer = rosbag2_py.SequentialWriter()
    storage = rosbag2_py._storage
    writer.open(
        storage.StorageOptions(uri=str(tmp_path / "bag"), storage_id="mcap"), storage.ConverterOptions("", "")
    )
    writer.create_topic(
        storage.TopicMetadata(
            id=0, name="synthetic", type="example_interfaces/msg/Int32", serialization_format="cdr"
        )
    )
    writer.write("synthetic", serialize_message(Int32(data=7)), 5)
    writer.close()
    reader = rosbag2_py.SequentialReader()
    reader.open(
        storage.StorageOptions(uri=str(tmp_path / "bag"), storage_id="mcap"), storage.ConverterOptions("", "")
    )
    assert deserialize_message(reader.read_next()[1], Int32) == Int32(data=7)
