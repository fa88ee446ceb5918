"""Writing of MCAP files.

The format is specified at https://mcap.dev/spec. Messages are gathered in chunks, and `flush` ends a chunk
whenever it is called, so that what has been written survives the process.
"""

from __future__ import annotations

import contextlib
import os
import zlib
from collections import defaultdict
from pathlib import Path

import zstandard
from mcap.data_stream import RecordBuilder
from mcap.opcode import Opcode
from mcap.records import (
    Channel,
    Chunk,
    ChunkIndex,
    DataEnd,
    Footer,
    Header,
    McapRecord,
    Message,
    MessageIndex,
    Metadata,
    MetadataIndex,
    Schema,
    Statistics,
    SummaryOffset,
)

_MAGIC = b"\x89MCAP0\r\n"
_CHUNK_SIZE = 768 * 1024
_NO_TIME = 2**64 - 1


class McapWriter:
    """One MCAP file, indexed by chunk and message.

    Args:
        path: the file; it must not exist yet.
        profile: what the messages are, `ros2`.
        library: who writes.
        zstd_level: level of compression of the chunks, None for none.

    Raises:
        FileExistsError: the file exists.
        OSError: it cannot be written.
    """

    def __init__(self, path: Path, *, profile: str, library: str, zstd_level: int | None = None) -> None:
        self._file = path.open("xb")
        self._zstd = None if zstd_level is None else zstandard.ZstdCompressor(level=zstd_level)
        self._schemas: list[Schema] = []
        self._channels: list[Channel] = []
        self._chunk_indexes: list[ChunkIndex] = []
        self._metadata_indexes: list[MetadataIndex] = []
        self._counts: dict[int, int] = defaultdict(int)
        self._start, self._end = _NO_TIME, 0
        self._chunk_start, self._chunk_end = _NO_TIME, 0
        self._new_chunk()
        try:
            self._file.write(_MAGIC)
            self._write(Header(profile=profile, library=library))
            self._file.flush()
        except OSError:
            self.release()
            raise

    @property
    def size(self) -> int:
        """Bytes written so far, with those of the chunk at work."""
        return self._file.tell() + self._chunk.count

    def add_schema(self, name: str, encoding: str, text: str) -> int:
        """Add the definition of a message type and return its number."""
        schema = Schema(id=len(self._schemas) + 1, data=text.encode(), encoding=encoding, name=name)
        self._schemas.append(schema)
        schema.write(self._chunk)
        return schema.id

    def add_channel(self, topic: str, schema_id: int, message_encoding: str, metadata: dict[str, str]) -> int:
        """Add a topic and return its number."""
        channel = Channel(
            id=len(self._channels) + 1,
            topic=topic,
            message_encoding=message_encoding,
            metadata=metadata,
            schema_id=schema_id,
        )
        self._channels.append(channel)
        channel.write(self._chunk)
        return channel.id

    def add_message(
        self, channel_id: int, data: bytes, log_time: int, publish_time: int, sequence: int = 0
    ) -> None:
        """Add a message; times are in nanoseconds since the epoch."""
        self._chunk_messages[channel_id].append((log_time, self._chunk.count))
        message = Message(
            channel_id=channel_id, log_time=log_time, data=data, publish_time=publish_time, sequence=sequence
        )
        message.write(self._chunk)
        self._counts[channel_id] += 1
        self._chunk_start, self._chunk_end = min(self._chunk_start, log_time), max(self._chunk_end, log_time)
        self._start, self._end = min(self._start, log_time), max(self._end, log_time)
        if self._chunk.count >= _CHUNK_SIZE:
            self.flush()

    def flush(self, *, sync: bool = False) -> None:
        """End the chunk and hand it to the operating system; with `sync` wait until it is on the disk."""
        if self._chunk.count:
            self._end_chunk()
        self._file.flush()
        if sync:
            os.fsync(self._file.fileno())

    def add_metadata(self, name: str, values: dict[str, str]) -> None:
        """Add named texts."""
        self.flush()
        offset = self._file.tell()
        self._write(Metadata(name=name, metadata=values))
        self._metadata_indexes.append(
            MetadataIndex(offset=offset, length=self._file.tell() - offset, name=name)
        )

    def close(self) -> None:
        """Write what readers need to find things, and close the file."""
        self.flush()
        self._write(DataEnd(data_section_crc=0))
        summary_start = self._file.tell()
        offsets = RecordBuilder()
        for opcode, records in (
            (Opcode.SCHEMA, self._schemas),
            (Opcode.CHANNEL, self._channels),
            (Opcode.STATISTICS, [self._statistics()]),
            (Opcode.CHUNK_INDEX, self._chunk_indexes),
            (Opcode.METADATA_INDEX, self._metadata_indexes),
        ):
            start = self._file.tell()
            for record in records:
                self._write(record)
            if records:
                length = self._file.tell() - start
                SummaryOffset(group_opcode=opcode, group_start=start, group_length=length).write(offsets)
        offset_start = self._file.tell()
        self._file.write(offsets.end())
        self._write(Footer(summary_start=summary_start, summary_offset_start=offset_start, summary_crc=0))
        self._file.write(_MAGIC)
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()

    def release(self) -> None:
        """Close the file as it is, after it could not be written; what is left to be written is lost."""
        with contextlib.suppress(OSError):  # the same again
            self._file.close()

    def _write(self, record: McapRecord) -> None:
        builder = RecordBuilder()
        record.write(builder)
        self._file.write(builder.end())

    def _new_chunk(self) -> None:
        self._chunk = RecordBuilder()
        self._chunk_messages: dict[int, list[tuple[int, int]]] = defaultdict(list)
        self._chunk_start, self._chunk_end = _NO_TIME, 0

    def _end_chunk(self) -> None:
        content = self._chunk.end()
        data = content if self._zstd is None else self._zstd.compress(content)
        start = self._file.tell()
        times = {
            "message_start_time": self._chunk_start if self._chunk_messages else 0,
            "message_end_time": self._chunk_end,
        }
        compression = "" if self._zstd is None else "zstd"
        self._write(
            Chunk(
                compression=compression,
                data=data,
                uncompressed_crc=zlib.crc32(content),
                uncompressed_size=len(content),
                **times,
            )
        )
        length = self._file.tell() - start
        offsets = {}
        for channel_id, records in self._chunk_messages.items():
            offsets[channel_id] = self._file.tell()
            self._write(MessageIndex(channel_id=channel_id, records=records))
        self._chunk_indexes.append(
            ChunkIndex(
                chunk_length=length,
                chunk_start_offset=start,
                compression=compression,
                compressed_size=len(data),
                message_index_length=self._file.tell() - start - length,
                message_index_offsets=offsets,
                uncompressed_size=len(content),
                **times,
            )
        )
        self._new_chunk()

    def _statistics(self) -> Statistics:
        return Statistics(
            attachment_count=0,
            channel_count=len(self._channels),
            channel_message_counts=dict(self._counts),
            chunk_count=len(self._chunk_indexes),
            message_count=sum(self._counts.values()),
            metadata_count=len(self._metadata_indexes),
            message_start_time=self._start if self._counts else 0,
            message_end_time=self._end,
            schema_count=len(self._schemas),
        )
