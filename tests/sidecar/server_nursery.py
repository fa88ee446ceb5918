"""Forks servers from one process that has imported everything, torch too, so that a test can start very many.

    python server_nursery.py

Lines on standard input, an answer to each on standard output:

    start <kind> <file>     fork a server, whose output goes to the file; answers its process id
    masked <kind> <file>    the same, with SIGTERM blocked in the main thread: the kernel gives it to another one
    wait <pid> <seconds>    answers its exit status as Python counts it, or `lost` when it has not ended, and kills it
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import sidecar_echo
import torch  # noqa: F401  (a server of RLDX imports it when it begins: two seconds each time)

from openral_policy_nodes.families.external import fake_server
from openral_policy_nodes.families.rldx import conformance_server
from openral_policy_nodes.families.rldx import server as rldx_server

UPSTREAM = Path(__file__).parents[1] / "policy_nodes" / "rldx" / "upstream"
RLDX = ["--model", "RLWRLD/RLDX-1-FT-LIBERO", "--device", "cpu"]
SERVERS: dict[str, tuple[Callable[[], object], list[str]]] = {
    "echo": (sidecar_echo.main, []),
    "rldx": (rldx_server.main, RLDX),
    "conformance": (conformance_server.main, RLDX),
    "fake": (fake_server.main, ["--action", "0", "0", "0", "1"]),
}


def become(kind: str, file: str, masked: bool) -> None:
    """Run a server in a process that was just forked; does not return."""
    output = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(output, 1)
    os.dup2(output, 2)
    if masked:
        threading.Thread(target=threading.Event().wait, daemon=True).start()
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    main, arguments = SERVERS[kind]
    sys.argv = [kind, *arguments]
    code = 1
    try:
        main()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    finally:
        sys.stdout.flush()
        os._exit(code)


def fate(pid: int, patience_s: float) -> str:
    """Return how a child ended; `lost` when it did not, and kill it."""
    until = time.monotonic() + patience_s
    while time.monotonic() < until:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            return str(os.waitstatus_to_exitcode(status))
        time.sleep(0.002)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return "lost"


def main() -> None:
    for line in sys.stdin:
        verb, what, more = line.rstrip("\n").split(" ", 2)
        if verb == "wait":
            answer = fate(int(what), float(more))
        else:
            pid = os.fork()
            if pid == 0:
                become(what, more, verb == "masked")
            answer = str(pid)
        sys.stdout.write(f"{answer}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    sys.path.insert(0, str(UPSTREAM))
    main()
