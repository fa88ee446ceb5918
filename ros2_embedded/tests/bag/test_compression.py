"""Bags whose files or messages are compressed, as rosbag2 writes them, and bags that are read backwards."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

import pytest
import yaml
import zstandard
from mcap.writer import Writer
from rosbags.rosbag2 import Reader
from std_msgs.msg import String

from rclpy.serialization import deserialize_message, serialize_message
from ros2cli.cli import main
from rosbag2_py import (
    BagError,
    CompressionMode,
    CompressionOptions,
    MessageDefinition,
    ReadOrder,
    ReadOrderSortBy,
    Reindexer,
    SequentialCompressionWriter,
    SequentialReader,
    SequentialWriter,
    StorageFilter,
    StorageOptions,
    TopicMetadata,
)

STORAGES = ["mcap", "sqlite3"]
MODES = [CompressionMode.FILE, CompressionMode.MESSAGE]
TEXT = "a text that is long enough to be worth it " * 50
STAMPS = range(1, 7)
BACKWARDS = ReadOrder(reverse=True)


def write_bag(folder: Path, mode: CompressionMode = CompressionMode.NONE, storage: str = "mcap") -> Path:
    """A bag of two files; even messages are on /even, the others on /odd."""
    with SequentialCompressionWriter(CompressionOptions("zstd", mode)) as writer:
        writer.open(StorageOptions(uri=str(folder), storage_id=storage))
        for name in ("/odd", "/even"):
            writer.create_topic(TopicMetadata(0, name, "std_msgs/msg/String"))
        for stamp in STAMPS:
            if stamp == 4:
                writer.split_bagfile()
            message = serialize_message(String(data=f"{stamp} {TEXT}"))
            writer.write("/odd" if stamp % 2 else "/even", message, stamp)
    return folder


def opened(bag: Path, **options: int) -> SequentialReader:
    reader = SequentialReader()
    reader.open(StorageOptions(uri=str(bag), **options))
    return reader


def rest(reader: SequentialReader) -> list[int]:
    """The times of the messages that are left; each has the text that was written then."""
    stamps = []
    while reader.has_next():
        topic, data, stamp = reader.read_next()
        assert deserialize_message(data, String).data == f"{stamp} {TEXT}"
        assert topic == ("/odd" if stamp % 2 else "/even")
        stamps.append(stamp)
    return stamps


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("mode", MODES)
def test_what_is_written_is_smaller_and_read_by_others(tmp_path, mode, storage):
    bag, plain = write_bag(tmp_path / "bag", mode, storage), write_bag(tmp_path / "plain", storage=storage)
    said = yaml.safe_load((bag / "metadata.yaml").read_text())["rosbag2_bagfile_information"]
    assert (said["compression_format"], said["compression_mode"]) == ("zstd", mode.name)
    suffix = {"mcap": ".mcap", "sqlite3": ".db3"}[storage] + ".zstd" * (mode == CompressionMode.FILE)
    names = [f"bag_0{suffix}", f"bag_1{suffix}"]
    assert said["relative_file_paths"] == [file["path"] for file in said["files"]] == names
    assert sorted(file.name for file in bag.iterdir()) == [*names, "metadata.yaml"]
    sizes = [sum(file.stat().st_size for file in folder.iterdir()) for folder in (bag, plain)]
    assert sizes[0] < (0.5 if mode == CompressionMode.FILE else 0.9) * sizes[1]
    with Reader(bag) as reader:
        found = [(time, deserialize_message(bytes(data), String).data) for _, time, data in reader.messages()]
    assert found == [(stamp, f"{stamp} {TEXT}") for stamp in STAMPS]
    reader = opened(bag)
    assert rest(reader) == list(STAMPS)
    metadata = reader.get_metadata()
    assert (metadata.compression_mode, metadata.message_count) == (mode.name, len(STAMPS))
    reader.seek(5)
    assert rest(reader) == [5, 6]
    reader.set_filter(StorageFilter(topics=["/even"]))
    reader.seek(3)
    assert rest(reader) == [4, 6]


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("mode", MODES)
def test_a_recording_that_was_killed_is_read_and_completed(tmp_path, mode, storage):
    bag = write_bag(tmp_path / "bag", mode, storage)
    (bag / "metadata.yaml").unlink()
    for file in bag.glob("bag_1.*.zstd"):  # the last one was being compressed
        with (bag / file.stem).open("wb") as plain:
            zstandard.ZstdDecompressor().copy_stream(file.open("rb"), plain)
        file.write_bytes(b"")
    assert rest(opened(bag)) == list(STAMPS)
    assert Reindexer().reindex(StorageOptions(uri=str(bag))) == len(STAMPS)
    assert rest(opened(bag)) == list(STAMPS)


def test_unknown_types_of_a_compressed_bag_are_kept(tmp_path):
    bag, out = tmp_path / "bag", tmp_path / "out"
    with SequentialCompressionWriter(CompressionOptions("zstd", CompressionMode.FILE)) as writer:
        writer.open(StorageOptions(uri=str(bag)))
        topic = TopicMetadata(0, "/odd", "acme_msgs/msg/Word")
        writer.create_topic(topic, MessageDefinition(topic.type, "ros2msg", "string data\n", ""))
        writer.write("/odd", serialize_message(String(data=f"1 {TEXT}")), 1)
    [found] = opened(bag).get_all_message_definitions()
    assert (found.topic_type, found.encoded_message_definition) == ("acme_msgs/msg/Word", "string data\n")
    options = tmp_path / "out.yaml"
    output = {"uri": str(out), "compression_mode": "message", "compression_format": "zstd"}
    options.write_text(yaml.safe_dump({"output_bags": [output]}))
    assert main(["bag", "convert", "-i", str(bag), "-o", str(options)]) == 0
    reader = opened(out)
    assert reader.get_metadata().compression_mode == "MESSAGE"
    assert reader.get_all_message_definitions()[0].encoded_message_definition == "string data\n"
    assert rest(reader) == [1]


def test_damage_is_told_with_its_place_and_nothing_is_left(tmp_path, monkeypatch):
    unpacked = tmp_path / "unpacked"
    unpacked.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(unpacked))
    bag = write_bag(tmp_path / "bag", CompressionMode.FILE)
    last = bag / "bag_1.mcap.zstd"
    last.write_bytes(last.read_bytes()[:-10])
    reader = opened(bag)
    assert [reader.read_next()[2] for _ in range(2)] == [1, 2]
    with pytest.raises(BagError, match=r"bag_1\.mcap\.zstd' is damaged"):
        rest(reader)
    last.unlink()
    with pytest.raises(BagError, match=r"bag_1\.mcap\.zstd"):
        opened(bag)
    assert not list(unpacked.iterdir())


@pytest.mark.parametrize("told", ["cut", "huge"])
def test_a_message_that_is_no_whole_frame_is_told_with_its_topic(tmp_path, told):
    packed = zstandard.ZstdCompressor().compress(serialize_message(String(data=TEXT)))
    data = packed[:-5] if told == "cut" else packed[:4] + b"\xe0" + (2**40).to_bytes(8, "little")
    bag = tmp_path / "bag"
    with SequentialWriter() as writer:
        writer.open(StorageOptions(uri=str(bag)))
        writer.create_topic(TopicMetadata(0, "/odd", "std_msgs/msg/String"))
        writer.write("/odd", data, 1)
    with pytest.raises(BagError, match=re.escape("bag_0.mcap': topic '/odd': a compressed message")):
        opened(bag)


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("mode", [CompressionMode.NONE, *MODES])
def test_a_bag_is_read_backwards(tmp_path, mode, storage):
    reader = opened(write_bag(tmp_path / "bag", mode, storage))
    assert reader.read_next()[2] == 1
    assert reader.set_read_order(BACKWARDS)
    assert rest(reader) == [6, 5, 4, 3, 2, 1]
    reader.seek(3)
    assert reader.read_next()[2] == 3
    reader.set_filter(StorageFilter(topics=["/odd"]))
    assert rest(reader) == [1]
    assert reader.set_read_order(ReadOrder())
    assert rest(reader) == [1, 3, 5]
    part = opened(tmp_path / "bag", start_time_ns=2, end_time_ns=5)
    assert part.set_read_order(BACKWARDS)
    assert rest(part) == [5, 4, 3, 2]
    part.seek(1)
    assert rest(part) == []


def test_an_order_that_cannot_be_had_is_refused(tmp_path):
    whole = (write_bag(tmp_path / "bag") / "bag_1.mcap").read_bytes()
    cut, flat = tmp_path / "cut.mcap", tmp_path / "flat.mcap"
    cut.write_bytes(whole[:-100])
    with flat.open("wb") as file:
        writer = Writer(file, use_chunking=False)
        writer.start(profile="ros2")
        schema = writer.register_schema("std_msgs/msg/String", "ros2msg", b"string data\n")
        channel = writer.register_channel("/even", "cdr", schema)
        writer.add_message(channel, 4, serialize_message(String(data=f"4 {TEXT}")), 4)
        writer.finish()
    for path, stamps in ((cut, [4, 5, 6]), (flat, [4])):
        reader = opened(path)
        assert not reader.set_read_order(BACKWARDS)
        assert rest(reader) == stamps
    for sort_by in (ReadOrderSortBy.PublishedTimestamp, ReadOrderSortBy.File):
        assert not opened(tmp_path / "bag").set_read_order(ReadOrder(sort_by))
