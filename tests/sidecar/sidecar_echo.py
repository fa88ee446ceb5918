"""A sidecar for tests: it sends back what comes, and misbehaves when asked to.

It runs as a program, so that what is tested is what runs: a process, a socket, files.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from openral_sidecar.errors import SidecarRefused
from openral_sidecar.identity import Identity
from openral_sidecar.server import serve, server_arguments, server_options


def refuse(data: dict[str, Any]) -> dict[str, Any]:
    raise SidecarRefused("picture", "no picture; send one")


def sleep(data: dict[str, Any]) -> dict[str, Any]:
    time.sleep(data["seconds"])
    return {}


def spawn(data: dict[str, Any]) -> dict[str, Any]:
    """Start a process of our own, as a simulator or a compiler would."""
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    return {"pid": child.pid}


def echo_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", default="echo")
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--die-at-start", action="store_true")
    server_arguments(parser)
    return parser


def main() -> None:
    args = echo_parser().parse_args()
    if args.die_at_start:
        sys.exit("RuntimeError: no such checkpoint")
    handlers = {
        "echo": lambda data: data,
        "fail": lambda data: {"never": 1 / 0},
        "die": lambda data: os._exit(3),
        "large": lambda data: {"bytes": bytes(data["size"])},
        "environment": lambda data: dict(os.environ),
        "refuse": refuse,
        "sleep": sleep,
        "spawn": spawn,
    }
    serve(handlers, Identity(args.model), server_options(args), describe=lambda: {"pid": os.getpid()})


if __name__ == "__main__":
    main()
