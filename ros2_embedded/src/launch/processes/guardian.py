"""The program that outlives a launch for a moment, and the search for what a launch started.

Run as `python guardian.py TOKEN GRACE`, it reads lines from stdin: `PID`, the leader of a session that the
launch started, and `-PID`, one whose session is empty. At the end of input, which comes when the launch ends
or is killed, it stops all that is left, with SIGINT, SIGTERM and SIGKILL, GRACE seconds apart, and ends. It
imports nothing but the standard library, to start fast.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

TAG_VARIABLE = "ROS_LAUNCH_PROCESS_TAG"
"""Environment variable that marks a process, and what it starts, as belonging to a launch:
`<token>/<number>`."""


def find_members(leaders: set[int], tag: str) -> set[int]:
    """Return the ids of living processes in the sessions of `leaders` or marked with a tag that starts with
    `tag`.

    Where there is no /proc (macOS), only process groups led by `leaders` are found.
    """
    if not os.path.isdir("/proc/self"):
        return _find_by_group(leaders)
    mark = f"{TAG_VARIABLE}={tag}".encode()
    found = set()
    for entry in os.listdir("/proc"):
        if entry.isdigit() and _belongs(int(entry), leaders, mark):
            found.add(int(entry))
    return found - {os.getpid()}


def _belongs(pid: int, leaders: set[int], mark: bytes) -> bool:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            # After the name, which is in parentheses and may hold anything: state, parent, group, session.
            state, _, _, session = file.read().rpartition(b")")[2].split()[:4]
        if state in (b"Z", b"X"):
            return False
        if int(session) in leaders:
            return True
        with open(f"/proc/{pid}/environ", "rb") as file:
            return any(item.startswith(mark) for item in file.read().split(b"\0"))
    except (OSError, ValueError):
        return False  # it has gone meanwhile, or belongs to somebody else


def _find_by_group(leaders: set[int]) -> set[int]:
    listing = subprocess.run(
        ["ps", "-axo", "pid=,pgid=,stat="], capture_output=True, text=True, check=False
    ).stdout
    rows = (line.split() for line in listing.splitlines())
    return {int(pid) for pid, group, state in rows if int(group) in leaders and not state.startswith("Z")}


def send_signal(pids: set[int], number: int) -> None:
    """Send a signal to each process that is still there."""
    for pid in pids:
        try:
            os.kill(pid, number)
        except (ProcessLookupError, PermissionError):
            continue  # gone, or changed its user: not ours to stop


def sweep(leaders: set[int], tag: str, grace: float) -> None:
    """Stop all members, `grace` seconds [s] for each of SIGINT, SIGTERM and SIGKILL."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
        deadline = time.monotonic() + grace
        send_signal(find_members(leaders, tag), number)
        while left := find_members(leaders, tag):
            if number == signal.SIGKILL:
                send_signal(left, number)  # one of them may have started another process meanwhile
            if time.monotonic() > deadline:
                break
            time.sleep(0.02)
        else:
            return


def main(argv: list[str]) -> int:
    """Follow the launch until it ends, then sweep."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    leaders: set[int] = set()
    for line in sys.stdin:
        pid = int(line)
        if pid > 0:
            leaders.add(pid)
        else:
            leaders.discard(-pid)
    sweep(leaders, f"{argv[1]}/", float(argv[2]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
