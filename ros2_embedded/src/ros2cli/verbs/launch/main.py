"""ros2 launch."""

from __future__ import annotations

import argparse
import os
import re
import sys
import tempfile
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from ros2launch.option import add_option_arguments, run_with_options

from ...errors import CliError

if TYPE_CHECKING:
    from launch import LaunchDescription

# Configurations that every process action looks at, declared or not.
_COMMON_ARGUMENTS = {
    "emulate_tty",
    "launch-prefix",
    "launch-prefix-filter",
    "sigkill_timeout",
    "sigterm_timeout",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("-n", "--noninteractive", action="store_true", help="nobody sits at a terminal")
    parser.add_argument("-d", "--debug", action="store_true", help="log at debug level, with tracebacks")
    parser.add_argument(
        "-p", "--print", dest="print_description", action="store_true", help="print the description only"
    )
    parser.add_argument(
        "-s", "--show-args", "--show-arguments", action="store_true", help="print the arguments only"
    )
    parser.add_argument(
        "--launch-prefix", metavar="WORDS", help="words before each command, such as 'gdb --args'"
    )
    parser.add_argument(
        "--launch-prefix-filter", metavar="REGEX", help="programs that get the prefix, all by default"
    )
    parser.add_argument("package_or_file", help="package that holds the launch file, or the path of one")
    parser.add_argument(
        "rest", nargs="*", metavar="file | name:=value", help="launch file of the package; arguments"
    )
    add_option_arguments(parser)


def main(args: argparse.Namespace) -> int:
    """Run the launch file, or print what it is made of."""
    path, words = _find_launch_file(args.package_or_file, args.rest)
    arguments = _parse_arguments(words)
    from launch import InvalidLaunchFileError, LaunchDescription, LaunchIntrospector, LaunchService
    from launch.actions import IncludeLaunchDescription
    from launch.launch_description_sources import AnyLaunchDescriptionSource

    for name, value in (
        ("launch-prefix", args.launch_prefix),
        ("launch-prefix-filter", args.launch_prefix_filter),
    ):
        if value is not None:
            arguments[name] = value
    source = AnyLaunchDescriptionSource(path)
    try:
        loaded = source.try_get_launch_description_without_context()
        assert loaded is not None  # the path is plain text
        if args.print_description:
            sys.stdout.write(LaunchIntrospector().format_launch_description(loaded) + "\n")
            return 0
        if args.show_args:
            print_arguments(loaded)
            return 0
        _check_arguments(loaded, arguments, path)
    except (CliError, InvalidLaunchFileError, LookupError, OSError, ValueError, RuntimeError) as error:
        if args.debug or isinstance(error, CliError):
            raise
        raise CliError(f"{path}: {error}") from error
    except Exception as error:  # a launch file is a program: it may raise anything
        if args.debug:
            raise
        raise CliError(f"{told_place(error, path)} (--debug shows where)") from error

    def make_service() -> LaunchService:
        service = LaunchService(argv=words, noninteractive=args.noninteractive, debug=args.debug)
        _announce_log_directory()
        return service

    include = IncludeLaunchDescription(source, launch_arguments=list(arguments.items()))
    return run_with_options(make_service, LaunchDescription([include]), args, args.option_extensions)


def told_place(error: Exception, path: str) -> str:
    """An exception in one line, with the file that raised it and the line in that file."""
    stack = traceback.extract_tb(error.__traceback__)
    frames = [frame for frame in stack if os.path.realpath(frame.filename) == os.path.realpath(path)]
    line = error.lineno if isinstance(error, SyntaxError) else frames[-1].lineno if frames else None
    return f"{path}{'' if line is None else f', line {line}'}: {type(error).__name__}: {error}"


def _announce_log_directory() -> None:
    """Make the directory of log files; a home that cannot be written costs their place alone."""
    from launch.logging import get_logger, launch_config

    logger = get_logger("launch")
    try:
        folder = launch_config.log_dir
    except OSError as error:
        why = f"{error.filename}: {error.strerror}; ROS_LOG_DIR names the folder of log files"
        if os.environ.get("ROS_LOG_DIR") or os.environ.get("ROS_HOME"):
            raise CliError(why) from error
        folder = launch_config.log_dir = tempfile.mkdtemp(prefix="ros2-launch-")
        logger.warning(why)
    logger.info(f"All log files can be found below {folder}")


def _find_launch_file(first: str, rest: list[str]) -> tuple[str, list[str]]:
    """Return the path of the launch file and the words after it."""
    if os.path.isfile(first):
        return first, rest
    if os.sep in first or first.endswith((".py", ".xml", ".yaml", ".yml")):
        raise CliError(f"launch file '{first}' was not found")
    if not rest or ":=" in rest[0]:
        raise CliError(
            f"'{first}' is no file; for a package, name its launch file: ros2 launch {first} <file>"
        )
    return _find_in_package(first, rest[0]), rest[1:]


def _find_in_package(package: str, name: str) -> str:
    from ros2_embedded.packages import PackageNotFoundError, package_share

    try:
        share = package_share(package)
    except PackageNotFoundError as error:
        raise CliError(str(error)) from error
    found = sorted(path for path in _files(share / "launch") if path.name == name)
    found = found or sorted(path for path in _files(share) if path.name == name)
    if len(found) == 1:
        return str(found[0])
    if found:
        raise CliError(
            f"package '{package}' has several files '{name}': {', '.join(map(str, found))}; pass one path"
        )
    known = sorted(_launch_files(share))
    raise CliError(
        f"package '{package}' has no launch file '{name}'; it has: {', '.join(known) or 'none'} ({share})"
    )


def _launch_files(share: Path) -> set[str]:
    suffixes = (".py", ".xml", ".yaml", ".yml")
    return {path.name for path in _files(share) if "launch." in path.name and path.suffix in suffixes}


def _files(folder: Path) -> Iterator[Path]:
    """All files below a folder, except in hidden folders.

    The share directory of a package that is installed in place is its source checkout, whose virtual
    environment may hold the same files again.
    """
    for here, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        yield from (Path(here, name) for name in files)


def _parse_arguments(words: list[str]) -> dict[str, str]:
    arguments = {}
    for word in words:
        name, separator, value = word.partition(":=")
        if not separator or not name:
            raise CliError(f"malformed launch argument '{word}'; write name:=value")
        arguments[name] = value
    return arguments


def _check_arguments(description: LaunchDescription, arguments: dict[str, str], path: str) -> None:
    """Raise CliError for a name that nothing declares or uses; warn where that cannot be known beforehand."""
    from launch.actions import IncludeLaunchDescription, OpaqueFunction
    from launch.launch_introspector import walk
    from launch.logging import get_logger

    known = {argument.name for argument in description.get_launch_arguments()}
    unknown = sorted(set(arguments) - known - _COMMON_ARGUMENTS)
    if not unknown:
        return
    entities = [entity for entity, _ in walk(description)]
    sources = [
        entity.launch_description_source
        for entity in entities
        if isinstance(entity, IncludeLaunchDescription)
    ]
    files = [path, *(source.location for source in sources)]
    unknown = [name for name in unknown if not any(_uses(file, name) for file in files)]
    if not unknown:
        return
    declared = ", ".join(sorted(known)) or "none"
    text = f"unknown launch argument {', '.join(map(repr, unknown))}; declared: {declared}"
    if any(isinstance(entity, OpaqueFunction) for entity in entities) or any(
        source.try_get_launch_description_without_context() is None for source in sources
    ):
        get_logger("launch").warning(text)
    else:
        raise CliError(text)


def _uses(file: str, name: str) -> bool:
    """Whether a launch file names a launch configuration, which it need not declare to use it."""
    try:
        text = Path(file).read_text(encoding="utf-8")
    except (OSError, ValueError):  # as of a location that is only known when the launch runs
        return False
    word = re.escape(name)
    return re.search(rf"""['"]{word}['"]|\$\(var\s+['"]?{word}['"\s)]""", text) is not None


def print_arguments(description: LaunchDescription) -> None:
    """Print the launch arguments of a description."""
    arguments = description.get_launch_arguments()
    lines = ["Arguments (pass arguments as '<name>:=<value>'):", ""]
    for argument in arguments:
        lines.append(f"    '{argument.name}':")
        lines.append(f"        {argument.description}")
        if argument.choices is not None:
            lines.append(f"        Valid choices are: {argument.choices}")
        if argument.default_value is not None:
            lines.append(
                f"        (default: {' + '.join(part.describe() for part in argument.default_value)})"
            )
        lines.append("")
    if not arguments:
        lines = ["No arguments."]
    sys.stdout.write("\n".join(lines).rstrip("\n") + "\n")
