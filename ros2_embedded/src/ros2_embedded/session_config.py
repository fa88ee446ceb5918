"""How a session finds others.

Without configuration it is a peer that listens on loopback, connects to a router on 127.0.0.1:7447 if there
is one, and finds other peers by multicast on the loopback interface. What the environment may change:

- `ROS_AUTOMATIC_DISCOVERY_RANGE`: `LOCALHOST` (also if it is not set, or `SYSTEM_DEFAULT`), `SUBNET` for all
  interfaces, `OFF` for no search. `ROS_LOCALHOST_ONLY=1` means `LOCALHOST` whatever else is set.
- `ROS_STATIC_PEERS`: hosts, or `host:port`, to connect to, divided by `;`.
- `ZENOH_SESSION_CONFIG_URI`: a JSON5 file that replaces all of this, as for rmw_zenoh.
- `ZENOH_CONFIG_OVERRIDE`: `key=json;key=json` on top, as for rmw_zenoh.
"""

from __future__ import annotations

import json
import logging
import os
import sys
from collections.abc import Mapping

import zenoh

ROUTER_PORT = 7447
RANGES = ("SUBNET", "LOCALHOST", "OFF", "SYSTEM_DEFAULT")
# Congestion may hold an image for this long before it is dropped; the default of 1 ms loses frames on a busy
# machine.
_WAIT_BEFORE_DROP_US = 50_000
_LOOPBACK = "lo0" if sys.platform == "darwin" else "lo"
_logger = logging.getLogger("ros2_embedded.session")


class SessionConfigError(ValueError):
    """The Zenoh configuration from the environment cannot be used."""


def discovery_range(environment: Mapping[str, str]) -> str:
    """`LOCALHOST`, `SUBNET` or `OFF`.

    Raises:
        SessionConfigError: an unknown range.
    """
    if environment.get("ROS_LOCALHOST_ONLY", "") == "1":
        return "LOCALHOST"
    named = environment.get("ROS_AUTOMATIC_DISCOVERY_RANGE", "") or "SYSTEM_DEFAULT"
    if named not in RANGES:
        raise SessionConfigError(f"ROS_AUTOMATIC_DISCOVERY_RANGE={named!r} is none of {', '.join(RANGES)}")
    return "LOCALHOST" if named == "SYSTEM_DEFAULT" else named


def _static_peers(environment: Mapping[str, str]) -> list[str]:
    """The endpoints of ROS_STATIC_PEERS; none while only this machine is allowed."""
    if environment.get("ROS_LOCALHOST_ONLY", "") == "1":
        return []
    hosts = [host.strip() for host in environment.get("ROS_STATIC_PEERS", "").split(";") if host.strip()]
    return [f"tcp/{host}" if ":" in host else f"tcp/{host}:{ROUTER_PORT}" for host in hosts]


def settings(environment: Mapping[str, str]) -> dict[str, object]:
    """The settings without a configuration file, by Zenoh key.

    Raises:
        SessionConfigError: see `discovery_range`.
    """
    reach = discovery_range(environment)
    router = [] if reach == "OFF" else [f"tcp/127.0.0.1:{ROUTER_PORT}"]
    return {
        "mode": "peer",
        "connect/endpoints": router + _static_peers(environment),
        "connect/exit_on_failure": False,
        "listen/endpoints": ["tcp/0.0.0.0:0" if reach == "SUBNET" else "tcp/127.0.0.1:0"],
        "scouting/delay": 20,
        "scouting/multicast/enabled": reach != "OFF",
        "scouting/multicast/interface": "auto" if reach == "SUBNET" else _LOOPBACK,
        "scouting/gossip/enabled": True,
        "timestamping/enabled": True,
        "queries_default_timeout": 600_000,
        "transport/link/tx/queue/congestion_control/drop/wait_before_drop": _WAIT_BEFORE_DROP_US,
    }


def make_config(environment: Mapping[str, str] = os.environ) -> zenoh.Config:
    """The session configuration.

    Raises:
        SessionConfigError: a file or a value from the environment is wrong.
    """
    uri = environment.get("ZENOH_SESSION_CONFIG_URI", "")
    override = environment.get("ZENOH_CONFIG_OVERRIDE", "")
    try:
        if uri:
            config = zenoh.Config.from_file(uri)
        else:
            config = zenoh.Config()
            for key, value in settings(environment).items():
                config.insert_json5(key, json.dumps(value))
            if discovery_range(environment) == "SUBNET":
                _logger.warning(
                    "every machine of the network can read and command this one; see docs/security.md for TLS"
                )
        for entry in override.split(";"):
            if entry.strip():
                key, _, text = entry.partition("=")
                config.insert_json5(key.strip(), text.strip())
    except zenoh.ZError as error:
        raise SessionConfigError(
            f"{error}; check ZENOH_SESSION_CONFIG_URI={uri!r} and ZENOH_CONFIG_OVERRIDE={override!r}"
        ) from error
    return config
