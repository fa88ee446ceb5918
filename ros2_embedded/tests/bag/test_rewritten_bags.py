"""Bags of others that `ros2 bag reindex` and `ros2 bag convert` write anew: nothing of them is lost."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from mcap.reader import make_reader
from mcap.writer import Writer
from rosbags.rosbag2 import StoragePlugin
from rosbags.rosbag2 import Writer as RosbagsWriter
from rosbags.rosbag2.enums import CompressionFormat, CompressionMode
from rosbags.typesys import Stores, get_typestore
from std_msgs.msg import String

from rclpy.serialization import serialize_message
from ros2cli.cli import main
from rosbag2_py import Reindexer, SequentialReader, SequentialWriter, StorageOptions, TopicMetadata

DATA = serialize_message(String(data="x"))
TYPE, TEXT = "acme_msgs/msg/Word", "string data\n"


def foreign_bag(folder: Path) -> Path:
    """A bag of a type that no package here provides; its messages came 100 ns after they were published."""
    folder.mkdir()
    with (folder / f"{folder.name}_0.mcap").open("wb") as file:
        writer = Writer(file)
        writer.start(profile="ros2")
        channel = writer.register_channel("/a", "cdr", writer.register_schema(TYPE, "ros2msg", TEXT.encode()))
        for stamp in (1, 2):
            writer.add_message(channel, stamp + 100, DATA, stamp)
        writer.finish()
    return folder


def content(file: Path) -> list[tuple[str, str, int, int]]:
    with file.open("rb") as stream:
        return [
            (schema.name, schema.data.decode(), message.log_time, message.publish_time)
            for schema, _, message in make_reader(stream).iter_messages()
        ]


WHOLE = [(TYPE, TEXT, 101, 1), (TYPE, TEXT, 102, 2)]


def test_a_bag_tells_the_definitions_that_are_in_it(tmp_path):
    reader = SequentialReader()
    reader.open_uri(str(foreign_bag(tmp_path / "bag")))
    [found] = reader.get_all_message_definitions()
    assert (found.topic_type, found.encoding, found.encoded_message_definition) == (TYPE, "ros2msg", TEXT)


def test_reindexing_keeps_unknown_types_and_both_times(tmp_path):
    bag = foreign_bag(tmp_path / "bag")
    assert Reindexer().reindex(StorageOptions(uri=str(bag))) == 2
    assert content(bag / "bag_0.mcap") == WHOLE


@pytest.mark.parametrize("storage", ["mcap", "sqlite3"])
def test_converting_keeps_unknown_types_and_both_times(tmp_path, storage):
    bag, options = foreign_bag(tmp_path / "bag"), tmp_path / "out.yaml"
    out = tmp_path / "out"
    options.write_text(yaml.safe_dump({"output_bags": [{"uri": str(out), "storage_id": storage}]}))
    assert main(["bag", "convert", "-i", str(bag), "-o", str(options)]) == 0
    if storage == "mcap":
        assert content(out / "out_0.mcap") == WHOLE
    reader = SequentialReader()
    reader.open_uri(str(out))
    assert reader.get_all_message_definitions()[0].encoded_message_definition == TEXT
    assert [reader.read_next(), reader.read_next()] == [("/a", DATA, 101), ("/a", DATA, 102)]


def test_reindexing_removes_no_file_outside_of_the_bag(tmp_path):
    bag, other = tmp_path / "bag", tmp_path / "other"
    writer = RosbagsWriter(bag, version=9, storage_plugin=StoragePlugin.SQLITE3)
    writer.set_compression(CompressionMode.MESSAGE, CompressionFormat.ZSTD)
    with writer:
        store = get_typestore(Stores.ROS2_JAZZY)
        writer.write(writer.add_connection("/a", "std_msgs/msg/String", typestore=store), 1, DATA)
    other.mkdir()
    (other / "bag.db3").write_text("of somebody")
    said = yaml.safe_load((bag / "metadata.yaml").read_text())
    said["rosbag2_bagfile_information"]["relative_file_paths"] = ["../other/bag.db3"]
    (bag / "metadata.yaml").write_text(yaml.safe_dump(said))
    assert Reindexer().reindex(StorageOptions(uri=str(bag))) == 1
    assert (other / "bag.db3").read_text() == "of somebody"
    assert sorted(file.name for file in bag.iterdir()) == ["bag_0.db3", "metadata.yaml"]


@pytest.mark.parametrize("place", ["within", "end"])
def test_reindexing_keeps_a_file_that_is_damaged_within(tmp_path, place, capsys):
    bag = tmp_path / "bag"
    ends = []
    with SequentialWriter() as writer:
        writer.open(StorageOptions(uri=str(bag)))
        writer.create_topic(TopicMetadata(0, "/a", "std_msgs/msg/String"))
        for stamp in range(1, 6):
            writer.write("/a", serialize_message(String(data="x" * 500)), stamp)
            writer.flush()
            ends.append((bag / "bag_0.mcap").stat().st_size)
    (bag / "metadata.yaml").unlink()
    content = bytearray((bag / "bag_0.mcap").read_bytes()[: ends[-1]])
    if place == "within":
        content[ends[0] + 200 : ends[0] + 220] = bytes(20)
    else:
        del content[ends[3] + 300 :]
    (bag / "bag_0.mcap").write_bytes(content)
    assert main(["bag", "reindex", str(bag)]) == 0
    reader = SequentialReader()
    reader.open_uri(str(bag))
    assert reader.get_metadata().message_count == (1 if place == "within" else 4)
    kept = bag / "bag_0.mcap.damaged"
    assert kept.exists() is (str(kept) in capsys.readouterr().out) is (place == "within")
    if place == "within":
        assert kept.read_bytes() == content
