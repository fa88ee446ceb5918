"""The names of rosbag2_py's extension module of storages, by which tutorials of ROS 2 call them."""

from .definitions import MessageDefinition
from .information import MetadataIo
from .metadata import BagMetadata, FileInformation, TopicInformation, TopicMetadata
from .options import (
    ConverterOptions,
    ReadOrder,
    ReadOrderSortBy,
    StorageFilter,
    StorageOptions,
    get_default_storage_id,
)

__all__ = [
    "BagMetadata",
    "ConverterOptions",
    "FileInformation",
    "MessageDefinition",
    "MetadataIo",
    "ReadOrder",
    "ReadOrderSortBy",
    "StorageFilter",
    "StorageOptions",
    "TopicInformation",
    "TopicMetadata",
    "get_default_storage_id",
]
