"""ros2 security generate_policy."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from ...errors import CliError
from ...node import cli_node, is_hidden, settle
from ...topics import write

if TYPE_CHECKING:
    from rclpy.node import Node

_GROUPS = (
    ("services", "service", "reply", "get_service_names_and_types_by_node"),
    ("services", "service", "request", "get_client_names_and_types_by_node"),
    ("topics", "topic", "publish", "get_publisher_names_and_types_by_node"),
    ("topics", "topic", "subscribe", "get_subscriber_names_and_types_by_node"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("POLICY_FILE_PATH", type=Path, help="the file; one that is there is added to")


def main(args: argparse.Namespace) -> int:
    """Write a policy of SROS2 that allows what the nodes of the graph do now."""
    root = _existing(args.POLICY_FILE_PATH)
    enclaves = root.find("enclaves")
    if enclaves is None:
        enclaves = ElementTree.SubElement(root, "enclaves")
    with cli_node() as node:
        settle(node)
        found = [
            entry for entry in node.get_node_names_and_namespaces_with_enclaves() if not is_hidden(entry[0])
        ]
        if not found:
            raise CliError("No nodes detected in the ROS graph. No policy file was generated.")
        for name, namespace, path in sorted(found):
            _add_node(node, _profile(enclaves, path, namespace, name), name, namespace)
    ElementTree.indent(root)
    try:
        args.POLICY_FILE_PATH.write_text(f"{ElementTree.tostring(root, encoding='unicode')}\n", "utf-8")
    except OSError as error:
        raise CliError(f"cannot write the policy {args.POLICY_FILE_PATH}: {error.strerror}") from error
    write(f"{len(found)} nodes in {args.POLICY_FILE_PATH}\n")
    return 0


def _existing(path: Path) -> ElementTree.Element:
    if not path.exists():
        return ElementTree.Element("policy", version="0.2.0")
    try:
        root = ElementTree.parse(path).getroot()
    except (OSError, ElementTree.ParseError, LookupError, ValueError) as error:  # or an unknown encoding
        raise CliError(f"cannot read the policy {path}: {error}") from error
    if root.tag != "policy":
        raise CliError(f"{path} is no policy of SROS2; name another file")
    return root


def _profile(enclaves: ElementTree.Element, path: str, namespace: str, name: str) -> ElementTree.Element:
    """The profile of a node, which is made where it is missing."""
    enclave = _child(enclaves, "enclave", path=path)
    return _child(_child(enclave, "profiles"), "profile", ns=namespace, node=name)


def _child(parent: ElementTree.Element, tag: str, **attributes: str) -> ElementTree.Element:
    for element in parent.findall(tag):
        if all(element.get(name) == value for name, value in attributes.items()):
            return element
    return ElementTree.SubElement(parent, tag, attributes)


def _add_node(node: Node, profile: ElementTree.Element, name: str, namespace: str) -> None:
    """Allow what a node does; the parts of actions are services and topics as well."""
    for group, item, right, look_up in _GROUPS:
        entries: Iterable[tuple[str, Any]] = getattr(node, look_up)(name, namespace)
        names = sorted(_written(entry, namespace, name) for entry, _ in entries)
        if not names:
            continue
        allowed = _child(profile, group, **{right: "ALLOW"})
        known = {element.text for element in allowed.findall(item)}
        for one in names:
            if one not in known:
                ElementTree.SubElement(allowed, item).text = one


def _written(full: str, namespace: str, name: str) -> str:
    """A name as a policy has it: private, relative to the namespace of the node, or full."""
    above = namespace.rstrip("/")
    if full.startswith(f"{above}/{name}/"):
        return "~" + full[len(f"{above}/{name}/") :]
    return full[len(above) + 1 :] if full.startswith(f"{above}/") else full
