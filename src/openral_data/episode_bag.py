"""Bags of recorded episodes, which are rosbag2 folders with MCAP files."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from openral_core.errors import DatasetError, InstallationError

MCAP_MAGIC = b"\x89MCAP0\r\n"
UNREADABLE = (OSError, ValueError, RuntimeError)
"""What the embedded `rosbag2_py` and that of ROS 2 raise for a damaged bag."""
RECORD_HEAD = 9
"""Number of bytes before the content of a record: its kind (1) and its length (8, little endian)."""


def _rosbag2() -> Any:
    """Return the module `rosbag2_py`, of the embedded or of an installed ROS 2."""
    try:
        import rosbag2_py
    except ModuleNotFoundError as error:
        raise InstallationError(
            "rosbag2_py is not installed: pip install ros2-embedded, or source your ROS 2 setup file"
        ) from error
    return rosbag2_py


class EpisodeBag:
    """A bag that is being written. Not thread-safe."""

    def __init__(self, folder: Path, profiles: dict[str, list[Any]] | None = None) -> None:
        """Create the bag in a folder that does not exist yet.

        Args:
            folder: of the bag.
            profiles: offered QoS profiles by topic, for `metadata.yaml`.
        """
        self._module = _rosbag2()
        self._profiles = profiles or {}
        self._writer = self._module.SequentialWriter()
        options = self._module.StorageOptions(uri=str(folder), storage_id="mcap")
        self._writer.open(options, self._module.ConverterOptions("cdr", "cdr"))
        self._topics: set[str] = set()

    def write(self, topic: str, type_name: str, data: bytes, received_ns: int) -> None:
        """Add a message in CDR. Raises OSError: the disk is full."""
        if topic not in self._topics:
            self._topics.add(topic)
            kinds = {"id": len(self._topics), "name": topic, "type": type_name, "serialization_format": "cdr"}
            offered = self._profiles.get(topic, [])
            self._writer.create_topic(self._module.TopicMetadata(**kinds, offered_qos_profiles=offered))
        self._writer.write(topic, data, received_ns)

    def flush(self) -> None:
        """Flush the messages to the disk if the writer supports it. Raises OSError."""
        if hasattr(self._writer, "flush"):
            self._writer.flush()

    def close(self) -> None:
        """Complete the bag. Raises OSError."""
        self._writer.close()


@dataclass(frozen=True)
class UnreadablePart:
    """The unreadable end of an MCAP file."""

    path: Path
    begins: int
    """Offset in bytes from which on the file cannot be read."""
    cut_off: bool
    """Whether the file ends within a record; else bytes are damaged."""

    def __str__(self) -> str:
        size = self.path.stat().st_size
        if self.cut_off:
            why = "as a file does that was copied in part or whose recorder was killed"
            return f"{self.path}: ends in the middle, at byte {self.begins} of {size}, {why}"
        return f"{self.path}: is damaged from byte {self.begins} of {size} on, and so is its summary"


def unreadable_parts(bag: Path, reader: Any) -> list[UnreadablePart]:
    """Return the files of a bag, in order, that are truncated or damaged and have no summary.

    Reading such a file just ends early, without an error; damage in a file with a summary raises one. With ROS 2's own
    reader only the end of a file is checked: a complete one ends in the magic bytes with which it begins
    (mcap.dev/spec).

    Args:
        bag: a folder or one file.
        reader: the reader that opened it.
    """
    begins: dict[Path, int] | None = getattr(reader, "unreadable", None)
    if begins is None:
        begins = {path: path.stat().st_size for path in mcap_files(bag) if not _has_end(path)}
    return [
        UnreadablePart(path, begins[path], _ends_within_record(path, begins[path]))
        for path in mcap_files(bag)
        if path in begins
    ]


def mcap_files(bag: Path) -> list[Path]:
    """Return the MCAP files of a bag in the order of their numbers, `_10` after `_9`."""
    if bag.is_file():
        return [bag]
    return sorted(bag.glob("*.mcap"), key=lambda path: (len(path.name), path.name))


def _ends_within_record(path: Path, begins: int) -> bool:
    """Return whether a file ends before the end of the record that begins at an offset in bytes."""
    with path.open("rb") as file:
        file.seek(begins)
        head = file.read(RECORD_HEAD)
    return not _has_end(path) and (
        len(head) < RECORD_HEAD
        or begins + RECORD_HEAD + int.from_bytes(head[1:], "little") > path.stat().st_size
    )


def _has_end(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(max(path.stat().st_size - len(MCAP_MAGIC), 0))
        return file.read() == MCAP_MAGIC


def complete_bag(folder: Path) -> int:
    """Create index and `metadata.yaml` of a truncated bag; return its number of messages, 0 if nothing was done."""
    module = _rosbag2()
    if (folder / "metadata.yaml").is_file() or not any(folder.glob("*.mcap")):
        return 0
    return int(module.Reindexer().reindex(module.StorageOptions(uri=str(folder), storage_id="mcap")) or 0)


def join_bags(parts: Sequence[Path], target: Path) -> None:
    """Join consecutive bags into one; the parts are kept. Raises DatasetError: one cannot be read."""
    target.parent.mkdir(parents=True, exist_ok=True)
    module = _rosbag2()
    partial = target.with_name(f".{target.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    try:
        writer = EpisodeBag(partial / target.name)
        with contextlib.closing(writer):
            for part in parts:
                reader = module.SequentialReader()
                reader.open(
                    module.StorageOptions(uri=str(part), storage_id="mcap"), module.ConverterOptions("", "")
                )
                kinds = {topic.name: topic.type for topic in reader.get_all_topics_and_types()}
                while reader.has_next():
                    topic, data, received_ns = reader.read_next()
                    writer.write(topic, kinds[topic], data, received_ns)
        (partial / target.name).replace(target)
    except UNREADABLE as error:
        raise DatasetError(f"{parts[0].parent}: its bags cannot be joined ({error})") from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)
