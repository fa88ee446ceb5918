"""Restriction of a session to this machine: loopback endpoints, listeners, and Zenoh's access control."""

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
"""Key expressions that cover all of ROS; `**` does not match parts that begin with `@`."""
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
    """Return whether a Zenoh endpoint, such as `tcp/127.0.0.1:0` or a Unix socket, stays on this machine."""
    if endpoint.startswith(f"{PROTOCOL}/"):
        return True
    try:
        return ip_address(_host(endpoint)).is_loopback
    except ValueError:
        return _host(endpoint) == "localhost"


def has_interface(endpoint: str) -> bool:
    """Return whether Zenoh can tell that a loopback endpoint's links go through the loopback interface.

    Zenoh looks for the interface with exactly this address; other addresses of 127.0.0.0/8 have none.
    """
    return endpoint.startswith(f"{PROTOCOL}/") or _host(endpoint) in ("127.0.0.1", "::1", "localhost")


def _host(endpoint: str) -> str:
    rest = endpoint.partition("/")[2]
    return rest.partition("#")[0].partition("?")[0].rpartition(":")[0].strip("[]")


def own_listener(port: int) -> bool:
    """Return whether this user, or root, listens on a TCP port of loopback or of all addresses.

    It is False where the system does not list listeners (Linux does, in /proc/net/tcp), and where another
    user listens on that port as well.
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
    """Return a rule of this name for an `access_control` section that allows all ROS messages in and out."""
    return {
        "id": rule,
        "messages": _MESSAGES,
        "flows": ["ingress", "egress"],
        "permission": "allow",
        "key_exprs": _KEYS,
    }


def only_loopback() -> dict[str, Any]:
    """Return an `access_control` section of a Zenoh configuration that allows messages on loopback only.

    A session may open a link to an address elsewhere that it learns of, but no message passes over it.
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
