"""Writing of bags."""

from __future__ import annotations

import atexit
import importlib.metadata
import operator
import os
import sys
import weakref
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from ros2_embedded.rosidl.registry import distribution
from ros2_embedded.rosidl.type_hash import type_hash

from .compression import compress_file, compress_message
from .definitions import MessageDefinition, full_text
from .errors import BagError, BagExistsError, TopicNotCreatedError
from .mcap_writer import McapWriter
from .metadata import (
    FILE_NAME,
    BagMetadata,
    FileInformation,
    TopicInformation,
    TopicMetadata,
    inner_yaml,
    to_yaml,
)
from .options import (
    PRESETS,
    CompressionMode,
    CompressionOptions,
    ConverterOptions,
    StorageOptions,
    get_registered_writers,
)
from .snapshots import Kept, LastMessages
from .sqlite_storage import PRESETS as SQLITE_PRESETS
from .sqlite_storage import SUFFIX as SQLITE_SUFFIX
from .sqlite_storage import SqliteWriter

SQLITE = "sqlite3"
_END_OF_TIME = 2**63


@dataclass
class _File:
    """The file at work."""

    path: Path
    writer: McapWriter | SqliteWriter
    channels: dict[str, int] = field(default_factory=dict)
    schemas: dict[str, int] = field(default_factory=dict)
    start: int = 0
    end: int = 0
    count: int = 0


class SequentialWriter:
    """A bag that is being written, until it is closed, deleted, or the process ends.

    A process that is killed loses what came after the last `flush`.
    """

    def __init__(self) -> None:
        self._process = os.getpid()
        self._options: StorageOptions | None = None
        self._compression = CompressionOptions()
        self._topics: dict[str, TopicInformation] = {}
        self._definitions: dict[str, MessageDefinition] = {}  # by type, of types that come with their own
        self._files: list[FileInformation] = []
        self._file: _File | None = None
        self._last: LastMessages | None = None  # in snapshot mode

    def open(
        self, storage_options: StorageOptions, converter_options: ConverterOptions | None = None
    ) -> None:
        """Make the bag's directory and its first file.

        Raises:
            BagExistsError: the directory exists, a RuntimeError as in ROS 2.
            ValueError: another storage than `mcap` and `sqlite3`, a format that is not `cdr`, an unknown
                preset, snapshots of no size.
        """
        formats = converter_options or ConverterOptions()
        storage = storage_options.storage_id
        if storage and storage not in get_registered_writers():
            known = " or ".join(sorted(get_registered_writers()))
            raise ValueError(f"storage '{storage}' cannot be written; use {known}")
        if {formats.input_serialization_format, formats.output_serialization_format} - {"", "cdr"}:
            raise ValueError(f"{formats}: messages can only be written as they are, in cdr")
        presets = SQLITE_PRESETS if storage == SQLITE else PRESETS
        if storage_options.storage_preset_profile not in presets:
            known = ", ".join(filter(None, presets))
            preset = storage_options.storage_preset_profile
            raise ValueError(f"unknown preset '{preset}' of {storage or 'mcap'}; known: {known}")
        if storage_options.snapshot_mode and storage_options.max_cache_size <= 0:
            raise ValueError("snapshot_mode needs a max_cache_size greater than 0 [bytes]")
        folder = Path(storage_options.uri)
        try:
            folder.mkdir(parents=True)
        except FileExistsError as error:
            raise BagExistsError(f"cannot write a bag to '{folder}': it exists already") from error
        self.close()
        self._topics, self._definitions, self._files = {}, {}, []
        self._options = storage_options
        self._last = LastMessages(storage_options.max_cache_size) if storage_options.snapshot_mode else None
        self._file = self._open_file()
        _OPEN.add(self)

    def create_topic(self, topic: TopicMetadata, message_definition: MessageDefinition | None = None) -> None:
        """Add a topic; one that is there already stays as it is.

        Args:
            topic: the topic.
            message_definition: the definition of its type, for types that no package here may provide.

        Raises:
            InterfaceNotFoundError: no package provides its type, and there is no definition.
        """
        self._open()
        if topic.name in self._topics:
            return
        if message_definition is not None:
            self._definitions.setdefault(topic.type, message_definition)
        else:
            topic.type_description_hash = topic.type_description_hash or type_hash(topic.type)
        self._topics[topic.name] = TopicInformation(topic, 0)

    def remove_topic(self, topic: TopicMetadata) -> None:
        """Take a topic back that has no messages yet; others stay."""
        known = self._topics.get(topic.name)
        if known is not None and not known.message_count:
            del self._topics[topic.name]

    def write(
        self, topic_name: str, message: bytes, time_stamp: int, publish_time: int | None = None
    ) -> None:
        """Add a message; in snapshot mode it is kept in memory, for `take_snapshot`.

        Args:
            topic_name: a topic that `create_topic` was told of.
            message: its bytes in CDR.
            time_stamp: when it was received [ns since the epoch].
            publish_time: when it was published, the same moment by default.

        Raises:
            TopicNotCreatedError: the topic was not created.
            TypeError: the message is no bytes, or a time no whole number.
            BagError: a time is before the epoch, or later than a bag can tell.
        """
        self._open()
        if topic_name not in self._topics:
            raise TopicNotCreatedError(f"topic '{topic_name}' is not in the bag; call create_topic() first")
        if not isinstance(message, (bytes, bytearray, memoryview)):
            raise TypeError(f"a message is written as bytes in CDR, not as {type(message).__name__}")
        received = _time(time_stamp)
        kept = Kept(topic_name, message, received, received if publish_time is None else _time(publish_time))
        if self._last is not None:
            self._last.add(kept)
        else:
            self._write(kept)

    def _write(self, message: Kept) -> None:
        file, topic_name, time_stamp = self._open(), message.topic, message.received
        if self._is_full(file, time_stamp):
            self.split_bagfile()
            file = self._open()
        if topic_name not in file.channels:
            self._add_channel(file, self._topics[topic_name].topic_metadata)
        channel, data = file.channels[topic_name], message.data
        if self._compression.compression_mode == CompressionMode.MESSAGE:
            data = compress_message(data)
        file.writer.add_message(channel, data, time_stamp, message.published, file.count & 0xFFFFFFFF)
        self._topics[topic_name].message_count += 1
        file.start = min(file.start, time_stamp) if file.count else time_stamp
        file.end = max(file.end, time_stamp)
        file.count += 1

    def split_bagfile(self) -> None:
        """Complete the file and begin the next one."""
        self._close_file(self._open())
        self._file = self._open_file()

    def take_snapshot(self) -> bool:
        """Write what snapshot mode keeps in memory; returns False without that mode."""
        if self._last is None:
            return False
        for message in self._last.take():
            self._write(message)
        self.flush()
        return True

    def flush(self) -> None:
        """Put what was written so far on the disk: a crash takes only what comes after."""
        self._open().writer.flush(sync=True)

    def close(self) -> None:
        """Complete the file and write `metadata.yaml`; a second call does nothing, also if the first failed.

        Raises:
            OSError: the disk is full; messages that were flushed can be read all the same.
        """
        if self._file is None or self._options is None or self._process != os.getpid():
            return  # a forked child leaves the bag to its parent
        file, self._file = self._file, None
        _OPEN.discard(self)
        self._close_file(file)
        target = Path(self._options.uri) / FILE_NAME
        part = target.with_suffix(".yaml.part")
        part.write_text(to_yaml(self._metadata()), encoding="utf-8")
        part.replace(target)

    def __del__(self) -> None:
        """Close the bag: programs delete a writer to do so."""
        if getattr(self, "_file", None) is not None:
            self.close()

    def __enter__(self) -> SequentialWriter:
        """Return the writer."""
        return self

    def __exit__(self, *error: object) -> None:
        """Close the bag."""
        self.close()

    def _open(self) -> _File:
        if self._file is None:
            raise RuntimeError("the bag is not open; call open() first")
        return self._file

    def _open_file(self) -> _File:
        assert self._options is not None  # open() sets it
        folder = Path(self._options.uri)
        name = f"{folder.resolve().name}_{len(self._files)}"
        if self._options.storage_id == SQLITE:
            path = folder / f"{name}{SQLITE_SUFFIX}"
            return _File(path, SqliteWriter(path))
        path = folder / f"{name}.mcap"
        library = f"ros2-embedded {importlib.metadata.version('ros2-embedded')}"
        level = PRESETS[self._options.storage_preset_profile]
        return _File(path, McapWriter(path, profile="ros2", library=library, zstd_level=level))

    def _is_full(self, file: _File, now: int) -> bool:
        assert self._options is not None  # open() sets it
        size, seconds = self._options.max_bagfile_size, self._options.max_bagfile_duration
        if not file.count:
            return False
        return bool((size and file.writer.size >= size) or (seconds and now - file.start >= seconds * 10**9))

    def _add_channel(self, file: _File, topic: TopicMetadata) -> None:
        if topic.type not in file.schemas:
            given = self._definitions.get(topic.type)
            if given is None:
                given = MessageDefinition(topic.type, "ros2msg", full_text(topic.type))
            encoding = "" if given.encoding == "unknown" else given.encoding
            file.schemas[topic.type] = file.writer.add_schema(
                topic.type, encoding, given.encoded_message_definition
            )
        metadata = {
            "offered_qos_profiles": yaml.safe_dump(topic.offered_qos_profiles, sort_keys=False).strip(),
            "topic_type_hash": topic.type_description_hash,
        }
        file.channels[topic.name] = file.writer.add_channel(
            topic.name, file.schemas[topic.type], topic.serialization_format, metadata
        )

    def _close_file(self, file: _File) -> None:
        information = FileInformation(file.path.name, file.start, file.end - file.start, file.count)
        self._files.append(information)
        try:
            file.writer.add_metadata("rosbag2", {"serialized_metadata": inner_yaml(self._metadata())})
            file.writer.close()
        except OSError:
            file.writer.release()
            raise
        if self._compression.compression_mode == CompressionMode.FILE:
            information.path = compress_file(file.path).name

    def _metadata(self) -> BagMetadata:
        filled = [file for file in self._files if file.message_count]
        start = min((file.starting_time_ns for file in filled), default=0)
        end = max((file.starting_time_ns + file.duration_ns for file in filled), default=0)
        compression_format, compression_mode = self._compression.said()
        is_sqlite = self._options is not None and self._options.storage_id == SQLITE
        return BagMetadata(
            storage_identifier=SQLITE if is_sqlite else "mcap",
            relative_file_paths=[file.path for file in self._files],
            files=self._files,
            starting_time=start,
            duration=end - start,
            message_count=sum(file.message_count for file in self._files),
            topics_with_message_count=list(self._topics.values()),
            compression_format=compression_format,
            compression_mode=compression_mode,
            custom_data=self._options.custom_data if self._options is not None else {},
            ros_distro=distribution(),
        )


def _time(stamp: int) -> int:
    number = operator.index(stamp)
    if not 0 <= number < _END_OF_TIME:
        raise BagError(
            f"{number} is no time of a bag: nanoseconds since the epoch, from 0 to {_END_OF_TIME - 1}"
        )
    return number


class SequentialCompressionWriter(SequentialWriter):
    """A bag whose files or messages are compressed."""

    def __init__(self, compression_options: CompressionOptions | None = None) -> None:
        """Make a writer.

        Raises:
            ValueError: another compression than zstd.
        """
        super().__init__()
        self._compression = compression_options or CompressionOptions()
        self._compression.check()


_OPEN: weakref.WeakSet[SequentialWriter] = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    """Complete the bags that a program left open when it ends, also where one of them cannot be."""
    for writer in list(_OPEN):
        folder = Path(writer._options.uri) if writer._options is not None else Path()
        try:
            writer.close()
        except OSError as error:
            if folder.is_dir():  # else the program removed it, or moved it away
                sys.stderr.write(f"the bag {folder} could not be completed: {error.strerror or error}\n")
