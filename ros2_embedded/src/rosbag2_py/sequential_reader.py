"""Reading of bags."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from .bag_files import BagFile, FileReader, bag_files
from .compression import unpack_message
from .definitions import MessageDefinition, message_definition
from .errors import BagError, EndOfBagError
from .mcap_reader import McapMessage
from .metadata import (
    FILE_NAME,
    BagMetadata,
    FileInformation,
    TopicInformation,
    TopicMetadata,
    read_metadata,
    read_profiles,
)
from .options import (
    CompressionMode,
    ConverterOptions,
    ReadOrder,
    ReadOrderSortBy,
    StorageFilter,
    StorageOptions,
    compression_mode_from_string,
    get_registered_compressors,
)
from .sqlite_storage import SqliteReader

Entry = tuple[str, bytes, int]
"""Topic, bytes in CDR, and when the message was received [ns since the epoch]."""
_LAST = 2**64 - 1  # no message is later [ns]


class SequentialReader:
    """The messages of a bag, by time."""

    def __init__(self) -> None:
        self.unreadable: dict[Path, int] = {}
        """By file without a readable summary: the byte from which on no message could be read. ROS 2 has
        no such thing: it refuses damaged files."""
        self.damaged: list[Path] = []
        """Those of them that are damaged within, and not only cut off at their end."""
        self._metadata = BagMetadata()
        self._definitions: dict[str, tuple[str, str]] = {}  # in the bag, by type
        self._files: list[BagFile] | None = None
        self._is_reversed = False
        self._filter = StorageFilter()
        self._range = (0, _LAST)  # of times to read [ns]
        self._entries: Iterator[McapMessage] = iter(())
        self._next: McapMessage | None = None
        self._last: McapMessage | None = None  # what read_next returned since the last seek
        self._from = 0  # where the last seek went to [ns]

    def open(
        self, storage_options: StorageOptions, converter_options: ConverterOptions | None = None
    ) -> None:
        """Open a bag: its directory, with or without `metadata.yaml`, or a single MCAP or SQLite file.

        Raises:
            BagError: nothing readable is there.
        """
        path = Path(storage_options.uri)
        self.unreadable, self.damaged, self._definitions = {}, [], {}
        self._is_reversed = False
        try:
            said = read_metadata(path) if path.is_dir() else None
            if said is not None:
                _check_compression(said)
            self._files = bag_files(path, said)
            if said is not None and any(file.is_packed for file in self._files):
                said.relative_file_paths = [file.path.name for file in self._files]
                self._metadata = said
            else:
                self._survey(said)
        except (OSError, ValueError) as error:
            raise BagError(str(error)) from error
        start, end = storage_options.start_time_ns, storage_options.end_time_ns
        self._range = max(start, 0), (end if end >= 0 else _LAST)
        self._filter = StorageFilter()
        self.seek(0)

    def open_uri(self, uri: str) -> None:
        """Open a bag by its directory; see `open`."""
        self.open(StorageOptions(uri=uri))

    def close(self) -> None:
        """Forget the bag."""
        self._files, self._entries, self._next = None, iter(()), None

    def get_metadata(self) -> BagMetadata:
        """Return what the bag holds, as found in its files."""
        return self._metadata

    def get_all_topics_and_types(self) -> list[TopicMetadata]:
        """Return the topics."""
        return [topic.topic_metadata for topic in self._metadata.topics_with_message_count]

    def get_all_message_definitions(self) -> list[MessageDefinition]:
        """Return the definitions of the types of the topics: those in the bag, else those of this machine."""
        types = {topic.type: topic.type_description_hash for topic in self.get_all_topics_and_types()}
        for file in self._opened():
            if file.is_packed and not types.keys() <= self._definitions.keys():
                self._take_definitions(file.survey())
        return [
            MessageDefinition(name, *self._definitions[name], type_hash)
            if name in self._definitions
            else message_definition(name, type_hash)
            for name, type_hash in types.items()
        ]

    def set_read_order(self, read_order: ReadOrder) -> bool:
        """Begin anew, by the time at which messages were received: with the first one, or with the last.

        Returns:
            Whether it can be done: messages are not sorted by anything else, and files without an index, such
                as those of a recording that was killed, are only read forwards.
        """
        if read_order.sort_by != ReadOrderSortBy.ReceivedTimestamp:
            return False
        if read_order.reverse and not all(file.survey().has_index for file in self._opened()):
            return False
        self._is_reversed = read_order.reverse
        self.seek(_LAST if read_order.reverse else 0)
        return True

    def set_filter(self, storage_filter: StorageFilter) -> None:
        """Return only some messages from here on."""
        self._filter = storage_filter
        if self._last is None:
            self.seek(self._from)
            return
        # Behind what was read last, which the new filter may leave out itself.
        entries = self._all(StorageFilter(), self._last.log_time)
        for entry in entries:
            if entry == self._last:
                break
        self._go_on(entry for entry in entries if storage_filter.wants(entry.topic))

    def reset_filter(self) -> None:
        """Return all messages from here on."""
        self.set_filter(StorageFilter())

    def seek(self, timestamp: int) -> None:
        """Go to the first message received at a time [ns since the epoch] or later; backwards: or earlier."""
        self._from, self._last = timestamp, None
        self._go_on(self._all(self._filter, timestamp))

    def has_next(self) -> bool:
        """Return whether there is another message."""
        return self._next is not None

    def read_next(self) -> Entry:
        """Return topic, bytes and time of the next message.

        Raises:
            EndOfBagError: there is none, a RuntimeError as in ROS 2.
        """
        message = self.read_message()
        return message.topic, message.data, message.log_time

    def read_message(self) -> McapMessage:
        """Return the next message as `read_next`, and when it was published; ROS 2 has no such thing.

        Raises:
            EndOfBagError: there is none.
        """
        if self._next is None:
            raise EndOfBagError("the bag has no more messages")
        self._last, self._next = self._next, next(self._entries, None)
        return self._last

    def _go_on(self, entries: Iterator[McapMessage]) -> None:
        self._entries = entries
        self._next = next(entries, None)

    def _opened(self) -> list[BagFile]:
        if self._files is None:
            raise RuntimeError("the bag is not open; call open() first")
        return self._files

    def _all(self, storage_filter: StorageFilter, place: int) -> Iterator[McapMessage]:
        """The messages from a time [ns] on, within the range that the bag was opened with."""
        files = self._opened()
        names = [topic.name for topic in self.get_all_topics_and_types()]
        topics = [name for name in names if storage_filter.wants(name)]
        first, last = self._range
        if self._is_reversed:
            files, last = files[::-1], min(place, last)
        else:
            first = max(place, first)
        if not topics or first > last:
            return iter(())
        return _messages(files, topics, first, last, reverse=self._is_reversed)

    def _survey(self, said: BagMetadata | None) -> None:
        """Look what the files hold."""
        files = self._opened()
        readers = [file.survey() for file in files]
        self._metadata = _metadata(files, readers, said)
        for file, reader in zip(files, readers, strict=True):
            self._take_definitions(reader)
            if reader.unreadable_from is not None:
                self.unreadable[file.path] = reader.unreadable_from
            if reader.is_damaged:
                self.damaged.append(file.path)

    def _take_definitions(self, reader: FileReader) -> None:
        for topic in reader.topics.values():
            if topic.definition[1]:
                self._definitions[topic.type_name] = topic.definition


class SequentialCompressionReader(SequentialReader):
    """A reader of bags that are compressed, which every reader here reads."""


def _check_compression(said: BagMetadata) -> None:
    """Look whether the compression of a bag is one that is read.

    Raises:
        ValueError: it is not.
    """
    mode, by = said.compression_mode, said.compression_format
    if mode and mode.upper() not in CompressionMode.__members__:
        known = ", ".join(CompressionMode.__members__)
        raise ValueError(f"unknown compression_mode '{mode}' in {FILE_NAME}; known: {known}")
    if compression_mode_from_string(mode) != CompressionMode.NONE and by not in get_registered_compressors():
        raise ValueError(f"compression_format '{by}' in {FILE_NAME} is not read; only zstd is")


def _messages(
    files: Sequence[BagFile], topics: list[str], start: int, end: int, *, reverse: bool
) -> Iterator[McapMessage]:
    """Yield the messages of topics from one file after the other, received from `start` to `end` [ns]."""
    for file in files:
        with file.opened() as reader:
            for message in reader.messages(topics, start, end, reverse=reverse):
                try:
                    yield replace(message, data=unpack_message(message.data))
                except BagError as error:
                    raise BagError(f"'{file.path}': topic '{message.topic}': {error}") from error


def _metadata(files: list[BagFile], readers: list[FileReader], said: BagMetadata | None) -> BagMetadata:
    """Return metadata made from the files themselves, which also exist after a crash."""
    topics: dict[str, TopicInformation] = {}
    for file, reader in zip(files, readers, strict=True):
        for topic in reader.topics.values():
            try:
                profiles = read_profiles(topic.metadata.get("offered_qos_profiles", ""))
            except ValueError as error:
                raise BagError(f"'{file.path}': topic '{topic.name}': {error}") from error
            metadata = TopicMetadata(
                0,
                topic.name,
                topic.type_name,
                topic.encoding,
                profiles,
                topic.metadata.get("topic_type_hash", ""),
            )
            topics.setdefault(topic.name, TopicInformation(metadata, 0)).message_count += topic.count
    for entry in said.topics_with_message_count if said is not None else ():
        topics.setdefault(entry.topic_metadata.name, TopicInformation(entry.topic_metadata, 0))
    filled = [one for one in readers if one.end_time or any(topic.count for topic in one.topics.values())]
    start = min((reader.start_time for reader in filled), default=0)
    end = max((reader.end_time for reader in filled), default=0)
    return BagMetadata(
        storage_identifier="sqlite3" if isinstance(readers[0], SqliteReader) else "mcap",
        bag_size=sum(file.path.stat().st_size for file in files),
        relative_file_paths=[file.path.name for file in files],
        files=[
            FileInformation(
                path=file.path.name,
                starting_time=one.start_time,
                duration=one.end_time - one.start_time,
                message_count=sum(topic.count for topic in one.topics.values()),
            )
            for file, one in zip(files, readers, strict=True)
        ],
        starting_time=start,
        duration=end - start,
        message_count=sum(topic.message_count for topic in topics.values()),
        topics_with_message_count=sorted(topics.values(), key=lambda topic: topic.topic_metadata.name),
        compression_format=said.compression_format if said is not None else "",
        compression_mode=said.compression_mode if said is not None else "",
        custom_data=said.custom_data if said is not None else {},
        ros_distro=said.ros_distro if said is not None else "",
    )
