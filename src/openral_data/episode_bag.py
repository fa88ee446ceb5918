"""Bags of recorded episodes: rosbag2 folders with MCAP files, written while the graph runs."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from openral_core.errors import DatasetError, InstallationError

MCAP_MAGIC = b"\x89MCAP0\r\n"
RECORD_HEAD = 9
"""Bytes before the content of a record: what it is, and its length, little endian."""


def _rosbag2() -> Any:
    """Return the module; the embedded ROS 2 has it, and so has an installed one."""
    try:
        import rosbag2_py
    except ModuleNotFoundError as error:
        raise InstallationError(
            "rosbag2_py is not installed: pip install ros2-embedded, or source your ROS 2 setup file"
        ) from error
    return rosbag2_py


class EpisodeBag:
    """A bag that is being written. Used from one thread."""

    def __init__(self, folder: Path, profiles: dict[str, list[Any]] | None = None) -> None:
        """Begin it in a folder that is not there yet.

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
        """Put what was written on the disk, where the writer can; it writes by itself else. Raises OSError."""
        if hasattr(self._writer, "flush"):
            self._writer.flush()

    def close(self) -> None:
        """Complete the bag. Raises OSError."""
        self._writer.close()


@dataclass(frozen=True)
class UnreadablePart:
    """An MCAP file that can be read in part."""

    path: Path
    begins: int
    """Byte from which on it cannot be read."""
    cut_off: bool
    """It ends in the middle; else bytes are damaged."""

    def __str__(self) -> str:
        size = self.path.stat().st_size
        if self.cut_off:
            why = "as a file does that was copied in part or whose recorder was killed"
            return f"{self.path}: ends in the middle, at byte {self.begins} of {size}, {why}"
        return f"{self.path}: is damaged from byte {self.begins} of {size} on, and so is its summary"


def unreadable_parts(bag: Path, reader: Any) -> list[UnreadablePart]:
    """Return the files of a bag that end in the middle or are damaged there, by their number; no reading says so.

    A file whose summary can be read is none of them: where it is damaged, reading raises. ROS 2's own reader knows no
    more than whether a file has its end: a complete one ends in the magic bytes that it begins with (mcap.dev/spec).

    Args:
        bag: a folder or one file.
        reader: that opened it.
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
    """Return the MCAP files of a bag by their number: `_10` comes after `_9`."""
    if bag.is_file():
        return [bag]
    return sorted(bag.glob("*.mcap"), key=lambda path: (len(path.name), path.name))


def _ends_within_record(path: Path, begins: int) -> bool:
    """Tell whether a file ends before the record that begins at a byte does."""
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
    """Give a bag that was cut off its index and `metadata.yaml`; return its messages, 0 where it had none at all."""
    module = _rosbag2()
    if (folder / "metadata.yaml").is_file() or not any(folder.glob("*.mcap")):
        return 0
    return int(module.Reindexer().reindex(module.StorageOptions(uri=str(folder), storage_id="mcap")) or 0)


def join_bags(parts: Sequence[Path], target: Path) -> None:
    """Make one bag of several that follow each other; the parts stay. Raises DatasetError: one cannot be read."""
    target.parent.mkdir(parents=True, exist_ok=True)
    module = _rosbag2()
    partial = target.with_name(f".{target.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    writer = EpisodeBag(partial / target.name)
    try:
        for part in parts:
            reader = module.SequentialReader()
            reader.open(
                module.StorageOptions(uri=str(part), storage_id="mcap"), module.ConverterOptions("", "")
            )
            kinds = {topic.name: topic.type for topic in reader.get_all_topics_and_types()}
            while reader.has_next():
                topic, data, received_ns = reader.read_next()
                writer.write(topic, kinds[topic], data, received_ns)
    except (OSError, ValueError) as error:
        raise DatasetError(f"{parts[0].parent}: its bags cannot be joined ({error})") from error
    finally:
        writer.close()
    (partial / target.name).replace(target)
    partial.rmdir()
