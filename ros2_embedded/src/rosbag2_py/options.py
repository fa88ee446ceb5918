"""How bags are opened, and what is read of them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import IntEnum

PRESETS = {"": None, "none": None, "fastwrite": None, "zstd_fast": 1, "zstd_small": 19}
"""zstd level of each storage preset profile, None for no compression."""
SERVICE_EVENTS = "/_service_event"


@dataclass
class StorageOptions:
    """Where a bag lies and how it is stored.

    Attributes:
        uri: the bag's directory; for reading also a single file.
        storage_id: `mcap` or `sqlite3`; '' writes mcap, and finds out when reading.
        max_bagfile_size: size of a file at which the next one begins [bytes], 0 for never.
        max_bagfile_duration: length of a file at which the next one begins [s], 0 for never.
        max_cache_size: how much is kept for a snapshot [bytes]; not used otherwise, as messages are kept in
            chunks of a fixed size.
        storage_preset_profile: a name from `PRESETS`.
        storage_config_uri: taken and not used.
        snapshot_mode: whether messages are kept in memory, and written by `take_snapshot` only.
        start_time_ns: messages before it are not read [ns since the epoch], -1 for all.
        end_time_ns: messages behind it are not read [ns since the epoch], -1 for all.
        custom_data: texts to keep in the metadata.
    """

    uri: str
    storage_id: str = ""
    max_bagfile_size: int = 0
    max_bagfile_duration: int = 0
    max_cache_size: int = 0
    storage_preset_profile: str = ""
    storage_config_uri: str = ""
    snapshot_mode: bool = False
    start_time_ns: int = -1
    end_time_ns: int = -1
    custom_data: dict[str, str] = field(default_factory=dict)


@dataclass
class ConverterOptions:
    """The serialisation of messages; only `cdr` is there, so that nothing is ever converted."""

    input_serialization_format: str = "cdr"
    output_serialization_format: str = "cdr"


@dataclass
class StorageFilter:
    """Which messages a reader returns: those of the topics named or found, all where none is; some excluded.

    Regular expressions match whole names.

    Attributes:
        topics: names of topics.
        services_events: names of topics of service events, `<service>/_service_event`.
        regex: finds topics and service events.
        exclude_topics: names of topics to leave out.
        exclude_service_events: names of topics of service events to leave out.
        regex_to_exclude: finds what to leave out.
    """

    topics: list[str] = field(default_factory=list)
    services_events: list[str] = field(default_factory=list)
    regex: str = ""
    exclude_topics: list[str] = field(default_factory=list)
    exclude_service_events: list[str] = field(default_factory=list)
    regex_to_exclude: str = ""

    def wants(self, topic: str) -> bool:
        """Whether messages of a topic are returned."""
        if topic in self.exclude_topics or topic in self.exclude_service_events:
            return False
        if self.regex_to_exclude and re.fullmatch(self.regex_to_exclude, topic):
            return False
        if not (self.topics or self.services_events or self.regex):
            return True
        found = bool(self.regex and re.fullmatch(self.regex, topic))
        return found or topic in self.topics or topic in self.services_events


class ReadOrderSortBy(IntEnum):
    """By what the messages of a bag are sorted."""

    ReceivedTimestamp = 0
    PublishedTimestamp = 1
    File = 2


@dataclass
class ReadOrder:
    """In what order a bag is read.

    Attributes:
        sort_by: by what the messages are sorted.
        reverse: whether the last one comes first.
    """

    sort_by: ReadOrderSortBy = ReadOrderSortBy.ReceivedTimestamp
    reverse: bool = False


class CompressionMode(IntEnum):
    """What is compressed at a time."""

    NONE = 0
    FILE = 1
    MESSAGE = 2


@dataclass
class CompressionOptions:
    """How a bag is compressed. Files are when they are complete, messages when they are written.

    A `storage_preset_profile` of MCAP compresses chunks of messages, which other programs can read in place.

    Attributes:
        compression_format: `zstd`, or '' for none.
        compression_mode: what to compress.
        compression_queue_size: taken and not used.
        compression_threads: taken and not used.
    """

    compression_format: str = ""
    compression_mode: CompressionMode = CompressionMode.NONE
    compression_queue_size: int = 1
    compression_threads: int = 0

    def check(self) -> None:
        """Look whether this can be written.

        Raises:
            ValueError: another format than zstd.
        """
        if self.compression_mode != CompressionMode.NONE and self.compression_format != "zstd":
            raise ValueError(f"compression '{self.compression_format}' cannot be written; use zstd")

    def said(self) -> tuple[str, str]:
        """What a bag's metadata says of it: the format and the mode."""
        if self.compression_mode == CompressionMode.NONE:
            return "", ""
        return self.compression_format, self.compression_mode.name


def compression_mode_from_string(compression_mode: str) -> CompressionMode:
    """The mode of a word, in capitals or not; NONE for a word that is no mode."""
    return CompressionMode.__members__.get(compression_mode.upper(), CompressionMode.NONE)


def compression_mode_to_string(compression_mode: CompressionMode) -> str:
    """The word of a mode."""
    return compression_mode.name


def get_default_storage_id() -> str:
    """The storage of bags that do not say one."""
    return "mcap"


def get_registered_readers() -> set[str]:
    """The storages that can be read."""
    return {"mcap", "sqlite3"}


def get_registered_writers() -> set[str]:
    """The storages that can be written."""
    return {"mcap", "sqlite3"}


def get_registered_compressors() -> set[str]:
    """The compressions that can be written."""
    return {"zstd"}


def get_registered_serializers() -> set[str]:
    """The serialisations that messages have."""
    return {"cdr"}
