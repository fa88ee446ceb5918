"""Entry point of a sidecar's interpreter: it starts a guard that ends the process reliably, then runs the server.

    python -m openral_sidecar.bootstrap [--with-parent] <module> <arguments of the module>

A guard process is forked before anything heavy is imported. It shares the server's process group and kills that group,
which is the server and whatever the server has started, once the server ends or, with `--with-parent`, once the parent
does. The parent holds the other end of standard input and never writes to it, so that the parent's end, even by
SIGKILL, is an end of file here. The guard does no other work, so that it cannot hang, whatever the state of the server.
On Linux the kernel kills the server as well.

A thread of the server bounds the size of the file that `--log-file` names, to which the server's output goes.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import logging
import os
import runpy
import select
import signal
import sys
import time
from pathlib import Path

from openral_core.errors import OpenralError
from openral_core.files.bounded_log import keep_bounded
from openral_sidecar.server_announcement import forget, is_alive

LOOK_S = 0.2
"""[s] between two checks of the processes by the guard; an end of file wakes it immediately."""
PATIENCE_S = 2.0
"""[s] to wait for the end of a killed server, before its files are removed."""
PR_SET_PDEATHSIG = 1
"""Option of prctl(2)."""


def main() -> None:
    """Run the module that the command line names, with a guard."""
    arguments = sys.argv[1:]
    with_parent = arguments[0] == "--with-parent"
    module, *rest = arguments[with_parent:]
    guard(os.getppid() if with_parent else None)
    if with_parent and sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    if (
        sys.path[0] == os.getcwd()
    ):  # `python -m` puts it there; a file named like a library must not shadow it
        del sys.path[0]
    sys.argv = [module, *rest]
    options = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    options.add_argument("--log-file", type=Path)
    if (log := options.parse_known_args(rest)[0].log_file) is not None:
        keep_bounded(log)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    except OpenralError as error:
        sys.exit(f"error: {error}")


def guard(parent: int | None) -> None:
    """Fork the guard of this process.

    Args:
        parent: id of the process with which this one must end as well; None: there is none.
    """
    if os.getpgrp() != os.getpid():
        os.setpgid(0, 0)  # when started by hand, so that the guard does not kill the shell's group
    server = os.getpid()
    if os.fork():
        return
    for name in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(name, signal.SIG_IGN)
    watched = [0] if parent is not None else []
    while os.getppid() == server and (parent is None or is_alive(parent)):
        if select.select(watched, [], [], LOOK_S)[0] and not os.read(0, 1):
            break
    try:
        _remove_files(server)
    finally:
        os.killpg(0, signal.SIGKILL)


def _remove_files(server: int) -> None:
    """Kill the server and remove its identity file, socket and token, as it does itself on a regular end."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(server, signal.SIGKILL)
    until = time.monotonic() + PATIENCE_S
    while is_alive(server) and time.monotonic() < until:
        time.sleep(0.01)
    with contextlib.suppress(OSError):  # `openral sidecar prune` removes what is left
        forget(server)


if __name__ == "__main__":
    main()
