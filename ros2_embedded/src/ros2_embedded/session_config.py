"""Configuration of a session: how it discovers others, and which of them may connect.

By default a session is reachable for its own user only: it listens on a Unix socket that only this user may
open, and connects to those of the same user and domain (`ros2_embedded.local_links`). It opens no port and
sends no discovery messages. It also connects to a router on 127.0.0.1:7447 if that belongs to the same user,
or to root, when the session opens, so that it reaches programs of another ROS 2. These environment variables
change it:

- `ROS_AUTOMATIC_DISCOVERY_RANGE`: `SYSTEM_DEFAULT`, or not set: as above. `LOCALHOST`: also a port on
  127.0.0.1, and any router on 127.0.0.1:7447, whoever runs it and whenever it starts; every user of the
  machine can join. `SUBNET`: all interfaces, with discovery by multicast. `OFF`: no discovery, and a port
  on 127.0.0.1 only if peers are named.
  `ROS_LOCALHOST_ONLY=1` disables `SUBNET` and static peers.
- `ROS_STATIC_PEERS`: hosts, or `host:port`, to connect to, separated by `;`; of IPv6 as `fe80::1` or
  `[fe80::1]:7447`.
- `ZENOH_SESSION_CONFIG_URI`: a JSON5 file that replaces all of this, as for rmw_zenoh.
- `ROS_SECURITY_ENABLE`: see `ros2_embedded.enclaves`.
- `ZENOH_CONFIG_OVERRIDE`: `key=json;key=json` that override single values, as for rmw_zenoh.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
from collections.abc import Callable, Mapping
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import zenoh

from ros2_embedded.certificate_dates import CertificateError, certificates_of, require_valid
from ros2_embedded.enclaves import EnclaveError, secured
from ros2_embedded.local_links import PROTOCOL, LocalEndpoints, LocalLinkError, joining
from ros2_embedded.loopback import INTERFACE, has_interface, is_loopback, only_loopback, own_listener

ROUTER_PORT = 7447
_ANY_PORT = "tcp/127.0.0.1:0"
MAX_DOMAIN_ID = 232
RANGES = ("SUBNET", "LOCALHOST", "OFF", "SYSTEM_DEFAULT")
# [us] longest wait of an image for a congested link before it is dropped; the default of 1 ms loses images on
# a busy machine.
_WAIT_BEFORE_DROP_US = 50_000
QUEUE = "transport/link/tx/queue"
"""Zenoh key of the queue lengths of each link, by priority, in batches of 64 kB."""
LONGEST_QUEUE = 16
"""Batches of the longest queue that Zenoh allows; their memory is taken as they are needed.

The declarations of a session are put into the `control` queue of a new link by the thread that also lets
the link send (Zenoh 1.10). If they do not fit, that thread waits, and who has just connected sees none of the
session's endpoints. With the default of 2 batches a session of 1,200 endpoints was not seen; with 16 one of
2,000 was, and one of 6,000 was not.
"""
# [ms] A process of this machine that was stopped or hangs accepts a connection and never answers, and a
# session that closes waits for its attempts to connect. Over a network the default of 10 s stays.
_LOCAL_HANDSHAKE_MS = 3000
# A lost connection to the user's own router is not retried, since its port may be another user's by then.
_ONCE = "#retry_period_init_ms=2000000000;retry_period_max_ms=2000000000"
_logger = logging.getLogger("ros2_embedded.session")


class SessionConfigError(ValueError):
    """The Zenoh configuration from the environment cannot be used."""


def domain_id(environment: Mapping[str, str] = os.environ) -> int:
    """Return the ROS domain, 0 to 232: ROS_DOMAIN_ID, and 0 where it is not set.

    Raises:
        SessionConfigError: it is not a domain.
    """
    text = environment.get("ROS_DOMAIN_ID", "") or "0"
    if not (text.isascii() and text.isdigit() and len(text) < 10 and int(text) <= MAX_DOMAIN_ID):
        raise SessionConfigError(
            f"ROS_DOMAIN_ID={text[:40]!r} is no number from 0 to {MAX_DOMAIN_ID}; set one, or unset it for 0"
        )
    return int(text)


def discovery_range(environment: Mapping[str, str]) -> str:
    """Return `SYSTEM_DEFAULT`, `LOCALHOST`, `SUBNET` or `OFF`.

    Raises:
        SessionConfigError: the environment has another value.
    """
    named = environment.get("ROS_AUTOMATIC_DISCOVERY_RANGE", "") or "SYSTEM_DEFAULT"
    if named not in RANGES:
        raise SessionConfigError(
            f"ROS_AUTOMATIC_DISCOVERY_RANGE={named!r} is none of {', '.join(RANGES)}; "
            "set one of them, or unset it"
        )
    return "SYSTEM_DEFAULT" if named == "SUBNET" and _localhost_only(environment) else named


def is_local(environment: Mapping[str, str]) -> bool:
    """Return whether the session listens on a Unix socket and connects to those of the same user.

    Raises:
        SessionConfigError: see `discovery_range`.
    """
    return not environment.get("ZENOH_SESSION_CONFIG_URI", "") and discovery_range(environment) != "OFF"


def _localhost_only(environment: Mapping[str, str]) -> bool:
    return environment.get("ROS_LOCALHOST_ONLY", "") == "1"


def _static_peers(environment: Mapping[str, str]) -> list[str]:
    """Return the endpoints of ROS_STATIC_PEERS; none while only this machine is allowed."""
    if _localhost_only(environment):
        return []
    hosts = [host.strip() for host in environment.get("ROS_STATIC_PEERS", "").split(";") if host.strip()]
    return [f"tcp/{_with_port(host)}" for host in hosts]


def _with_port(host: str) -> str:
    """Return `host:port`: an address of IPv6 in brackets, and the port of routers where there is none."""
    with contextlib.suppress(ValueError):
        address = ip_address(host.strip("[]"))
        return f"[{address}]:{ROUTER_PORT}" if address.version == 6 else f"{address}:{ROUTER_PORT}"
    return host if ":" in host else f"{host}:{ROUTER_PORT}"


def settings(
    environment: Mapping[str, str],
    local: LocalEndpoints,
    is_own: Callable[[int], bool] = own_listener,
) -> dict[str, Any]:
    """Return the settings without a configuration file, by Zenoh key.

    Args:
        environment: of the process.
        local: Unix sockets to listen on and to connect to.
        is_own: returns whether the user or root listens on a port of 127.0.0.1.

    Raises:
        SessionConfigError: see `discovery_range`.
    """
    reach = discovery_range(environment)
    router = [] if reach == "OFF" else [f"tcp/127.0.0.1:{ROUTER_PORT}"]
    if reach == "SYSTEM_DEFAULT":
        router = [f"{router[0]}{_ONCE}"] if is_own(ROUTER_PORT) else []
    peers = _static_peers(environment)
    local_only = reach != "SUBNET" and not peers
    ports = {"SUBNET": ["tcp/0.0.0.0:0"], "LOCALHOST": [_ANY_PORT]}.get(reach, [])
    return {
        "mode": "peer",
        "connect/endpoints": [*local.connect, *router, *peers],
        "connect/exit_on_failure": False,
        "listen/endpoints": [*local.listen, *ports],
        "scouting/delay": 20,
        "scouting/multicast/enabled": reach == "SUBNET",
        "scouting/gossip/enabled": True,
        "timestamping/enabled": True,
        "queries_default_timeout": 600_000,
        f"{QUEUE}/congestion_control/drop/wait_before_drop": _WAIT_BEFORE_DROP_US,
        f"{QUEUE}/size/control": LONGEST_QUEUE,
        **({"transport/unicast/open_timeout": _LOCAL_HANDSHAKE_MS} if local_only else {}),
    }


def make_config(
    environment: Mapping[str, str] = os.environ, local: LocalEndpoints | None = None
) -> zenoh.Config:
    """Return the session configuration.

    Args:
        environment: of the process.
        local: Unix sockets of this session and of others; None: it uses none.

    Raises:
        SessionConfigError: a file or a value from the environment is wrong.
    """
    uri = environment.get("ZENOH_SESSION_CONFIG_URI", "")
    override = environment.get("ZENOH_CONFIG_OVERRIDE", "")
    try:
        config = zenoh.Config.from_file(uri) if uri else zenoh.Config()
        chosen = {} if uri else settings(environment, local or LocalEndpoints())
        for key, value in chosen.items():
            config.insert_json5(key, json.dumps(value))
        for entry in override.split(";"):
            if entry.strip():
                key, _, text = entry.partition("=")
                config.insert_json5(key.strip(), text.strip())
    except zenoh.ZError as error:
        if uri and not Path(uri).is_file():
            raise SessionConfigError(f"ZENOH_SESSION_CONFIG_URI={uri}: no such file") from error
        # Zenoh's messages end with a position in its own source code.
        why = str(error).partition(" at /")[0]
        named = {"ZENOH_SESSION_CONFIG_URI": uri, "ZENOH_CONFIG_OVERRIDE": override}
        places = " and ".join(f"{name}={value!r}" for name, value in named.items() if value)
        raise SessionConfigError(f"the session cannot be set up as {places} says: {why}") from error
    if not uri:
        if discovery_range(environment) == "OFF":
            _listen_where_it_connects(config)
        _confine(config)
    return config


def open_session(domain: int, enclave: str = "/") -> tuple[zenoh.Config, zenoh.Session]:
    """Open a session with the configuration from the environment; return both.

    Args:
        domain: ROS domain.
        enclave: path of the enclave, if ROS_SECURITY_ENABLE asks for one; see `ros2_embedded.enclaves`.

    Raises:
        SessionConfigError: see `make_config`; also if a certificate is not valid, Zenoh refuses the file, the
            enclave is not there, or the folder of the user's sockets cannot be used.
    """
    try:
        environment = secured(os.environ, enclave)
    except EnclaveError as error:
        raise SessionConfigError(str(error)) from error
    if not is_local(environment):
        config = make_config(environment)
        _require_certificates(config)
        return config, _open(config)
    try:
        with joining(domain) as local:
            config = make_config(environment, local)
            _require_certificates(config)
            return config, _open(config)
    except LocalLinkError as error:
        raise SessionConfigError(str(error)) from error


def _require_certificates(config: zenoh.Config) -> None:
    try:
        require_valid(certificates_of(config))
    except CertificateError as error:
        raise SessionConfigError(f"no session is opened: {error}") from error


def _open(config: zenoh.Config) -> zenoh.Session:
    try:
        return zenoh.open(config)
    except zenoh.ZError as error:
        raise SessionConfigError(f"no session can be opened: {str(error).partition(' at /')[0]}") from error


def _listen_where_it_connects(config: zenoh.Config) -> None:
    """Open a port on loopback for the peers of the peers that a session connects to, which are told of it.

    A session that connects to nobody opens none: every user of the machine could join.
    """
    listen, connect = (json.loads(config.get_json(f"{key}/endpoints")) for key in ("listen", "connect"))
    if connect and not listen:
        config.insert_json5("listen/endpoints", json.dumps([_ANY_PORT]))


def _confine(config: zenoh.Config) -> None:
    """Restrict the session to the kinds of links of its endpoints, and to loopback if these are on loopback.

    Discovery may report any address of other sessions; this limits to which of them the session connects.
    """
    listen, connect = (json.loads(config.get_json(f"{key}/endpoints")) for key in ("listen", "connect"))
    if not (isinstance(listen, list) and isinstance(connect, list)):
        return  # endpoints by mode were configured explicitly, and are not restricted
    endpoints = [*listen, *connect]
    searches = json.loads(config.get_json("scouting/multicast/enabled"))
    protocols = {endpoint.partition("/")[0] for endpoint in endpoints} | ({"tcp"} if searches else set())
    if protocols and json.loads(config.get_json("transport/link/protocols")) is None:
        config.insert_json5("transport/link/protocols", json.dumps(sorted(protocols)))
    searches_network = searches and json.loads(config.get_json("scouting/multicast/interface")) != INTERFACE
    if searches_network or not all(is_loopback(endpoint) for endpoint in endpoints):
        _warn_of_network()
    elif (
        protocols != {PROTOCOL}
        and all(has_interface(endpoint) for endpoint in endpoints)
        and not json.loads(config.get_json("access_control/enabled"))
    ):
        config.insert_json5("access_control", json.dumps(only_loopback()))


def _warn_of_network() -> None:
    _logger.warning("machines of the network can read and command this one; see docs/security.md for TLS")
