"""Bags of ROS messages: MCAP files with a `metadata.yaml` beside them, as rosbag2 writes them.

The names are those of ROS 2's `rosbag2_py`. Bags written here are read by ROS 2 and Foxglove. A file is
complete up to its last second at any moment: a recording that was killed is read and played like any other.
Bags in SQLite, rosbag2's older storage, are read only.
"""

from .errors import BagError
from .metadata import BagMetadata, FileInformation, TopicInformation, TopicMetadata
from .options import ConverterOptions, StorageFilter, StorageOptions
from .reindexer import Reindexer
from .sequential_reader import SequentialReader
from .sequential_writer import SequentialWriter

__all__ = [
    "BagError",
    "BagMetadata",
    "ConverterOptions",
    "FileInformation",
    "Reindexer",
    "SequentialReader",
    "SequentialWriter",
    "StorageFilter",
    "StorageOptions",
    "TopicInformation",
    "TopicMetadata",
]
