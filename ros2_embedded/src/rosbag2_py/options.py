"""How bags are opened."""

from __future__ import annotations

from dataclasses import dataclass, field

PRESETS = {"": None, "none": None, "zstd_fast": 1, "zstd_small": 19}
"""zstd level of each storage preset profile, None for no compression."""


@dataclass
class StorageOptions:
    """Where a bag lies and how it is stored.

    Attributes:
        uri: the bag's directory; for reading also a single file.
        storage_id: `mcap`; for reading also `sqlite3` or '' to find out.
        max_bagfile_size: size of a file at which the next one begins [bytes], 0 for never.
        max_bagfile_duration: length of a file at which the next one begins [s], 0 for never.
        storage_preset_profile: a name from `PRESETS`.
        custom_data: texts to keep in the metadata.
    """

    uri: str
    storage_id: str = "mcap"
    max_bagfile_size: int = 0
    max_bagfile_duration: int = 0
    storage_preset_profile: str = ""
    custom_data: dict[str, str] = field(default_factory=dict)


@dataclass
class ConverterOptions:
    """The serialisation of messages; only `cdr` is there, so that nothing is ever converted."""

    input_serialization_format: str = "cdr"
    output_serialization_format: str = "cdr"


@dataclass
class StorageFilter:
    """Which messages a reader returns.

    Attributes:
        topics: names of topics, all when empty.
    """

    topics: list[str] = field(default_factory=list)
