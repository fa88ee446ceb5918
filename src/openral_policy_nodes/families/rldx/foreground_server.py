"""Starts an RLDX-1 server in the foreground, for machines that keep one running, and to see its output."""

from __future__ import annotations

import argparse
import os
import socket
import sys
from collections.abc import Sequence
from pathlib import Path

from openral_core.errors import OpenralError, SidecarError
from openral_policy_nodes.families.rldx.arguments import rldx_parser
from openral_policy_nodes.families.rldx.options import DEFAULT_PORT, interpreter_from
from openral_rskill.license import check_checkpoint_license
from openral_sidecar.environment.build import ensure_environment
from openral_sidecar.environment.code_links import bundle_for
from openral_sidecar.environment.spec import SidecarSpec


def run_by_hand(spec: SidecarSpec, words: Sequence[str]) -> int:
    """Check the licence, build the environment if it is missing, and replace this process by the server.

    Args:
        spec: of the sidecar.
        words: command-line arguments; see `rldx_parser`.

    Returns:
        1 after an error, which is written to standard error; without one the function does not return.
    """
    parser = rldx_parser("Start an RLDX-1 server by hand, for openral with OPENRAL_RLDX_AUTO_SPAWN=0.")
    parser.add_argument(
        "--source", type=Path, help="folder with upstream's repository, instead of the pinned commit"
    )
    parser.set_defaults(port=DEFAULT_PORT)
    args = parser.parse_args(words)
    try:
        check_checkpoint_license(str(args.checkpoint or args.model))
        _refuse_taken(args)
        spec = spec.with_source(args.source)
        python = (None if args.source else interpreter_from()) or ensure_environment(spec, progress=_say)
    except OpenralError as error:
        _say(f"error: {error}")
        return 1
    command = [
        str(python),
        "-m",
        spec.module,
        *_without_source(words),
        "--spec",
        f"{spec.name}@{spec.digest}",
    ]
    if not any(word.split("=")[0] == "--port" for word in words):
        command += ["--port", str(args.port)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1", **spec.environment}
    os.execve(python, command, {**environment, "PYTHONPATH": str(bundle_for(spec.module))})


def _refuse_taken(args: argparse.Namespace) -> None:
    """Raise SidecarError if the port is in use, since the server binds it only after minutes of loading."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((args.host, args.port))
        except OSError as error:
            raise SidecarError(f"{args.host}:{args.port}: {error.strerror}; name another --port") from error


def _without_source(words: Sequence[str]) -> list[str]:
    """Return the arguments without `--source`, which the server does not have."""
    kept = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    kept.add_argument("--source")
    return kept.parse_known_args(list(words))[1]


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")
