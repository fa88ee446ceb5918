"""A disk that is full is told in one line, and what a bag says of itself is in its files."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from std_msgs.msg import String

from rclpy.serialization import serialize_message
from ros2cli.cli import main
from rosbag2_py import BagError, Reindexer, SequentialReader, SequentialWriter, StorageOptions, TopicMetadata

DATA = serialize_message(String(data="x" * 50_000))


def write(folder: Path, count: int, storage: str = "mcap") -> None:
    with SequentialWriter() as writer:
        writer.open(StorageOptions(uri=str(folder), storage_id=storage))
        writer.create_topic(TopicMetadata(0, "/a", "std_msgs/msg/String"))
        for stamp in range(1, count + 1):
            writer.write("/a", DATA, stamp)


@pytest.fixture
def bag(tmp_path: Path) -> Path:
    write(tmp_path / "bag", 60)
    return tmp_path / "bag"


@pytest.fixture
def small_disk(bag: Path) -> Iterator[None]:
    """Let files of this process grow to 500 kB and no further, which is told as a full disk is."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (500_000, hard))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("storage", ["mcap", "sqlite3"])
def test_a_full_disk_is_told_in_one_line(bag, small_disk, tmp_path, storage, capsys):
    options = tmp_path / "out.yaml"
    out = str(tmp_path / "out")
    options.write_text(yaml.safe_dump({"output_bags": [{"uri": out, "storage_id": storage}]}))
    assert main(["bag", "convert", "-i", str(bag), "-o", str(options)]) == 1
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith(f"the bag '{out}' can be written no further: ")
    assert not (tmp_path / "out" / "metadata.yaml").exists()


def test_a_bag_that_cannot_be_reindexed_stays_as_it_was(bag, small_disk):
    with pytest.raises(BagError, match="can be written no further"):
        Reindexer().reindex(StorageOptions(uri=str(bag)))
    assert sorted(path.name for path in bag.iterdir()) == ["bag_0.mcap", "metadata.yaml"]


def test_messages_that_are_in_no_file_do_not_count(tmp_path):
    write(tmp_path / "bag", 1)
    file = tmp_path / "bag" / "metadata.yaml"
    content = yaml.safe_load(file.read_text())
    topics = content["rosbag2_bagfile_information"]["topics_with_message_count"]
    topics[0]["topic_metadata"]["name"] = "/lost"
    topics[0]["message_count"] = 37
    file.write_text(yaml.safe_dump(content))
    reader = SequentialReader()
    reader.open_uri(str(tmp_path / "bag"))
    counts = {
        one.topic_metadata.name: one.message_count for one in reader.get_metadata().topics_with_message_count
    }
    assert counts == {"/a": 1, "/lost": 0}
    assert reader.get_metadata().message_count == 1
