"""Reading of MCAP files, complete or cut off in the middle."""

from __future__ import annotations

import struct
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import zstandard
from mcap.exceptions import McapError
from mcap.reader import SeekingReader
from mcap.records import Channel, Chunk, DataEnd, Message, Schema
from mcap.stream_reader import StreamReader, breakup_chunk
from mcap.summary import Summary

from .errors import BagError

_MAGIC = b"\x89MCAP0\r\n"
_HEAD = struct.Struct("<BQ")  # of a record: its kind and its length
_BROKEN = (
    McapError,
    struct.error,
    EOFError,
    LookupError,
    MemoryError,
    OverflowError,
    RuntimeError,  # of lz4
    ValueError,
    zstandard.ZstdError,
)
"""What reading a file raises where it ends early or holds nonsense."""


@dataclass
class McapTopic:
    """A topic in a file, with its type, encoding, metadata and number of messages.

    The definition of its type is in the file as well: how that is written, and its text.
    """

    name: str
    type_name: str
    encoding: str
    metadata: dict[str, str]
    count: int = 0
    definition: tuple[str, str] = ("", "")


@dataclass
class McapMessage:
    """A message: its topic, bytes, and times [ns since the epoch]."""

    topic: str
    data: bytes
    log_time: int
    publish_time: int


class McapReader:
    """One MCAP file. Times are in nanoseconds since the epoch, 0 for a file without messages.

    Args:
        path: the file.

    Raises:
        BagError: the file is no MCAP file.
        OSError: it cannot be read.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._size = path.stat().st_size  # no record can be longer, whatever damaged bytes say
        self.topics: dict[str, McapTopic] = {}
        self.start_time = self.end_time = 0
        with path.open("rb") as file:
            if file.read(len(_MAGIC)) != _MAGIC:
                raise BagError(f"'{path}' is no MCAP file")
        summary = self._read_summary()
        self.complete = summary is not None
        self.has_index = False
        """Whether messages can be read backwards."""
        self.unreadable_from: int | None = None
        """Byte from which on no message could be read, in a file without a summary; None: all were read.

        What follows damage is not read: messages with a gap between them are not what happened."""
        self.is_damaged = False
        """Whether the file goes on behind the record at that byte, as none does whose writer was killed."""
        if summary is not None:
            self._take_summary(summary)
        else:
            self._scan()

    def _read_summary(self) -> Summary | None:
        """Return the summary at the end of the file, None where there is none that says all."""
        with self.path.open("rb") as file:
            try:
                summary = SeekingReader(file, record_size_limit=self._size).get_summary()
            except _BROKEN:
                return None
            except OSError:  # the file is shorter than the end of a complete one: nowhere to seek to
                return None
        return summary if summary is not None and _says_all(summary) else None

    def _take_summary(self, summary: Summary) -> None:
        assert summary.statistics is not None  # _read_summary looked
        self.has_index = bool(summary.chunk_indexes) or not summary.statistics.message_count
        self.start_time = summary.statistics.message_start_time
        self.end_time = summary.statistics.message_end_time
        for number, channel in summary.channels.items():
            count = summary.statistics.channel_message_counts.get(number, 0)
            self._take_channel(channel, summary.schemas.get(channel.schema_id)).count += count

    def _scan(self) -> None:
        for index, message in enumerate(self._linear(None)):
            self.topics[message.topic].count += 1
            self.start_time = min(self.start_time, message.log_time) if index else message.log_time
            self.end_time = max(self.end_time, message.log_time)

    def _take_channel(self, channel: Channel, schema: Schema | None) -> McapTopic:
        topic = McapTopic(
            channel.topic,
            "" if schema is None else schema.name,
            channel.message_encoding,
            dict(channel.metadata),
            definition=("", "")
            if schema is None
            else (schema.encoding, schema.data.decode(errors="replace")),
        )
        return self.topics.setdefault(channel.topic, topic)

    def messages(
        self, topics: Collection[str], start: int, end: int, *, reverse: bool
    ) -> Iterator[McapMessage]:
        """Yield messages of some topics by time, from `start` to `end`, or from `end` back to `start`.

        In a file without its end the order is that of the file, sorted within each chunk, and never reversed.

        Raises:
            BagError: the file is damaged.
        """
        if not self.complete:
            yield from (message for message in self._linear(topics) if start <= message.log_time <= end)
            return
        with self.path.open("rb") as file:
            found = SeekingReader(file, validate_crcs=True, record_size_limit=self._size).iter_messages(
                topics=topics, starting_at=start, ending_at=end, reverse=reverse
            )
            try:
                for _, channel, message in found:
                    yield McapMessage(channel.topic, message.data, message.log_time, message.publish_time)
            except _BROKEN as error:
                raise BagError(f"'{self.path}' is damaged: {error!r}") from error

    def _linear(self, topics: Collection[str] | None) -> Iterator[McapMessage]:
        schemas: dict[int, Schema] = {}
        channels: dict[int, Channel] = {}
        for records in self._groups():
            messages = []
            for record in records:
                if isinstance(record, Schema):
                    schemas[record.id] = record
                elif isinstance(record, Channel):
                    channels[record.id] = record
                    self._take_channel(record, schemas.get(record.schema_id))
                elif isinstance(record, Message) and record.channel_id in channels:
                    messages.append(record)
            for message in sorted(messages, key=lambda message: message.log_time):
                topic = channels[message.channel_id].topic
                if topics is None or topic in topics:
                    yield McapMessage(topic, message.data, message.log_time, message.publish_time)

    def _groups(self) -> Iterator[list[object]]:
        """Yield the records of each chunk, and each record outside of chunks, as far as the file goes."""
        with self.path.open("rb") as file:
            read_to = len(_MAGIC)
            try:
                for record in StreamReader(file, emit_chunks=True, record_size_limit=self._size).records:
                    if isinstance(record, DataEnd):  # what follows repeats what was read
                        return
                    if isinstance(record, Chunk):
                        yield list(breakup_chunk(record, validate_crc=True))
                    else:
                        yield [record]
                    read_to = file.tell()
            except _BROKEN:  # the process that wrote it was killed here, or bytes are damaged
                self.unreadable_from = read_to
                self.is_damaged = not self._ends_within(file, read_to)

    def _ends_within(self, file: BinaryIO, place: int) -> bool:
        """Whether the file ends within the record at a place, so that nothing follows that."""
        file.seek(place)
        head = file.read(_HEAD.size)
        return len(head) < _HEAD.size or place + _HEAD.size + _HEAD.unpack(head)[1] > self._size


def _says_all(summary: Summary) -> bool:
    """Whether a summary has what reading by it needs; a writer may leave any part of it out.

    Those are the indexes of all chunks, the topics and their types, and how many messages each topic has.
    """
    statistics, channels = summary.statistics, summary.channels
    if statistics is None or statistics.chunk_count != len(summary.chunk_indexes):
        return False
    if statistics.channel_count != len(channels):
        return False
    if sum(statistics.channel_message_counts.values()) != statistics.message_count:
        return False
    return all(not one.schema_id or one.schema_id in summary.schemas for one in channels.values())
