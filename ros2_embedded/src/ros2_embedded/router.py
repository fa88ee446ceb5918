"""A Zenoh router: a place where sessions of several machines, or of another ROS 2, meet.

    python -m ros2_embedded.router
    python -m ros2_embedded.router --listen tcp/10.0.0.1:7447 --config keystore/enclaves/router/session.json5

It listens on loopback unless it is told otherwise. Whoever can connect to it is in the graph, so elsewhere a
configuration with TLS belongs to it (docs/security.md). It forwards what sessions say, and knows no ROS.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
import threading

LISTEN = "tcp/127.0.0.1:7447"
"""Where sessions of this user look for a router by default, and those of rmw_zenoh."""
LOOPBACK = ("tcp/127.", "tcp/localhost:", "tcp/[::1]:", "unixsock-stream/")


def main(argv: list[str] | None = None) -> int:
    """Forward until SIGINT or SIGTERM; 1 where it cannot listen."""
    parser = argparse.ArgumentParser(prog="python -m ros2_embedded.router", description="Run a Zenoh router.")
    parser.add_argument(
        "--listen", nargs="+", metavar="ENDPOINT", help=f"default: {LISTEN}, or what the configuration says"
    )
    parser.add_argument("--connect", nargs="+", default=[], metavar="ENDPOINT", help="other routers")
    parser.add_argument("--config", metavar="FILE", help="a Zenoh configuration, such as of an enclave")
    args = parser.parse_args(argv)
    import zenoh

    try:
        config = zenoh.Config.from_file(args.config) if args.config else zenoh.Config()
        config.insert_json5("mode", '"router"')
        listen = args.listen or (None if args.config else [LISTEN])
        if listen:
            config.insert_json5("listen/endpoints", json.dumps(listen))
        if args.connect:
            config.insert_json5("connect/endpoints", json.dumps(args.connect))
        if not args.config:  # whoever is to be found is named
            config.insert_json5("scouting/multicast/enabled", "false")
        session = zenoh.open(config)
    except zenoh.ZError as error:
        sys.stderr.write(f"the router cannot listen: {error}\n")
        return 1
    exposed = [one for one in listen or () if not args.config and not one.startswith(LOOPBACK)]
    if exposed:
        sys.stderr.write(f"warning: {exposed[0]} is not encrypted; whoever reaches it can read and command\n")
    stopped = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, frame: stopped.set())
    sys.stdout.write(f"router {session.zid()} forwards, on {', '.join(listen) if listen else args.config}\n")
    sys.stdout.flush()
    stopped.wait()
    session.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
