"""Reader of the policy files of SROS2, so that one file can be used with keystores of both kinds.

Their schema (https://design.ros2.org/articles/ros2_access_control_policies.html) lists profiles below
enclaves: a node, its namespace, and topics, services and actions, each allowed or denied. Enclave paths are
converted to names of this keystore: `/arm/talker` becomes `arm_talker`.
"""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from xml.etree import ElementInclude, ElementTree

from ros2_embedded.enclaves import member_name

ALLOW, DENY = "ALLOW", "DENY"
_TOPICS = {"publish": "publish", "subscribe": "subscribe"}
_SERVICES = {"reply": "serve", "request": "call"}
_SERVER, _CLIENT = "execute", "call"
_ACTION_SERVICES = ("send_goal", "cancel_goal", "get_result")
_ACTION_TOPICS = ("feedback", "status")

Rights = dict[str, dict[str, list[str]]]
"""Enclave -> right (publish, subscribe, serve, call) -> names of topics or services."""


class Sros2PolicyError(ValueError):
    """A policy file of SROS2 is invalid, or has a rule that cannot be expressed here."""


def read_sros2_policy(path: Path) -> Rights:
    """Return the rights of a policy file of SROS2.

    Raises:
        Sros2PolicyError: the file cannot be read, has another format, denies a name that a pattern allows, or
            has enclaves whose paths are no names here, or the same one.
    """
    try:
        has_type = b"<!DOCTYPE" in path.read_bytes()
        root = ElementTree.Element("policy") if has_type else ElementTree.parse(path).getroot()
        ElementInclude.include(root, base_url=str(path))
    except (OSError, SyntaxError, LookupError, ValueError) as error:  # no XML, or an unknown encoding
        raise Sros2PolicyError(f"policy {path}: {error}") from error
    if has_type:
        raise Sros2PolicyError(f"policy {path}: a document type is not accepted; remove <!DOCTYPE …>")
    enclaves = root.findall("./enclaves/enclave")
    if root.tag != "policy" or not enclaves:
        raise Sros2PolicyError(f"policy {path}: <policy><enclaves><enclave path=…> is expected")
    rights: Rights = {}
    paths: dict[str, str] = {}
    for enclave in enclaves:
        given = f"/{enclave.get('path', '').strip('/')}"
        name = member_name(given)
        if not name:
            raise Sros2PolicyError(f"policy {path}: an enclave needs a path other than '/', such as /robot")
        if paths.setdefault(name, given) != given:  # they would have the rights of both
            raise Sros2PolicyError(
                f"policy {path}: the enclaves {paths[name]} and {given} are both {name} here; rename one"
            )
        own = rights.setdefault(name, {})
        denied: dict[str, set[str]] = {}
        for profile in enclave.findall("./profiles/profile"):
            for verdict, action, resource in _statements(profile, path):
                if verdict == ALLOW:
                    own.setdefault(action, []).append(resource)
                else:
                    denied.setdefault(action, set()).add(resource)
        for action, names in denied.items():
            own[action] = _without(own.get(action, []), names, f"policy {path}: {name}.{action}")
    return rights


def _without(allowed: list[str], denied: set[str], where: str) -> list[str]:
    """Return the names that are allowed and not denied.

    In SROS2 `*` in a denied name stands for any letters, slashes too, and a denial comes before any right.
    """
    left = [name for name in allowed if not any(fnmatchcase(name, pattern) for pattern in denied)]
    patterns = [name for name in left if "*" in name]
    if patterns and denied:
        raise Sros2PolicyError(
            f"{where}: {', '.join(sorted(denied))} is denied while {', '.join(patterns)} is allowed; "
            "name what is allowed one by one"
        )
    return left


def _statements(profile: ElementTree.Element, path: Path) -> Iterator[tuple[str, str, str]]:
    """Yield (ALLOW or DENY, right, fully qualified name) for each entry of a profile."""
    for kind, item, attributes in (
        ("topics", "topic", _TOPICS),
        ("services", "service", _SERVICES),
        ("actions", "action", {_SERVER: _SERVER, _CLIENT: _CLIENT}),
    ):
        for group in profile.findall(kind):
            for attribute, action in attributes.items():
                verdict = group.get(attribute)
                if verdict is None:
                    continue
                if verdict not in (ALLOW, DENY):
                    raise Sros2PolicyError(
                        f'policy {path}: <{kind} {attribute}="{verdict}">: write {ALLOW} or {DENY}'
                    )
                for element in group.findall(item):
                    name = _resolve(profile, (element.text or "").strip())
                    if kind == "actions":
                        yield from ((verdict, *part) for part in _parts_of_action(action, name))
                    else:
                        yield verdict, action, name


def _resolve(profile: ElementTree.Element, name: str) -> str:
    """Return the full name of a profile's name, which as in a node may be relative, or private with `~`."""
    namespace = profile.get("ns", "/").rstrip("/")
    if name.startswith("/"):
        return name
    if name.startswith("~"):
        return f"{namespace}/{profile.get('node', '')}/{name[1:].lstrip('/')}"
    return f"{namespace}/{name}"


def _parts_of_action(action: str, name: str) -> Iterator[tuple[str, str]]:
    """Yield the rights on the services and topics that make up an action."""
    serves, publishes = ("serve", "publish") if action == _SERVER else ("call", "subscribe")
    for part in _ACTION_SERVICES:
        yield serves, f"{name}/_action/{part}"
    for part in _ACTION_TOPICS:
        yield publishes, f"{name}/_action/{part}"
