"""The first code that runs in a sidecar's interpreter: it sees to the end of the process, then becomes the server.

    python -m openral_sidecar.bootstrap [--with-parent] <module> <arguments of the module>

A guard process is forked before anything heavy is imported. It shares the server's process group and kills that group,
which is the server and whatever the server has started, once the server ends or, with `--with-parent`, once the parent
does: the parent holds the other end of standard input and never writes to it, so that its end, a SIGKILL included, is
an end of file here. The guard does no work and so cannot hang, whatever state the server is in. On Linux the kernel
kills the server by itself as well.
"""

from __future__ import annotations

import contextlib
import ctypes
import logging
import os
import runpy
import select
import signal
import sys
import time

from openral_core.errors import OpenralError
from openral_sidecar.server_announcement import forget, is_alive

LOOK_S = 0.2
"""How often the guard looks at processes; the end of file wakes it at once."""
PATIENCE_S = 2.0
"""For the kernel to end a killed server; its files are removed then in any case."""
PR_SET_PDEATHSIG = 1
"""prctl(2)"""


def main() -> None:
    """Run the module that the command line names, guarded."""
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
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    except OpenralError as error:
        sys.exit(f"error: {error}")


def guard(parent: int | None) -> None:
    """Fork the guard of this process. `parent`: the process with which it must end as well."""
    if os.getpgrp() != os.getpid():
        os.setpgid(0, 0)  # started by hand; the guard must not kill a shell's group
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
    """Kill the server and remove what it kept beside its port, as it does itself where it is given the time."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(server, signal.SIGKILL)
    until = time.monotonic() + PATIENCE_S
    while is_alive(server) and time.monotonic() < until:
        time.sleep(0.01)
    with contextlib.suppress(OSError):  # `openral sidecar clean` finds what is left
        forget(server)


if __name__ == "__main__":
    main()
