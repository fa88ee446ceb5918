"""Bags in SQLite are written, converted, and read when their recording was killed."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys

import pytest
from rosbags.rosbag2 import Reader
from std_msgs.msg import Int32, String

from rclpy.qos import QoSProfile
from rclpy.serialization import serialize_message
from ros2_embedded.rosidl.type_hash import type_hash
from ros2cli.cli import main
from rosbag2_py import (
    BagError,
    CompressionMode,
    CompressionOptions,
    Reindexer,
    SequentialCompressionWriter,
    SequentialReader,
    SequentialWriter,
    StorageFilter,
    StorageOptions,
    TopicMetadata,
)
from rosbag2_py.qos_profiles import to_mapping

START = 1_700_000_000 * 10**9
QOS = [to_mapping(QoSProfile(depth=5))]


def options(path, **more):
    return StorageOptions(uri=str(path), storage_id="sqlite3", **more)


def write(path, count=6, **more):
    with SequentialWriter() as writer:
        writer.open(options(path, **more))
        writer.create_topic(TopicMetadata(0, "/a", "std_msgs/msg/String", "cdr", QOS))
        writer.create_topic(TopicMetadata(0, "/b", "std_msgs/msg/Int32"))
        for index in range(count):
            topic, message = ("/b", Int32(data=index)) if index % 2 else ("/a", String(data=f"{index}"))
            writer.write(topic, serialize_message(message), START + index * 10**9)
    return path


def read(path, **chosen):
    reader = SequentialReader()
    reader.open(StorageOptions(uri=str(path)))
    reader.set_filter(StorageFilter(**chosen))
    entries = []
    while reader.has_next():
        entries.append(reader.read_next())
    return reader, entries


def test_another_reader_finds_what_was_written(tmp_path):
    path = write(tmp_path / "bag")
    assert (path / "bag_0.db3").is_file()
    with Reader(path) as reader:
        found = [(connection.topic, bytes(data), time) for connection, time, data in reader.messages()]
    reader, entries = read(path)
    assert found == entries
    metadata = reader.get_metadata()
    assert (metadata.storage_identifier, metadata.message_count) == ("sqlite3", 6)
    first, _ = reader.get_all_topics_and_types()
    assert (first.offered_qos_profiles[0]["depth"], first.type_description_hash) == (5, type_hash(first.type))
    with sqlite3.connect(path / "bag_0.db3") as database:
        version = database.execute("SELECT schema_version FROM schema").fetchone()
        definitions = database.execute("SELECT topic_type, encoding FROM message_definitions").fetchall()
        kept = database.execute("SELECT metadata_version, metadata FROM metadata").fetchone()
    assert version == (4,)
    assert sorted(definitions) == [("std_msgs/msg/Int32", "ros2msg"), ("std_msgs/msg/String", "ros2msg")]
    assert kept[0] == 9
    assert "message_count: 6" in kept[1]


def test_it_is_filtered_moved_in_and_split(tmp_path):
    path = write(tmp_path / "bag", max_bagfile_duration=2)
    assert len(list(path.glob("*.db3"))) == 3
    assert [topic for topic, _, _ in read(path, topics=["/b"])[1]] == ["/b"] * 3
    reader, _ = read(path)
    reader.seek(START + 4 * 10**9)
    assert reader.read_next()[2] == START + 4 * 10**9
    assert read(path / "bag_1.db3")[1] == read(path)[1][2:4]


def test_bags_are_converted_from_one_storage_to_the_other(tmp_path, capsys):
    path = write(tmp_path / "bag")
    outputs = tmp_path / "outputs.yaml"
    there, back = tmp_path / "there", tmp_path / "back"
    outputs.write_text(json.dumps({"output_bags": [{"uri": str(there), "storage_id": "mcap"}]}))
    assert main(["bag", "convert", "-i", str(path), "sqlite3", "-o", str(outputs)]) == 0
    outputs.write_text(json.dumps({"output_bags": [{"uri": str(back), "storage_id": "sqlite3"}]}))
    assert main(["bag", "convert", "-i", str(there), "-o", str(outputs)]) == 0
    assert (there / "there_0.mcap").is_file()
    assert (back / "back_0.db3").is_file()
    assert read(back)[1] == read(path)[1]
    capsys.readouterr()
    assert main(["bag", "info", str(back)]) == 0
    assert "sqlite3" in capsys.readouterr().out


KILLED = """
import os, sys
sys.path.insert(0, {here!r})
from test_sqlite import *
writer = SequentialWriter()
writer.open(options({path!r}))
writer.create_topic(TopicMetadata(0, "/a", "std_msgs/msg/String"))
writer.write("/a", serialize_message(String(data="kept")), START)
writer.flush()
writer.write("/a", serialize_message(String(data="lost")), START + 1)
os._exit(9)
"""


def test_a_killed_recording_is_read_and_completed(tmp_path):
    path = tmp_path / "bag"
    code = KILLED.format(here=os.path.dirname(__file__), path=str(path))
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 9
    assert len(read(path)[1]) == 1
    assert Reindexer().reindex(options(path)) == 1
    with Reader(path) as reader:
        assert reader.message_count == 1


def test_what_it_cannot_do_is_said(tmp_path):
    with pytest.raises(ValueError, match="unknown preset 'zstd_fast' of sqlite3; known: none, resilient"):
        SequentialWriter().open(options(tmp_path / "bag", storage_preset_profile="zstd_fast"))
    with pytest.raises(ValueError, match="compression 'lz4' cannot be written; use zstd"):
        SequentialCompressionWriter(CompressionOptions("lz4", CompressionMode.FILE))
    wrong = tmp_path / "wrong.db3"
    wrong.write_text("no database")
    with pytest.raises(BagError, match=r"wrong\.db3' is no SQLite file of a bag"):
        read(wrong)


@pytest.mark.parametrize(
    ("kind", "names"),
    [("storage", ["mcap", "sqlite3"]), ("converter", ["rosbag2_cdr"]), ("compressor", ["zstd"])],
)
def test_plug_ins_are_listed(kind, names, capsys):
    assert main(["bag", "list", kind]) == 0
    assert capsys.readouterr().out.split() == names
