"""Reading of bags."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from .definitions import MessageDefinition, message_definition
from .errors import BagError, EndOfBagError
from .mcap_reader import McapMessage, McapReader
from .metadata import BagMetadata, TopicInformation, TopicMetadata, read_metadata, read_profiles
from .options import ConverterOptions, ReadOrder, ReadOrderSortBy, StorageFilter, StorageOptions
from .sqlite_storage import SUFFIX, SqliteReader

Entry = tuple[str, bytes, int]
"""Topic, bytes in CDR, and when the message was received [ns since the epoch]."""


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
        self._source: Callable[[list[str], int], Iterator[McapMessage]] | None = None
        self._filter = StorageFilter()
        self._range: tuple[int, int | None] = (0, None)  # of times to read [ns]
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
        try:
            said = read_metadata(path) if path.is_dir() else None
            if said is not None and said.compression_mode.lower() not in ("", "none"):
                # Files elsewhere are none of the bag's.
                names = [Path(name).name for name in said.relative_file_paths]
                self._metadata = replace(said, relative_file_paths=names)
                self._source = _compressed_source(path)
            else:
                readers = [_reader(file) for file in _files(path, said)]
                self._metadata, self._source = _survey(readers, said), _source(readers)
                self._definitions = {
                    topic.type_name: topic.definition
                    for reader in readers
                    for topic in reader.topics.values()
                    if topic.definition[1]
                }
                ends = {reader.path: reader.unreadable_from for reader in readers}
                self.unreadable = {path: end for path, end in ends.items() if end is not None}
                self.damaged = [reader.path for reader in readers if reader.is_damaged]
        except (OSError, ValueError) as error:
            raise BagError(str(error)) from error
        start, end = storage_options.start_time_ns, storage_options.end_time_ns
        self._range = max(start, 0), (end if end >= 0 else None)
        self._filter = StorageFilter()
        self.seek(0)

    def open_uri(self, uri: str) -> None:
        """Open a bag by its directory; see `open`."""
        self.open(StorageOptions(uri=uri))

    def close(self) -> None:
        """Forget the bag."""
        self._source, self._entries, self._next = None, iter(()), None

    def get_metadata(self) -> BagMetadata:
        """Return what the bag holds, as found in its files."""
        return self._metadata

    def get_all_topics_and_types(self) -> list[TopicMetadata]:
        """Return the topics."""
        return [topic.topic_metadata for topic in self._metadata.topics_with_message_count]

    def get_all_message_definitions(self) -> list[MessageDefinition]:
        """Return the definitions of the types of the topics: those in the bag, else those of this machine."""
        types = {topic.type: topic.type_description_hash for topic in self.get_all_topics_and_types()}
        return [
            MessageDefinition(name, *self._definitions[name], type_hash)
            if name in self._definitions
            else message_definition(name, type_hash)
            for name, type_hash in types.items()
        ]

    def set_read_order(self, read_order: ReadOrder) -> bool:
        """Return whether messages come in this order: by the time they were received, the first one first."""
        return not read_order.reverse and read_order.sort_by == ReadOrderSortBy.ReceivedTimestamp

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
        """Go to the first message received at this time or later [ns since the epoch]."""
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

    def _all(self, storage_filter: StorageFilter, start: int) -> Iterator[McapMessage]:
        """The messages from a time [ns] on, within the range that the bag was opened with."""
        if self._source is None:
            raise RuntimeError("the bag is not open; call open() first")
        names = [topic.name for topic in self.get_all_topics_and_types()]
        topics = [name for name in names if storage_filter.wants(name)]
        first, last = self._range
        entries = self._source(topics, max(start, first)) if topics else iter(())
        return entries if last is None else (entry for entry in entries if entry.log_time <= last)


class SequentialCompressionReader(SequentialReader):
    """A reader of bags that are compressed, which every reader here reads."""


FileReader = McapReader | SqliteReader


def _reader(path: Path) -> FileReader:
    return SqliteReader(path) if path.suffix == SUFFIX else McapReader(path)


def _files(path: Path, said: BagMetadata | None) -> list[Path]:
    if path.is_file():
        return [path]
    if not path.is_dir():
        raise BagError(f"no bag at '{path}'")
    if said is not None and said.relative_file_paths:
        # Before version 4 the folder stood before the name; files elsewhere are none of the bag's.
        return [path / Path(name).name for name in said.relative_file_paths]
    found = [*path.glob("*.mcap")] or [*path.glob(f"*{SUFFIX}")]
    if not found:
        raise BagError(f"'{path}' holds no MCAP or SQLite file")
    # By number: `_10` comes after `_9`.
    return sorted(found, key=lambda file: (len(file.name), file.name))


def _source(readers: list[FileReader]) -> Callable[[list[str], int], Iterator[McapMessage]]:
    def entries(topics: list[str], start: int) -> Iterator[McapMessage]:
        for reader in readers:
            yield from reader.messages(topics or None, start)

    return entries


def _compressed_source(path: Path) -> Callable[[list[str], int], Iterator[McapMessage]]:
    """The messages of a bag whose files or messages are compressed, as rosbag2 does it."""
    from rosbags.rosbag2 import Reader

    def entries(topics: list[str], start: int) -> Iterator[McapMessage]:
        try:
            with Reader(path) as reader:
                wanted = [one for one in reader.connections if not topics or one.topic in topics]
                for connection, time, data in reader.messages(wanted, start=start or None) if wanted else ():
                    yield McapMessage(connection.topic, bytes(data), time, time)
        except Exception as error:  # whatever the library says of damaged files
            raise BagError(f"'{path}' is damaged: {error!r}") from error

    return entries


def _survey(readers: list[FileReader], said: BagMetadata | None) -> BagMetadata:
    """Return metadata made from the files themselves, which also exist after a crash."""
    topics: dict[str, TopicInformation] = {}
    for reader in readers:
        for topic in reader.topics.values():
            try:
                profiles = read_profiles(topic.metadata.get("offered_qos_profiles", ""))
            except ValueError as error:
                raise BagError(f"'{reader.path}': topic '{topic.name}': {error}") from error
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
        bag_size=sum(reader.path.stat().st_size for reader in readers),
        relative_file_paths=[reader.path.name for reader in readers],
        starting_time_ns=start,
        duration_ns=end - start,
        message_count=sum(topic.message_count for topic in topics.values()),
        topics_with_message_count=sorted(topics.values(), key=lambda topic: topic.topic_metadata.name),
        custom_data=said.custom_data if said is not None else {},
        ros_distro=said.ros_distro if said is not None else "",
    )
