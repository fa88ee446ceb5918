"""The ROS arguments of a command line: `--ros-args -r from:=to -p name:=value --params-file f
--log-level l`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rclpy.impl.errors import RCLInvalidROSArgsError, UnknownROSArgsError

_RULE = re.compile(
    r"^(?:(?P<node>[A-Za-z_][A-Za-z0-9_]*):)?(?P<kind>rostopic://|rosservice://)?(?P<source>[^:]+):=(?P<target>.+)$"
)
_NAME_KEYS = ("__node", "__name")


class ROSArgumentError(RCLInvalidROSArgsError, ValueError):
    """A ROS argument cannot be understood; the text names it and shows the right form."""

    def __init__(self, reason: str) -> None:
        """Put the usual text in front."""
        super().__init__(f"Failed to parse ROS arguments: {reason}")
        self.reason = reason


@dataclass(frozen=True)
class RemapRule:
    """`[node:][kind]source:=target`; an empty node means all nodes, an empty kind topics and services."""

    node: str
    kind: str
    source: str
    target: str


@dataclass
class RosArguments:
    """Parsed ROS arguments.

    Attributes:
        remaps: rules in the order given; the first that matches wins.
        parameters: (node pattern, parameter name, value) in the order given; later ones win.
        log_levels: (logger name, or empty for all; level name).
        remaining: arguments that are no ROS arguments.
        unknown: ROS arguments that nobody knows.
        rosout: publish log messages on /rosout.
        stdout: write log messages to the console.
        enclave: path of the enclave that the process belongs to.
    """

    remaps: list[RemapRule] = field(default_factory=list)
    parameters: list[tuple[str, str, Any]] = field(default_factory=list)
    log_levels: list[tuple[str, str]] = field(default_factory=list)
    remaining: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    rosout: bool = True
    stdout: bool = True
    enclave: str = "/"


def parse_value(text: str, where: str) -> Any:
    """A parameter value in YAML.

    Raises:
        ROSArgumentError: no YAML.
    """
    import yaml  # 40 ms, which a program without parameters need not wait

    from rclpy.impl.parameter_yaml import read

    try:
        return read(text) if text else ""
    except yaml.YAMLError as error:
        raise ROSArgumentError(f"{where}: {text!r} is no YAML value: {error}") from error


def _parse_remap(text: str) -> RemapRule:
    match = _RULE.match(text)
    if match is None:
        raise ROSArgumentError(f"cannot understand remap rule {text!r}; write --remap from:=to")
    kind = (match["kind"] or "").removesuffix("://").removeprefix("ros")
    return RemapRule(match["node"] or "", kind, match["source"], match["target"])


def _parse_parameter(text: str) -> tuple[str, str, Any]:
    name, divider, value = text.partition(":=")
    if not divider or not name:
        raise ROSArgumentError(f"cannot understand parameter {text!r}; write --param name:=value")
    node, colon, short = name.partition(":")
    pattern = node if colon else "/**"
    return pattern, short if colon else name, parse_value(value, f"parameter {name}")


def _flatten(prefix: str, tree: dict[str, Any]) -> list[tuple[str, Any]]:
    """Nested mappings to dotted names."""
    found: list[tuple[str, Any]] = []
    for key, value in tree.items():
        name = f"{prefix}.{key}" if prefix else str(key)
        found += _flatten(name, value) if isinstance(value, dict) else [(name, value)]
    return found


def read_parameter_file(path: str | Path) -> list[tuple[str, str, Any]]:
    """Parameters of a YAML file as (node pattern, name, value), in the order of the file.

    A node pattern may occur several times; a plain YAML reader would keep the last occurrence only.

    Raises:
        ROSArgumentError: the file cannot be read or has another layout.
    """
    import yaml

    from rclpy.impl.parameter_yaml import ParameterLoader

    found: list[tuple[str, str, Any]] = []
    above: list[Any] = []

    def visit(pattern: str, node: Any) -> None:
        if not isinstance(node, yaml.MappingNode):
            raise ROSArgumentError(f"parameter file {path}: 'ros__parameters' is missing below {pattern!r}")
        if node in above:  # an alias of YAML
            raise ROSArgumentError(f"parameter file {path}: {pattern!r} contains itself")
        above.append(node)
        for key_node, value_node in node.value:
            key = str(key_node.value)
            if key == "ros__parameters":
                tree = loader.construct_object(value_node, deep=True) or {}
                if not isinstance(tree, dict):
                    raise ROSArgumentError(
                        f"parameter file {path}: 'ros__parameters' holds no names: {tree!r}"
                    )
                found.extend((pattern or "/**", name, item) for name, item in _flatten("", tree))
            else:
                visit(f"{pattern}/{key.strip('/')}" if pattern else key, value_node)
        above.pop()

    try:
        loader = ParameterLoader(Path(path).read_text("utf-8"))
        root = loader.get_single_node()
        if root is not None:
            visit("", root)
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ROSArgumentError(f"parameter file {path}: {error}") from error
    return found


def parse_arguments(arguments: list[str]) -> RosArguments:
    """Parse a command line without its program name.

    Raises:
        ROSArgumentError: a ROS argument is wrong or its value is missing.
    """
    found = RosArguments()
    words = iter(arguments)
    in_ros = False
    for word in words:
        if not in_ros:
            in_ros = word == "--ros-args"
            if not in_ros:
                found.remaining.append(word)
        elif word == "--":
            in_ros = False
        elif word != "--ros-args":
            _parse_option(word, words, found)
    return found


def refuse_unknown(arguments: RosArguments) -> RosArguments:
    """The arguments themselves.

    Raises:
        UnknownROSArgsError: some of them nobody knows.
    """
    if arguments.unknown:
        raise UnknownROSArgsError(f"Found unknown ROS arguments: {arguments.unknown}")
    return arguments


def _parse_option(option: str, words: Any, found: RosArguments) -> None:
    """One option between `--ros-args` and `--`; takes its value from `words`."""
    if option in ("-r", "--remap"):
        found.remaps.append(_parse_remap(_value_of(option, words)))
    elif option in ("-p", "--param"):
        found.parameters.append(_parse_parameter(_value_of(option, words)))
    elif option == "--params-file":
        found.parameters += read_parameter_file(_value_of(option, words))
    elif option == "--log-level":
        logger, divider, level = _value_of(option, words).rpartition(":=")
        found.log_levels.append((logger if divider else "", level))
    elif option in ("-e", "--enclave"):
        found.enclave = _value_of(option, words)
    elif option in ("--log-config-file", "--log-file-name"):
        _value_of(option, words)
    elif option in ("--enable-rosout-logs", "--disable-rosout-logs"):
        found.rosout = option.startswith("--enable")
    elif option in ("--enable-stdout-logs", "--disable-stdout-logs"):
        found.stdout = option.startswith("--enable")
    elif option in ("--enable-external-lib-logs", "--disable-external-lib-logs"):
        return
    elif ":=" in option:
        found.remaps.append(_parse_remap(option))
    else:
        found.unknown.append(option)


def _value_of(option: str, words: Any) -> str:
    value = next(words, None)
    if value is None:
        raise ROSArgumentError(f"{option} needs a value")
    return str(value)


def matches_node(pattern: str, full_name: str) -> bool:
    """True when a node pattern of a parameter file fits: `/**`, `/ns/*`, `name`, `/ns/name`."""
    absolute = pattern if pattern.startswith("/") else f"/{pattern}"
    parts = re.split(r"(/\*\*|\*)", absolute)
    expression = "".join(
        "(?:/[^/]+)*" if part == "/**" else "[^/]+" if part == "*" else re.escape(part) for part in parts
    )
    return re.fullmatch(expression, full_name) is not None


def name_remaps(rules: list[RemapRule], node_name: str) -> tuple[str | None, str | None]:
    """The new node name and the new namespace a list of rules gives a node, each None without a rule."""
    fitting = [rule for rule in rules if rule.node in ("", node_name)]
    name = next((rule.target for rule in fitting if rule.source in _NAME_KEYS), None)
    namespace = next((rule.target for rule in fitting if rule.source == "__ns"), None)
    return name, namespace
