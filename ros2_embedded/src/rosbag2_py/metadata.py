"""What `metadata.yaml` says about a bag: version 9 of rosbag2's `BagMetadata`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from rclpy.duration import Duration
    from rclpy.time import Time

FILE_NAME = "metadata.yaml"
_ROOT = "rosbag2_bagfile_information"
_NO_TIME = 2**63 - 1  # what rosbag2 writes for a bag without messages


@dataclass
class TopicMetadata:
    """A topic of a bag.

    Attributes:
        id: a number, for the storage's own use.
        name: its name.
        type: such as `std_msgs/msg/String`.
        serialization_format: `cdr`.
        offered_qos_profiles: the profiles of its publishers, see `rosbag2_py.qos_profiles`.
        type_description_hash: `RIHS01_...`, filled in by the writer.
    """

    id: int
    name: str
    type: str
    serialization_format: str = "cdr"
    offered_qos_profiles: list[dict[str, Any]] = field(default_factory=list)
    type_description_hash: str = ""

    def equals(self, other: TopicMetadata) -> bool:
        """Whether name, type, serialisation and profiles are the same."""
        mine = (self.name, self.type, self.serialization_format, self.offered_qos_profiles)
        return mine == (other.name, other.type, other.serialization_format, other.offered_qos_profiles)


@dataclass
class TopicInformation:
    """A topic and how many messages it has."""

    topic_metadata: TopicMetadata
    message_count: int


class _Span:
    """A time and a length, kept in nanoseconds and told as rclpy has them."""

    starting_time_ns: int
    duration_ns: int

    @property
    def starting_time(self) -> Time:
        """When the first message was received."""
        from rclpy.time import Time

        return Time(nanoseconds=self.starting_time_ns)

    @starting_time.setter
    def starting_time(self, value: Time | int) -> None:
        self.starting_time_ns = _nanoseconds(value)

    @property
    def duration(self) -> Duration:
        """From the first message to the last."""
        from rclpy.duration import Duration

        return Duration(nanoseconds=self.duration_ns)

    @duration.setter
    def duration(self, value: Duration | int) -> None:
        self.duration_ns = _nanoseconds(value)


def _nanoseconds(value: Time | Duration | int) -> int:
    """Return the nanoseconds of a time, a duration, or of a number of them."""
    return value if isinstance(value, int) else value.nanoseconds


@dataclass(init=False)
class FileInformation(_Span):
    """A file of a bag; numbers in place of times are nanoseconds."""

    path: str
    starting_time_ns: int
    duration_ns: int
    message_count: int

    def __init__(
        self,
        path: str = "",
        starting_time: Time | int = 0,
        duration: Duration | int = 0,
        message_count: int = 0,
    ) -> None:
        """Keep what is said."""
        self.path = path
        self.starting_time_ns = _nanoseconds(starting_time)
        self.duration_ns = _nanoseconds(duration)
        self.message_count = message_count


@dataclass(init=False)
class BagMetadata(_Span):
    """A bag; numbers in place of times are nanoseconds, `bag_size` is in bytes."""

    version: int
    bag_size: int
    storage_identifier: str
    relative_file_paths: list[str]
    files: list[FileInformation]
    starting_time_ns: int
    duration_ns: int
    message_count: int
    topics_with_message_count: list[TopicInformation]
    compression_format: str
    compression_mode: str
    custom_data: dict[str, str]
    ros_distro: str

    def __init__(
        self,
        version: int = 9,
        bag_size: int = 0,
        storage_identifier: str = "mcap",
        relative_file_paths: Sequence[str] = (),
        files: Sequence[FileInformation] = (),
        duration: Duration | int = 0,
        starting_time: Time | int = 0,
        message_count: int = 0,
        topics_with_message_count: Sequence[TopicInformation] = (),
        compression_format: str = "",
        compression_mode: str = "",
        custom_data: Mapping[str, str] | None = None,
        ros_distro: str = "",
    ) -> None:
        """Keep what is said."""
        self.version = version
        self.bag_size = bag_size
        self.storage_identifier = storage_identifier
        self.relative_file_paths = list(relative_file_paths)
        self.files = list(files)
        self.duration_ns = _nanoseconds(duration)
        self.starting_time_ns = _nanoseconds(starting_time)
        self.message_count = message_count
        self.topics_with_message_count = list(topics_with_message_count)
        self.compression_format = compression_format
        self.compression_mode = compression_mode
        self.custom_data = dict(custom_data or {})
        self.ros_distro = ros_distro


def to_yaml(metadata: BagMetadata) -> str:
    """Return the text of `metadata.yaml`."""
    return yaml.safe_dump({_ROOT: _as_dict(metadata)}, sort_keys=False, default_flow_style=False)


def inner_yaml(metadata: BagMetadata) -> str:
    """Return the text that an MCAP file keeps of it."""
    return yaml.safe_dump(_as_dict(metadata), sort_keys=False, default_flow_style=False)


def _as_dict(metadata: BagMetadata) -> dict[str, Any]:
    start = metadata.starting_time_ns if metadata.message_count else _NO_TIME
    return {
        "version": metadata.version,
        "storage_identifier": metadata.storage_identifier,
        "duration": {"nanoseconds": metadata.duration_ns},
        "starting_time": {"nanoseconds_since_epoch": start},
        "message_count": metadata.message_count,
        "topics_with_message_count": [
            {"topic_metadata": _topic_dict(topic.topic_metadata), "message_count": topic.message_count}
            for topic in metadata.topics_with_message_count
        ],
        "compression_format": metadata.compression_format,
        "compression_mode": metadata.compression_mode,
        "relative_file_paths": list(metadata.relative_file_paths),
        "files": [
            {
                "path": file.path,
                "starting_time": {
                    "nanoseconds_since_epoch": file.starting_time_ns if file.message_count else _NO_TIME
                },
                "duration": {"nanoseconds": file.duration_ns},
                "message_count": file.message_count,
            }
            for file in metadata.files
        ],
        "custom_data": dict(metadata.custom_data) or None,
        "ros_distro": metadata.ros_distro,
    }


def _topic_dict(topic: TopicMetadata) -> dict[str, Any]:
    return {
        "name": topic.name,
        "type": topic.type,
        "serialization_format": topic.serialization_format,
        "offered_qos_profiles": topic.offered_qos_profiles,
        "type_description_hash": topic.type_description_hash,
    }


def read_metadata(folder: Path) -> BagMetadata | None:
    """Return what a bag's `metadata.yaml` says, None where there is none.

    Raises:
        ValueError: the file is no such metadata.
    """
    path = folder / FILE_NAME
    if not path.is_file():
        return None
    try:
        return from_yaml(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"'{path}' is no metadata of a bag: {error}") from error


def from_yaml(text: str) -> BagMetadata:
    """Return what the text of a `metadata.yaml` says.

    Raises:
        ValueError: the text is no such metadata.
    """
    try:
        values = yaml.safe_load(text)[_ROOT]
        return BagMetadata(
            version=values["version"],
            storage_identifier=values["storage_identifier"],
            relative_file_paths=[str(name) for name in values["relative_file_paths"]],
            files=[_file_from(entry) for entry in values.get("files") or ()],
            starting_time=int(values["starting_time"]["nanoseconds_since_epoch"]),
            duration=int(values["duration"]["nanoseconds"]),
            message_count=int(values["message_count"]),
            topics_with_message_count=[_topic_from(entry) for entry in values["topics_with_message_count"]],
            compression_format=str(values.get("compression_format") or ""),
            compression_mode=str(values.get("compression_mode") or ""),
            custom_data=dict(values.get("custom_data") or {}),
            ros_distro=str(values.get("ros_distro") or ""),
        )
    except (yaml.YAMLError, AttributeError, KeyError, OverflowError, RecursionError, TypeError) as error:
        raise ValueError(repr(error)) from error


def _file_from(entry: dict[str, Any]) -> FileInformation:
    return FileInformation(
        path=str(entry["path"]),
        starting_time=int(entry["starting_time"]["nanoseconds_since_epoch"]),
        duration=int(entry["duration"]["nanoseconds"]),
        message_count=int(entry["message_count"]),
    )


def _topic_from(entry: dict[str, Any]) -> TopicInformation:
    values = entry["topic_metadata"]
    topic = TopicMetadata(
        id=0,
        name=str(values["name"]),
        type=str(values["type"]),
        serialization_format=str(values["serialization_format"]),
        offered_qos_profiles=read_profiles(values.get("offered_qos_profiles")),
        type_description_hash=str(values.get("type_description_hash") or ""),
    )
    return TopicInformation(topic, int(entry["message_count"]))


def read_profiles(said: Any) -> list[dict[str, Any]]:
    """Return the offered QoS profiles of a topic, which before version 9 were text inside the text.

    Raises:
        ValueError: they are no list of mappings.
    """
    try:
        profiles = (yaml.safe_load(said) if isinstance(said, str) else said) or []
    except (yaml.YAMLError, RecursionError) as error:
        raise ValueError(f"offered_qos_profiles is no YAML: {' '.join(str(error).split())}") from error
    if not isinstance(profiles, list) or not all(isinstance(one, dict) for one in profiles):
        raise ValueError(f"offered_qos_profiles is no list of profiles: {said!r:.100}")
    return profiles
