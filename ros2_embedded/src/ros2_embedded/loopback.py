"""Keeping a session on this machine: what is loopback, who listens there, and what Zenoh lets through."""

from __future__ import annotations

import os
import sys
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from ros2_embedded.local_links import PROTOCOL

INTERFACE = "lo0" if sys.platform == "darwin" else "lo"
_LISTEN = "0A"
"""State of a listening socket in /proc/net/tcp."""
_KEYS = ["**", "@ros2_lv/**", "**/@adv/**"]
"""All that ROS says: `**` does not stand for parts that begin with `@`."""
_MESSAGES = [
    "put",
    "delete",
    "declare_subscriber",
    "query",
    "declare_queryable",
    "reply",
    "liveliness_token",
    "declare_liveliness_subscriber",
    "liveliness_query",
]


def is_loopback(endpoint: str) -> bool:
    """Whether a Zenoh endpoint, such as `tcp/127.0.0.1:0` or a Unix socket, stays on this machine."""
    if endpoint.startswith(f"{PROTOCOL}/"):
        return True
    try:
        return ip_address(_host(endpoint)).is_loopback
    except ValueError:
        return _host(endpoint) == "localhost"


def has_interface(endpoint: str) -> bool:
    """Whether Zenoh can tell that a loopback endpoint's links go through the loopback interface.

    It looks for the interface that has the very address: other addresses of 127.0.0.0/8 belong to none.
    """
    return endpoint.startswith(f"{PROTOCOL}/") or _host(endpoint) in ("127.0.0.1", "::1", "localhost")


def _host(endpoint: str) -> str:
    rest = endpoint.partition("/")[2]
    return rest.partition("#")[0].partition("?")[0].rpartition(":")[0].strip("[]")


def own_listener(port: int) -> bool:
    """Whether this user, or root, listens on a TCP port of loopback or of all addresses.

    False where the system does not tell (Linux does, in /proc/net/tcp), and where anybody else listens on
    that port as well.
    """
    owners = set()
    for table in ("tcp", "tcp6"):
        try:
            lines = Path(f"/proc/net/{table}").read_text("ascii").splitlines()[1:]
        except OSError:
            continue
        for fields in map(str.split, lines):
            if fields[3] == _LISTEN and int(fields[1].rpartition(":")[2], 16) == port:
                owners.add(int(fields[7]))
    return bool(owners) and owners <= {0, os.getuid()}


def everything(rule: str) -> dict[str, Any]:
    """Return a rule of that name, of an `access_control` section, which lets all that ROS says in and out."""
    return {
        "id": rule,
        "messages": _MESSAGES,
        "flows": ["ingress", "egress"],
        "permission": "allow",
        "key_exprs": _KEYS,
    }


def only_loopback() -> dict[str, Any]:
    """The `access_control` section of a Zenoh configuration that lets nothing in or out but on this machine.

    A session that was told of an address elsewhere may open a link to it; nothing passes there.
    """
    return {
        "enabled": True,
        "default_permission": "deny",
        "rules": [everything("all")],
        "subjects": [
            {"id": "loopback", "interfaces": [INTERFACE]},
            {"id": "sockets", "link_protocols": [PROTOCOL]},
        ],
        "policies": [{"rules": ["all"], "subjects": ["loopback", "sockets"]}],
    }
