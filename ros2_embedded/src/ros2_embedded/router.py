"""A Zenoh router, which connects sessions of several machines, or of another ROS 2.

    python -m ros2_embedded.router
    python -m ros2_embedded.router --config keystore/enclaves/hub/session.json5
    python -m ros2_embedded.router --config keystore/enclaves/robot/session.json5 --join

It listens on loopback by default. Everyone who can connect to it is in the graph, so on other interfaces it
needs a configuration with TLS (docs/security.md), whose certificate is watched as that of a session. It
forwards messages without knowledge of ROS.

With `--join` it joins the graph of its user on this machine, by the Unix sockets of that graph, and connects
that graph to other routers. Machines that cannot reach each other run such a router each, and connect to one
that all of them reach. It forwards between routers, but not between sessions that connect to it directly,
since Zenoh expects these to connect to each other.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any

from ros2_embedded.certificate_dates import (
    CertificateError,
    CertificateWatch,
    certificates_of,
    require_valid,
)
from ros2_embedded.local_links import PROTOCOL, LocalEndpoints, joining
from ros2_embedded.loopback import everything, is_loopback
from ros2_embedded.session_config import LONGEST_QUEUE, QUEUE, SessionConfigError, domain_id
from ros2_embedded.tcp_sockets import TcpSockets

LISTEN = "tcp/127.0.0.1:7447"
"""Default endpoint of a router for sessions of this user, and for those of rmw_zenoh."""
RETRY = {"period_init_ms": 100, "period_max_ms": 100, "period_increase_factor": 1.0}
"""Pause between two attempts to connect to another router."""
HANDSHAKE_S = 2.0
"""[s] limit of an attempt, which takes about `ROUND_TRIPS`.

TCP repeats lost packets at growing intervals, so with short attempts a link that is back is found sooner.
"""
ROUND_TRIPS = 5
"""Round trips that open a link; the first of them is TCP's own."""
LONGEST_HANDSHAKE_S = 3600.0
IMAGE_HZ = 1.0
"""[Hz] rate of each camera's raw images that leave the machine.

A raw image of 640x480 has 0.9 MB, and delays the messages queued after it by its time on the link.
"""
JPEG_HZ = 5.0
"""[Hz] rate of each camera's compressed images that leave the machine; one of 640x480 has about 40 kB."""
IMAGES = "*/**/sensor_msgs::msg::dds_::Image_/*"
"""Key expression of raw images: domain, name, type, hash."""
JPEGS = "*/**/sensor_msgs::msg::dds_::CompressedImage_/*"
LONG_QUEUES = ("control", "data", "background")
"""Priorities whose queues are as long as Zenoh allows.

A message is dropped if its queue is full: an image after few others, a reliable message after 1 MB that was
not sent yet. Declarations need the longest one, see `LONGEST_QUEUE`.
"""
PICTURES_LAST = [
    {
        "messages": ["put"],
        "flows": ["egress"],
        "key_exprs": [key],
        "overwrite": {"priority": priority},
    }
    for key, priority in ((IMAGES, "background"), (JPEGS, "data_low"))
]
"""Priorities on a link: other messages precede compressed images, and these precede raw images."""
OWN = "sessions of this user"
"""Name, in the access control, of the sessions that connect by a Unix socket."""


def main(argv: list[str] | None = None) -> int:
    """Run the router until SIGINT or SIGTERM; return 1 if it cannot listen, else 0."""
    parser = argparse.ArgumentParser(prog="python -m ros2_embedded.router", description="Run a Zenoh router.")
    parser.add_argument(
        "--listen", nargs="+", metavar="ENDPOINT", help=f"default: {LISTEN}, or what the configuration says"
    )
    parser.add_argument("--connect", nargs="+", default=[], metavar="ENDPOINT", help="other routers")
    parser.add_argument("--config", metavar="FILE", help="a Zenoh configuration, such as of an enclave")
    parser.add_argument(
        "--handshake-s",
        type=float,
        default=HANDSHAKE_S,
        metavar="S",
        help="for which a link may take to open; five round trips and more (default: %(default)s)",
    )
    parser.add_argument(
        "--image-hz",
        type=float,
        metavar="HZ",
        help="raw pictures of a camera that leave by TLS each second; 0: all "
        f"(default: {IMAGE_HZ:g} with --join, else all)",
    )
    parser.add_argument(
        "--jpeg-hz",
        type=float,
        metavar="HZ",
        help=f"the same of compressed pictures (default: {JPEG_HZ:g} with --join, else all)",
    )
    parser.add_argument(
        "--join",
        action="store_true",
        help="connect this user's graph of ROS_DOMAIN_ID; opens no port by itself",
    )
    args = parser.parse_args(argv)
    if not 0.0 < args.handshake_s < LONGEST_HANDSHAKE_S:
        parser.error(f"--handshake-s: a number of seconds above 0 and below {LONGEST_HANDSHAKE_S:g}")
    for option, hz in (("--image-hz", args.image_hz), ("--jpeg-hz", args.jpeg_hz)):
        if hz is not None and not 0.0 <= hz < math.inf:
            parser.error(f"{option}: a finite rate in Hz, or 0 for all")
    try:
        domain = domain_id()
    except SessionConfigError as error:
        parser.error(str(error))
    import zenoh

    try:
        own_graph = joining(domain) if args.join else contextlib.nullcontext(LocalEndpoints())
        with own_graph as local:
            config = zenoh.Config.from_file(args.config) if args.config else zenoh.Config()
            for key, value in settings(args, local, config.get_json).items():
                config.insert_json5(key, json.dumps(value))
            certificates = certificates_of(config)
            require_valid(certificates)
            session = zenoh.open(config)
    except (zenoh.ZError, OSError, CertificateError) as error:
        sys.stderr.write(f"the router cannot listen: {error}\n")
        return 1
    if not args.config:
        sys.stderr.write(warning(args.listen or ()))
    stopped = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, frame: stopped.set())
    sys.stdout.write(f"router {session.zid()} forwards, {_where(args)}\n")
    sys.stdout.flush()
    watch = CertificateWatch(certificates)
    TcpSockets(args.handshake_s / ROUND_TRIPS).keep_set_up(stopped)
    stopped.wait()
    watch.close()
    session.close()
    return 0


def warning(listen: Sequence[str]) -> str:
    """Return what is said of endpoints that others can reach although there is no configuration with TLS."""
    exposed = [endpoint for endpoint in listen if not is_loopback(endpoint)]
    if not exposed:
        return ""
    return f"warning: {exposed[0]} is not encrypted; whoever reaches it can read and command\n"


def settings(args: argparse.Namespace, local: LocalEndpoints, given: Callable[[str], str]) -> dict[str, Any]:
    """Return the settings that override the configuration, by Zenoh key.

    Args:
        args: of the command line.
        local: Unix sockets of this user's graph; empty: it is not joined.
        given: returns the value of a key of the configuration as JSON.
    """
    listen = _endpoints(given, "listen") if args.config else []
    connect = args.connect or (_endpoints(given, "connect") if args.config else [])
    listen = args.listen or listen or ([] if args.join else [LISTEN])
    chosen: dict[str, Any] = {
        "mode": "router",
        "listen/endpoints": [*listen, *local.listen],
        # The session file of an enclave also lists its own address, for further sessions of the enclave.
        "connect/endpoints": [*(one for one in connect if one not in listen), *local.connect],
        "connect/retry": RETRY,
        "transport/unicast/open_timeout": round(1e3 * args.handshake_s),
        **{f"{QUEUE}/size/{priority}": LONGEST_QUEUE for priority in LONG_QUEUES},
        "qos/network": PICTURES_LAST,
    }
    fewer = [
        {"key_expr": key, "freq": default * args.join if hz is None else hz}
        for key, hz, default in ((IMAGES, args.image_hz, IMAGE_HZ), (JPEGS, args.jpeg_hz, JPEG_HZ))
    ]
    if any(rule["freq"] > 0 for rule in fewer):
        chosen["downsampling"] = [
            {
                "id": "pictures",
                "messages": ["put"],
                "flows": ["egress"],
                "link_protocols": ["tls"],
                "rules": [rule for rule in fewer if rule["freq"] > 0],
            }
        ]
    if not args.config:
        chosen["scouting/multicast/enabled"] = False  # all peers are given by address
    elif local.listen:
        protocols = json.loads(given("transport/link/protocols"))
        if protocols is not None:
            chosen["transport/link/protocols"] = [*protocols, PROTOCOL]
        access = json.loads(given("access_control"))
        if access["enabled"]:
            chosen["access_control"] = _with_own(access)
    return chosen


def _endpoints(given: Callable[[str], str], what: str) -> list[str]:
    """Return the endpoints of a configuration; where they differ by mode, those of a router."""
    found = json.loads(given(f"{what}/endpoints"))
    return list(found.get("router", []) if isinstance(found, dict) else found or [])


def _with_own(access: dict[str, Any]) -> dict[str, Any]:
    """Return the access control of a configuration with all rights for the sessions of this user added.

    Their rights on other machines are checked by the next router, by the certificate of this one.
    """
    return {
        **access,
        "rules": [*access["rules"], everything(OWN)],
        "subjects": [*access["subjects"], {"id": OWN, "link_protocols": [PROTOCOL]}],
        "policies": [*access["policies"], {"rules": [OWN], "subjects": [OWN]}],
    }


def _where(args: argparse.Namespace) -> str:
    """Return a description of who can connect."""
    places = [*(args.listen or ()), *([args.config] if args.config else [])] or (
        [] if args.join else [LISTEN]
    )
    return f"on {', '.join(places)}" + ", and this user's graph is in it" * args.join


if __name__ == "__main__":
    sys.exit(main())
