"""Bag files: read back by an independent library, cut off anywhere, split, compressed."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from rosbags.highlevel import AnyReader
from rosbags.rosbag2 import Reader
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from rclpy.serialization import deserialize_message, serialize_message
from rosbag2_py import (
    BagError,
    Reindexer,
    SequentialReader,
    SequentialWriter,
    StorageFilter,
    StorageOptions,
    TopicMetadata,
)
from rosbag2_py.definitions import full_text

START = 1_700_000_000 * 10**9
STEP = 10_000_000
PROFILE = {
    "history": "keep_last",
    "depth": 10,
    "reliability": "reliable",
    "durability": "transient_local",
    "deadline": {"sec": 9223372036, "nsec": 854775807},
    "lifespan": {"sec": 9223372036, "nsec": 854775807},
    "liveliness": "automatic",
    "liveliness_lease_duration": {"sec": 9223372036, "nsec": 854775807},
    "avoid_ros_namespace_conventions": False,
}


def fill(path, count=50, *, flush_every=0, close=True, **options):
    """Write `count` messages on each of two topics."""
    writer = SequentialWriter()
    writer.open(StorageOptions(uri=str(path), **options))
    writer.create_topic(TopicMetadata(0, "/text", "std_msgs/msg/String", offered_qos_profiles=[PROFILE]))
    writer.create_topic(TopicMetadata(1, "/joints", "sensor_msgs/msg/JointState"))
    for index in range(count):
        stamp = START + index * STEP
        writer.write("/text", serialize_message(String(data=f"message {index}")), stamp)
        joints = JointState(name=["a", "b"], position=[float(index), 0.5])
        writer.write("/joints", serialize_message(joints), stamp + 1)
        if flush_every and index % flush_every == flush_every - 1:
            writer.flush()
    if close:
        writer.close()
    return writer


def read(path, **keywords):
    reader = SequentialReader()
    reader.open(StorageOptions(uri=str(path), **keywords))
    entries = []
    while reader.has_next():
        entries.append(reader.read_next())
    return reader, entries


@pytest.mark.parametrize("preset", ["", "zstd_fast"])
def test_an_independent_reader_gets_every_message(tmp_path, preset):
    fill(tmp_path / "bag", storage_preset_profile=preset)
    with Reader(tmp_path / "bag") as reader:
        assert reader.message_count == 100
        assert reader.start_time == START
        assert reader.ros_distro == "jazzy"
        [text] = [connection for connection in reader.connections if connection.topic == "/text"]
        assert text.digest.startswith(
            "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18"
        )
        assert text.ext.offered_qos_profiles[0].durability.name == "TRANSIENT_LOCAL"
        assert text.msgdef.data == "string data\n"
    # Types from the definitions in the bag, not from the reader's own.
    with AnyReader([tmp_path / "bag"]) as reader:
        seen = [
            reader.deserialize(data, connection.msgtype)
            for connection, _, data in reader.messages()
            if connection.topic == "/joints"
        ]
    assert [list(message.position) for message in seen] == [[float(index), 0.5] for index in range(50)]
    assert list(seen[0].name) == ["a", "b"]


def test_reader_filters_and_seeks(tmp_path):
    fill(tmp_path / "bag")
    reader, entries = read(tmp_path / "bag")
    assert [entry[2] for entry in entries] == sorted(entry[2] for entry in entries)
    assert len(entries) == 100
    assert deserialize_message(entries[0][1], String).data == "message 0"
    reader.set_filter(StorageFilter(topics=["/text"]))
    reader.seek(START + 45 * STEP)
    left = []
    while reader.has_next():
        left.append(deserialize_message(reader.read_next()[1], String).data)
    assert left == [f"message {index}" for index in range(45, 50)]
    with pytest.raises(StopIteration):
        reader.read_next()
    metadata = reader.get_metadata()
    assert metadata.duration_ns == 49 * STEP + 1
    assert {topic.name: topic.type for topic in reader.get_all_topics_and_types()}[
        "/text"
    ] == "std_msgs/msg/String"


def test_what_was_flushed_survives_a_crash(tmp_path):
    alive = fill(tmp_path / "bag", count=50, flush_every=20, close=False)
    assert not (tmp_path / "bag/metadata.yaml").exists()
    reader, entries = read(tmp_path / "bag")
    assert len(entries) == 80  # two flushes of 20 pairs; the last 10 pairs were never flushed
    assert reader.get_metadata().message_count == 80
    assert reader.get_metadata().starting_time_ns == START
    assert alive  # a writer that is deleted completes its bag


def test_reindexed_bag_is_taken_by_every_reader(tmp_path):
    alive = fill(tmp_path / "bag", count=50, flush_every=20, close=False)
    with pytest.raises(Exception, match=r"metadata"):
        Reader(tmp_path / "bag")
    before = read(tmp_path / "bag")[1]
    assert Reindexer().reindex(StorageOptions(uri=str(tmp_path / "bag"))) == 80
    assert sorted(path.name for path in (tmp_path / "bag").iterdir()) == ["bag_0.mcap", "metadata.yaml"]
    with Reader(tmp_path / "bag") as reader:
        assert reader.message_count == 80
    assert read(tmp_path / "bag")[1] == before
    assert alive  # a writer that is deleted completes its bag
    with pytest.raises(BagError, match="no directory"):
        Reindexer().reindex(StorageOptions(uri=str(tmp_path / "none")))


def test_a_file_cut_off_anywhere_gives_its_whole_chunks(tmp_path):
    fill(tmp_path / "bag", count=30, flush_every=10)
    whole = (tmp_path / "bag/bag_0.mcap").read_bytes()
    counts = []
    cut = tmp_path / "cut.mcap"
    for length in range(8, len(whole), 97):
        cut.write_bytes(whole[:length])
        _, entries = read(cut)
        counts.append(len(entries))
    assert counts == sorted(counts)
    assert set(counts) == {0, 20, 40, 60}


def spoilt(content, *places):
    """Return the bytes of a file with those at some places changed."""
    copy = bytearray(content)
    for place in places:
        copy[place] ^= 0xFF
    return bytes(copy)


def records(content):
    """Yield what each record of a file is, and where it begins."""
    at = 8
    while at < len(content) - 8:
        yield content[at], at
        at += 9 + int.from_bytes(content[at + 1 : at + 9], "little")


def test_a_file_without_a_summary_says_from_where_it_cannot_be_read(tmp_path):
    fill(tmp_path / "bag", count=30, flush_every=10)
    whole = (tmp_path / "bag/bag_0.mcap").read_bytes()
    assert read(tmp_path / "bag")[0].unreadable == {}
    path = tmp_path / "damaged.mcap"
    chunks = [at for kind, at in records(whole) if kind == 6]
    [end] = [at for kind, at in records(whole) if kind == 15]
    statistics, *indexes = [at for kind, at in records(whole) if kind in (11, 8)]
    for content, count, begins in (
        (spoilt(whole, len(whole) - 1), 60, None),  # nothing is lost
        (spoilt(whole, statistics), 60, None),
        (spoilt(whole, indexes[1]), 60, None),  # a chunk that the summary does not know any more
        (spoilt(whole, len(whole) - 1, statistics, chunks[1] + 90), 20, chunks[1]),
        (spoilt(whole, statistics, chunks[2] + 90), 40, chunks[2]),
        (whole[: chunks[2] + 90], 40, chunks[2]),
        (whole[:end], 60, end),
    ):
        path.write_bytes(content)
        reader, entries = read(path)
        assert len(entries) == count
        assert reader.unreadable == ({} if begins is None else {path: begins})


def test_damaged_bytes_never_crash_the_reader(tmp_path):
    fill(tmp_path / "bag", count=10, flush_every=5)
    whole = bytearray((tmp_path / "bag/bag_0.mcap").read_bytes())
    damaged = tmp_path / "damaged.mcap"
    for position in range(8, len(whole), 61):
        copy = bytearray(whole)
        copy[position] ^= 0xFF
        damaged.write_bytes(copy)
        try:
            _, entries = read(damaged)
        except BagError:
            continue
        assert len(entries) <= 20


def test_bag_is_split_by_size_and_by_duration(tmp_path):
    fill(tmp_path / "size", max_bagfile_size=2000)
    assert len(list((tmp_path / "size").glob("*.mcap"))) > 2
    fill(tmp_path / "duration", count=250, max_bagfile_duration=1)
    assert len(list((tmp_path / "duration").glob("*.mcap"))) == 3
    for name, count in (("size", 100), ("duration", 500)):
        with Reader(tmp_path / name) as reader:
            assert reader.message_count == count
        _, entries = read(tmp_path / name)
        assert [entry[2] for entry in entries] == sorted(entry[2] for entry in entries)
        assert len(entries) == count


def test_bags_of_other_writers_are_read(tmp_path):
    from rosbags.rosbag2 import StoragePlugin, Writer
    from rosbags.typesys import Stores, get_typestore

    store = get_typestore(Stores.ROS2_JAZZY)
    for plugin in (StoragePlugin.MCAP, StoragePlugin.SQLITE3):
        path = tmp_path / plugin.name
        with Writer(path, version=9, storage_plugin=plugin) as writer:
            connection = writer.add_connection("/text", "std_msgs/msg/String", typestore=store)
            for index in range(5):
                writer.write(connection, START + index, serialize_message(String(data=str(index))))
        reader, entries = read(path)
        assert [deserialize_message(data, String).data for _, data, _ in entries] == list("01234")
        assert reader.get_metadata().message_count == 5


def test_mistakes_are_named(tmp_path):
    with pytest.raises(BagError, match="no bag at"):
        read(tmp_path / "nothing")
    (tmp_path / "empty").mkdir()
    with pytest.raises(BagError, match=r"holds no MCAP or SQLite file"):
        read(tmp_path / "empty")
    (tmp_path / "text.mcap").write_text("no bag")
    with pytest.raises(BagError, match="is no MCAP file"):
        read(tmp_path / "text.mcap")
    (tmp_path / "empty/metadata.yaml").write_text("{}")
    with pytest.raises(BagError, match="is no metadata of a bag"):
        read(tmp_path / "empty")
    writer = SequentialWriter()
    with pytest.raises(RuntimeError, match="not open"):
        writer.write("/x", b"", 0)
    with pytest.raises(ValueError, match="unknown preset"):
        writer.open(StorageOptions(uri=str(tmp_path / "p"), storage_preset_profile="huge"))
    writer.open(StorageOptions(uri=str(tmp_path / "w")))
    with pytest.raises(KeyError, match="create_topic"):
        writer.write("/x", b"", 0)
    with pytest.raises(FileExistsError):
        SequentialWriter().open(StorageOptions(uri=str(tmp_path / "w")))


@pytest.mark.parametrize("storage", ["mcap", "sqlite3"])
@pytest.mark.parametrize(
    ("data", "stamp", "error"),
    [(b"", -1, BagError), (b"", 2**63, BagError), (b"", 1.5, TypeError), ("text", 2, TypeError)],
)
def test_what_cannot_be_written_leaves_the_bag_as_it_is(tmp_path, storage, data, stamp, error):
    with SequentialWriter() as writer:
        writer.open(StorageOptions(uri=str(tmp_path / "bag"), storage_id=storage))
        writer.create_topic(TopicMetadata(0, "/a", "std_msgs/msg/String"))
        writer.write("/a", b"first", 1)
        with pytest.raises(error):
            writer.write("/a", data, stamp)
        writer.write("/a", b"last", np.int64(3))
    reader = SequentialReader()
    reader.open_uri(str(tmp_path / "bag"))
    assert [reader.read_next(), reader.read_next()] == [("/a", b"first", 1), ("/a", b"last", 3)]


def test_definition_holds_every_nested_message_once():
    text = full_text("geometry_msgs/msg/PoseWithCovarianceStamped")
    assert text.startswith("std_msgs/Header header\ngeometry_msgs/PoseWithCovariance pose\n")
    assert text.count("MSG: ") == len({line for line in text.splitlines() if line.startswith("MSG: ")})
    assert "float64 w 1" in text
    assert "float64[36] covariance\n" in text


FULL_DISK = """
import os, resource, signal, sys
from std_msgs.msg import String
from rclpy.serialization import serialize_message
from rosbag2_py import ConverterOptions, SequentialWriter, StorageOptions, TopicMetadata
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
writer = SequentialWriter()
writer.open(StorageOptions(uri=sys.argv[1], storage_id=sys.argv[2]), ConverterOptions("cdr", "cdr"))
writer.create_topic(TopicMetadata(0, "/chatter", "std_msgs/msg/String", "cdr"))
for number in range(100):
    writer.write("/chatter", serialize_message(String(data=str(number))), 1_700_000_000 * 10**9 + number)
writer.flush()
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))
large = serialize_message(String(data="x" * 10_000))
for work in (lambda: writer.write("/chatter", large, 1_700_000_001 * 10**9), writer.close, writer.close):
    try:
        work()
        print("done")
    except OSError as error:
        print(error.strerror)
files = [os.path.realpath(f"/proc/self/fd/{number}") for number in os.listdir("/proc/self/fd")]
print(sum(file.startswith(sys.argv[1]) for file in files), "files of the bag are open")
"""


@pytest.mark.parametrize(
    ("storage", "said"),
    [("mcap", "done\nFile too large\ndone\n"), ("sqlite3", "Input/output error\n" * 2 + "done\n")],
)
def test_a_bag_that_a_full_disk_keeps_from_being_closed_says_so_once(tmp_path, storage, said):
    words = [sys.executable, "-c", FULL_DISK, str(tmp_path / "bag"), storage]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert done.stdout == f"{said}0 files of the bag are open\n", "the second close does nothing"
    assert done.stderr == "", "nothing is tried again while the program ends"
