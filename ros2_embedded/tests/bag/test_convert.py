"""`ros2 bag convert`: bags are merged by time, filtered and split."""

from __future__ import annotations

import pytest
import yaml
from std_msgs.msg import Int32, String

from rclpy.serialization import serialize_message
from ros2cli.cli import main
from rosbag2_py import SequentialReader, SequentialWriter, StorageOptions, TopicMetadata

SECOND = 10**9


def write_bag(folder, topic, kind, seconds, first=0):
    with SequentialWriter() as writer:
        writer.open(StorageOptions(uri=str(folder)))
        writer.create_topic(TopicMetadata(0, topic, f"std_msgs/msg/{kind.__name__}"))
        for index in range(seconds):
            value = f"{topic}{index}" if kind is String else index
            writer.write(topic, serialize_message(kind(data=value)), (1000 + first + 2 * index) * SECOND)
    return str(folder)


@pytest.fixture
def bags(tmp_path):
    return [
        write_bag(tmp_path / "one", "/a", String, 5),
        write_bag(tmp_path / "two", "/b", Int32, 5, first=1),
    ]


def convert(tmp_path, bags, *outputs):
    options = tmp_path / "out.yaml"
    options.write_text(yaml.safe_dump({"output_bags": list(outputs)}))
    words = [word for bag in bags for word in ("-i", bag)]
    return main(["bag", "convert", *words, "-o", str(options)])


def read(uri):
    reader = SequentialReader()
    reader.open(StorageOptions(uri=str(uri)))
    entries = []
    while reader.has_next():
        entries.append(reader.read_next())
    return entries, reader.get_metadata()


def test_bags_are_merged_by_time_and_keep_every_byte(tmp_path, bags):
    out = tmp_path / "merged"
    assert not convert(tmp_path, bags, {"uri": str(out), "storage_id": "mcap", "all_topics": True})
    entries, metadata = read(out)
    assert [topic for topic, _, _ in entries] == ["/a", "/b"] * 5
    stamps = [stamp for _, _, stamp in entries]
    assert stamps == sorted(stamps)
    assert sorted(entries) == sorted(entry for bag in bags for entry in read(bag)[0])
    assert metadata.message_count == 10


def test_an_output_is_filtered_and_split(tmp_path, bags):
    some, parts = tmp_path / "some", tmp_path / "parts"
    convert(
        tmp_path,
        bags,
        {"uri": str(some), "topics": ["a"]},
        {"uri": str(parts), "exclude_topics": ["/b"], "max_bagfile_duration": 4},
        {"uri": str(tmp_path / "older"), "exclude": "/a.*"},
    )
    assert {topic for topic, _, _ in read(tmp_path / "older")[0]} == {"/b"}
    assert {topic for topic, _, _ in read(some)[0]} == {"/a"}
    entries, metadata = read(parts)
    assert len(entries) == 5
    assert len(metadata.relative_file_paths) > 1


@pytest.mark.parametrize(
    ("output", "fault"),
    [
        ({"uri": "x", "speed": 2}, "unknown key 'speed'"),
        ({"uri": "x", "compression_mode": "file"}, "compression_mode 'file' needs compression_format: zstd"),
        ({"uri": "x", "compression_mode": 5}, "use none, file or message"),
        ({"topics": ["/a"]}, "has no `uri`"),
        ({"uri": "x", "storage_id": "text"}, "'text' is not written; use mcap or sqlite3"),
    ],
)
def test_what_cannot_be_written_is_said_by_name(tmp_path, bags, output, fault, capsys):
    assert convert(tmp_path, bags, output)
    assert fault in capsys.readouterr().err


def test_a_topic_of_two_types_is_not_merged(tmp_path, capsys):
    bags = [write_bag(tmp_path / "one", "/a", String, 2), write_bag(tmp_path / "two", "/a", Int32, 2)]
    assert convert(tmp_path, bags, {"uri": str(tmp_path / "out")})
    assert "leave it out with exclude_topics" in capsys.readouterr().err
