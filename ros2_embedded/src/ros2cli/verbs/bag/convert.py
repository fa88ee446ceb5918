"""ros2 bag convert."""

from __future__ import annotations

import argparse
import heapq
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from ...bag.recorder import Selection
from ...errors import CliError, check_patterns
from ...node import full_name
from ...topics import write

if TYPE_CHECKING:
    from rosbag2_py import CompressionOptions, SequentialReader, SequentialWriter
    from rosbag2_py.mcap_reader import McapMessage

_LISTS = ("topics", "topic_types", "exclude_topics", "exclude_topic_types")
_TEXTS = ("regex", "exclude_regex", "exclude")  # the last is the older name of the one before
_OPTIONS = (
    "uri",
    "storage_id",
    "max_bagfile_size",
    "max_bagfile_duration",
    "storage_preset_profile",
    "custom_data",
)
_COMPRESSION = ("compression_mode", "compression_format")
_FLAGS = ("all", "all_topics", "include_hidden_topics")
KEYS = (*_OPTIONS, *_COMPRESSION, *_FLAGS, *_LISTS, *_TEXTS)
"""What may be said of an output bag."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument(
        "-i",
        "--input",
        nargs="+",
        action="append",
        required=True,
        metavar=("uri", "storage_id"),
        help="a bag, and its storage id if you like; give it again to merge bags by time",
    )
    parser.add_argument(
        "-o",
        "--output-options",
        required=True,
        metavar="FILE",
        help="YAML with a list `output_bags`; each has a `uri`, and what to write: "
        + ", ".join(key for key in KEYS if key != "uri"),
    )


def main(args: argparse.Namespace) -> int:
    """Write bags anew: merged, filtered, split or compressed."""
    from rosbag2_py import BagError, SequentialCompressionWriter, SequentialReader, StorageOptions
    from rosbag2_py.errors import writing

    outputs = _outputs(Path(args.output_options))
    readers: list[SequentialReader] = []
    for words in args.input:
        if len(words) > 2:
            raise CliError(
                f"--input {' '.join(words)}: write the uri of one bag, and its storage id if you like"
            )
        reader = SequentialReader()
        try:
            reader.open(StorageOptions(uri=words[0], storage_id=words[1] if len(words) > 1 else ""))
        except BagError as error:
            raise CliError(str(error)) from error
        readers.append(reader)
    for output in outputs:
        selection = _selection(output)
        compression = _compression(output)
        with writing(output["uri"]), SequentialCompressionWriter(compression) as writer:
            try:
                writer.open(StorageOptions(**{key: output[key] for key in _OPTIONS if key in output}))
            except BagError:
                raise
            except (OSError, ValueError) as error:
                raise CliError(f"cannot write a bag to '{output['uri']}': {error}") from error
            count = _copy(readers, writer, selection)
        write(f"Wrote {count} messages to '{output['uri']}'\n")
    return 0


def _outputs(path: Path) -> list[dict[str, Any]]:
    from rosbag2_py import get_registered_writers

    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, yaml.YAMLError) as error:
        raise CliError(f"cannot read output options from '{path}': {' '.join(str(error).split())}") from error
    outputs = content.get("output_bags") if isinstance(content, Mapping) else None
    if not isinstance(outputs, list) or not outputs or not all(isinstance(one, dict) for one in outputs):
        raise CliError(f"'{path}' needs a list `output_bags`, each with a `uri`")
    for output in outputs:
        unknown = sorted(set(output) - set(KEYS))
        if unknown:
            raise CliError(f"'{path}': unknown key '{unknown[0]}' of an output bag; use {', '.join(KEYS)}")
        if not output.get("uri"):
            raise CliError(f"'{path}': an output bag has no `uri`")
        output["storage_id"] = output.get("storage_id") or "mcap"
        if output["storage_id"] not in get_registered_writers():
            known = " or ".join(sorted(get_registered_writers()))
            raise CliError(f"'{path}': storage_id '{output['storage_id']}' is not written; use {known}")
        mode = output.get("compression_mode") or "none"
        if mode not in ("none", "file", "message"):
            raise CliError(f"'{path}': compression_mode '{mode}' is not written; use none, file or message")
        if mode != "none" and output.get("compression_format") != "zstd":
            raise CliError(f"'{path}': compression_mode '{mode}' needs compression_format: zstd")
        check_patterns(*(str(output.get(key) or "") for key in _TEXTS))
    return outputs


def _compression(output: Mapping[str, Any]) -> CompressionOptions:
    """Return how an output bag is compressed."""
    from rosbag2_py import CompressionOptions, compression_mode_from_string

    mode = compression_mode_from_string(output.get("compression_mode") or "none")
    return CompressionOptions(output.get("compression_format") or "", mode)


def _selection(output: Mapping[str, Any]) -> Selection:
    """Return which topics go into an output bag: all, if nothing says otherwise."""
    named = [full_name(topic) for topic in output.get("topics") or ()]
    types, regex = output.get("topic_types") or (), output.get("regex") or ""
    everything = bool(output.get("all_topics") or output.get("all")) or not (named or types or regex)
    return Selection(
        everything=everything,
        names=named,
        regex=regex,
        exclude_names=[full_name(topic) for topic in output.get("exclude_topics") or ()],
        exclude_regex=output.get("exclude_regex") or output.get("exclude") or "",
        types=types,
        exclude_types=output.get("exclude_topic_types") or (),
        hidden=bool(output.get("include_hidden_topics", True)),
    )


def _copy(readers: list[SequentialReader], writer: SequentialWriter, selection: Selection) -> int:
    """Write the selected messages of all bags by their time; return how many."""
    known: dict[str, str] = {}
    for reader in readers:
        reader.seek(0)
        definitions = {one.topic_type: one for one in reader.get_all_message_definitions()}
        for topic in reader.get_all_topics_and_types():
            if not selection.wants(topic.name, topic.type):
                continue
            if known.setdefault(topic.name, topic.type) != topic.type:
                raise CliError(
                    f"topic '{topic.name}' is {known[topic.name]} in one bag and {topic.type} in another; "
                    "leave it out with exclude_topics"
                )
            writer.create_topic(topic, definitions[topic.type])
    count = 0
    for message in heapq.merge(*map(_messages, readers), key=lambda message: message.log_time):
        if message.topic in known:
            writer.write(message.topic, message.data, message.log_time, message.publish_time)
            count += 1
    return count


def _messages(reader: SequentialReader) -> Iterator[McapMessage]:
    while reader.has_next():
        yield reader.read_message()
