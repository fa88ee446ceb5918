"""Bags of ROS messages: MCAP files with a `metadata.yaml` beside them, as rosbag2 writes them.

The names are those of ROS 2's `rosbag2_py`. Bags written here are read by ROS 2 and Foxglove. A file is
complete up to its last second at any moment: a recording that was killed is read and played like any other.
Bags in SQLite, rosbag2's older storage, are read and written, too.
"""

from . import _storage as _storage
from .definitions import LocalMessageDefinitionSource, MessageDefinition
from .errors import BagError, BagExistsError, EndOfBagError, TopicNotCreatedError
from .information import Info, MetadataIo
from .metadata import BagMetadata, FileInformation, TopicInformation, TopicMetadata
from .options import (
    CompressionMode,
    CompressionOptions,
    ConverterOptions,
    ReadOrder,
    ReadOrderSortBy,
    StorageFilter,
    StorageOptions,
    compression_mode_from_string,
    compression_mode_to_string,
    get_default_storage_id,
    get_registered_compressors,
    get_registered_readers,
    get_registered_serializers,
    get_registered_writers,
)
from .reindexer import Reindexer
from .sequential_reader import SequentialCompressionReader, SequentialReader
from .sequential_writer import SequentialCompressionWriter, SequentialWriter
from .transport import Player, PlayOptions, Recorder, RecordOptions, bag_rewrite

__all__ = [
    "BagError",
    "BagExistsError",
    "BagMetadata",
    "CompressionMode",
    "CompressionOptions",
    "ConverterOptions",
    "EndOfBagError",
    "FileInformation",
    "Info",
    "LocalMessageDefinitionSource",
    "MessageDefinition",
    "MetadataIo",
    "PlayOptions",
    "Player",
    "ReadOrder",
    "ReadOrderSortBy",
    "RecordOptions",
    "Recorder",
    "Reindexer",
    "SequentialCompressionReader",
    "SequentialCompressionWriter",
    "SequentialReader",
    "SequentialWriter",
    "StorageFilter",
    "StorageOptions",
    "TopicInformation",
    "TopicMetadata",
    "TopicNotCreatedError",
    "bag_rewrite",
    "compression_mode_from_string",
    "compression_mode_to_string",
    "get_default_storage_id",
    "get_registered_compressors",
    "get_registered_readers",
    "get_registered_serializers",
    "get_registered_writers",
]
