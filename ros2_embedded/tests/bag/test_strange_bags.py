"""Bags of others, old ones and damaged ones: each is read, or refused with a sentence."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
import yaml
from mcap.writer import CompressionType, Writer
from rosbags.rosbag2 import StoragePlugin
from rosbags.rosbag2 import Writer as RosbagsWriter
from rosbags.rosbag2.enums import CompressionFormat, CompressionMode
from rosbags.typesys import Stores, get_typestore
from std_msgs.msg import String

from rclpy.serialization import serialize_message
from ros2cli.cli import main
from rosbag2_py import BagError, Reindexer, SequentialReader, SequentialWriter, StorageOptions, TopicMetadata

NS = 10**9
DATA = serialize_message(String(data="x" * 50))


def write(path: Path, stamps=(0, 5 * NS), data=DATA, **options) -> Path:
    with SequentialWriter() as writer:
        writer.open(StorageOptions(uri=str(path), **options))
        writer.create_topic(TopicMetadata(0, "/a", "std_msgs/msg/String"))
        for stamp in stamps:
            writer.write("/a", data, stamp)
    return path


def read(path: Path):
    reader = SequentialReader()
    reader.open_uri(str(path))
    entries = []
    while reader.has_next():
        entries.append(reader.read_next())
    return reader.get_metadata(), entries


def change(path: Path, **values) -> None:
    file = path / "metadata.yaml"
    content = yaml.safe_load(file.read_text())
    content["rosbag2_bagfile_information"].update(values)
    file.write_text(yaml.safe_dump(content))


def write_mcap(path: Path, profiles: str = "", count: int = 1000, **options) -> bytearray:
    with path.open("wb") as file:
        writer = Writer(file, compression=CompressionType.LZ4, **options)
        writer.start(profile="ros2")
        schema = writer.register_schema("std_msgs/msg/String", "ros2msg", b"string data")
        metadata = {"offered_qos_profiles": profiles}
        channel = writer.register_channel("/a", "cdr", schema, metadata=metadata)
        for index in range(count):
            writer.add_message(channel, index + 1, DATA, index + 1)
        writer.finish()
    return bytearray(path.read_bytes())


@pytest.mark.parametrize("storage", ["mcap", "sqlite3"])
def test_a_bag_of_simulated_time_begins_at_zero(tmp_path, storage):
    path = write(tmp_path / "bag", storage_id=storage)
    said = yaml.safe_load((path / "metadata.yaml").read_text())["rosbag2_bagfile_information"]
    assert said["starting_time"] == said["files"][0]["starting_time"] == {"nanoseconds_since_epoch": 0}
    assert said["duration"] == said["files"][0]["duration"] == {"nanoseconds": 5 * NS}
    metadata, _ = read(path)
    assert (metadata.starting_time_ns, metadata.duration_ns) == (0, 5 * NS)


def test_a_bag_that_was_cut_off_begins_at_zero(tmp_path):
    whole = (write(tmp_path / "bag") / "bag_0.mcap").read_bytes()
    cut = tmp_path / "cut.mcap"
    cut.write_bytes(whole[:-100])
    metadata, entries = read(cut)
    assert (len(entries), metadata.starting_time_ns, metadata.duration_ns) == (2, 0, 5 * NS)


@pytest.mark.parametrize("mode", [CompressionMode.MESSAGE, CompressionMode.FILE])
def test_what_rosbag2_compressed_is_read(tmp_path, mode):
    store = get_typestore(Stores.ROS2_JAZZY)
    writer = RosbagsWriter(tmp_path / "bag", version=9, storage_plugin=StoragePlugin.MCAP)
    writer.set_compression(mode, CompressionFormat.ZSTD)
    with writer:
        connection = writer.add_connection("/a", "std_msgs/msg/String", typestore=store)
        for stamp in (1, 2):
            writer.write(connection, stamp, DATA)
    assert read(tmp_path / "bag")[1] == [("/a", DATA, 1), ("/a", DATA, 2)]
    [file] = [path for path in (tmp_path / "bag").iterdir() if path.suffix != ".yaml"]
    file.write_bytes(file.read_bytes()[:40])
    if mode == CompressionMode.FILE:
        with pytest.raises(BagError, match=file.name):
            read(tmp_path / "bag")
    else:
        assert read(tmp_path / "bag")[1] == []


def test_files_are_those_in_the_folder_of_the_bag(tmp_path):
    other, path = write(tmp_path / "other", stamps=[1]), write(tmp_path / "bag")
    change(path, version=3, relative_file_paths=["bag/bag_0.mcap"])  # as ROS 2 Eloquent wrote it
    assert len(read(path)[1]) == 2
    assert Reindexer().reindex(StorageOptions(uri=str(path))) == 2
    change(path, relative_file_paths=[])
    assert len(read(path)[1]) == 2
    for outside in ("../other/other_0.mcap", str(other / "other_0.mcap")):
        change(path, relative_file_paths=[outside])
        with pytest.raises(BagError, match=r"bag/other_0\.mcap"):
            read(path)


@pytest.mark.parametrize(
    "values",
    [
        {"relative_file_paths": [5]},
        {"relative_file_paths": [".."]},
        {"relative_file_paths": 5},
        {"topics_with_message_count": [{"topic_metadata": "x", "message_count": 1}]},
        {"topics_with_message_count": [7]},
        {"starting_time": 5},
        {"message_count": "many"},
        {"duration": {"nanoseconds": float("inf")}},
        {"compression_mode": 5},
        {"compression_mode": "FILE", "compression_format": "lz4"},
        {"custom_data": 5},
    ],
)
def test_metadata_that_is_none_is_told_in_one_line(tmp_path, capsys, values):
    path = write(tmp_path / "bag")
    change(path, **values)
    assert main(["bag", "info", str(path)]) == 1
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_metadata_of_any_depth_is_told_in_one_line(tmp_path, capsys):
    path = write(tmp_path / "bag")
    (path / "metadata.yaml").write_text("[" * 20_000)
    assert main(["bag", "info", str(path)]) == 1
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_a_topic_of_a_database_whose_name_is_no_text_is_told(tmp_path):
    path = write(tmp_path / "bag", [1, 2], storage_id="sqlite3")
    with sqlite3.connect(path / "bag_0.db3") as database:
        database.execute("UPDATE topics SET name = x'00ff'")
    with pytest.raises(BagError, match=r"bag_0\.db3' is damaged"):
        read(path)


@pytest.mark.parametrize("profiles", ["[: {", "words", "{depth: 5}", "[5]"])
def test_profiles_that_are_none_are_told_with_their_topic(tmp_path, capsys, profiles):
    path = tmp_path / "a.mcap"
    write_mcap(path, profiles)
    assert main(["bag", "info", str(path)]) == 1
    assert "topic '/a': offered_qos_profiles" in capsys.readouterr().err


@pytest.mark.parametrize("part", ["repeat_channels", "repeat_schemas", "use_statistics", "use_chunking"])
def test_a_summary_without_some_part_is_no_file_without_messages(tmp_path, part):
    path = tmp_path / "a.mcap"
    write_mcap(path, count=3, **{part: False})
    metadata, entries = read(path)
    assert [
        (topic.topic_metadata.name, topic.message_count) for topic in metadata.topics_with_message_count
    ] == [("/a", 3)]
    assert entries == [("/a", DATA, stamp) for stamp in (1, 2, 3)]


@pytest.mark.parametrize("end", [None, -60])
def test_a_damaged_chunk_of_lz4_is_told(tmp_path, end):
    path = tmp_path / "a.mcap"
    data = write_mcap(path)
    data[200:260] = bytes(range(60))
    path.write_bytes(data[:end])
    if end is None:
        with pytest.raises(BagError, match="is damaged"):
            read(path)
    else:  # what lies before the damage is read, as of any file without its end
        assert read(path)[1] == []


def test_damage_between_the_messages_of_a_database_is_told(tmp_path):
    path = write(
        tmp_path / "bag", range(1, 60), serialize_message(String(data="x" * 50_000)), storage_id="sqlite3"
    )
    file = path / "bag_0.db3"
    data = bytearray(file.read_bytes())
    middle = len(data) // 2 // 4096 * 4096
    data[middle : middle + 4096] = b"\xff" * 4096
    file.write_bytes(data)
    with pytest.raises(BagError, match=r"bag_0\.db3' is damaged"):
        read(path)


@pytest.mark.parametrize(("column", "value"), [("data", 10**12), ("timestamp", "soon")])
def test_rows_that_are_no_messages_are_told(tmp_path, column, value):
    path = write(tmp_path / "bag", [1, 2], storage_id="sqlite3")
    with sqlite3.connect(path / "bag_0.db3") as database:
        database.execute(f"UPDATE messages SET {column} = ? WHERE id = 2", (value,))
    with pytest.raises(BagError, match=r"bag_0\.db3' is damaged"):
        read(path)


def test_topics_of_unknown_types_do_not_keep_the_others_from_being_played(tmp_path, capfd):
    path = tmp_path / "a.mcap"
    with path.open("wb") as file:
        writer = Writer(file)
        writer.start(profile="ros2")
        for name, package in (("/a", "std_msgs"), ("/b", "acme_msgs")):
            schema = writer.register_schema(f"{package}/msg/String", "ros2msg", b"string data")
            writer.add_message(writer.register_channel(name, "cdr", schema), 1, DATA, 1)
        writer.finish()
    assert main(["bag", "play", str(path)]) == 0
    told = capfd.readouterr().err
    assert "Ignoring a topic '/b', reason: no package provides 'acme_msgs/msg/String'" in told
    assert "Played 1 messages" in told
    assert main(["bag", "play", str(path), "--topics", "/b"]) == 1
    assert "no package provides" in capfd.readouterr().err
