"""Bags that a program leaves open are completed when it ends, whatever became of one of them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PROGRAM = """
import shutil, sys
from pathlib import Path
from rclpy.serialization import serialize_message
from rosbag2_py import SequentialWriter, StorageOptions, TopicMetadata
from std_msgs.msg import String

writers = []
for uri in sys.argv[1:]:
    writer = SequentialWriter()
    writers.append(writer)
    writer.open(StorageOptions(uri=uri))
    writer.create_topic(TopicMetadata(0, "/a", "std_msgs/msg/String"))
    writer.write("/a", serialize_message(String(data="kept")), 10**18)
    if "removed" in uri:
        shutil.rmtree(uri)
    if "blocked" in uri:
        (Path(uri) / "metadata.yaml.part").mkdir()
"""


def ended(*bags: Path) -> str:
    """Leave bags open in a program, and return what it printed at its end."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *map(str, bags)], check=True, capture_output=True, text=True
    )
    return done.stderr


def test_a_bag_whose_folder_was_removed_is_no_error(tmp_path):
    bags = [tmp_path / f"{name}{number}" for number in range(3) for name in ("removed", "left")]
    assert ended(*bags) == ""
    assert sorted(bag.name for bag in bags if (bag / "metadata.yaml").is_file()) == [
        "left0",
        "left1",
        "left2",
    ]


def test_a_bag_that_cannot_be_completed_is_named_and_the_others_are(tmp_path):
    bags = [tmp_path / f"{name}{number}" for number in range(3) for name in ("blocked", "left")]
    told = sorted(ended(*bags).splitlines())
    assert told == [f"the bag {bag} could not be completed: Is a directory" for bag in bags[::2]]
    assert all((bag / "metadata.yaml").is_file() for bag in bags[1::2])
