"""A long, thin cable between two network namespaces: `thin_cable.py NAMESPACE INTERFACE NAMESPACE INTERFACE`.

It makes a TUN interface in each namespace and carries IP packets between them, each direction by itself: so
many bytes a second, a delay that is drawn anew every 0.2 s, and packets that are lost. Packets keep their
order; what does not fit into the queue before the cable is lost. A line `cut` on the standard input loses all
packets until a line `mend`.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import fcntl
import os
import random
import select
import struct
import sys
import time
from collections import deque

CLONE_NEWNET = 0x40000000
TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 0x0001, 0x1000
MOST_BYTES = 65536
DRAW_S = 0.2


def open_tun(namespace: str, interface: str) -> int:
    """Make a TUN interface in a network namespace, and return its file descriptor."""
    libc = ctypes.CDLL(None, use_errno=True)
    home = os.open("/proc/self/ns/net", os.O_RDONLY)
    there = os.open(f"/var/run/netns/{namespace}", os.O_RDONLY)
    if libc.setns(there, CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), f"cannot enter {namespace}")
    tun = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(tun, TUNSETIFF, struct.pack("16sH22x", interface.encode(), IFF_TUN | IFF_NO_PI))
    if libc.setns(home, CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "cannot come back")
    os.close(there)
    os.close(home)
    return tun


class Direction:
    """From one end to the other."""

    def __init__(self, source: int, target: int, args: argparse.Namespace, seed: int) -> None:
        self.source, self._target, self._args = source, target, args
        self._random = random.Random(seed)
        self._waiting: deque[tuple[float, bytes]] = deque()
        self._free_s = self._drawn_s = self._last_s = 0.0
        self._delay_s = args.delay_s
        self.carried = 0
        """Bytes that came to the other end."""

    def take(self, now: float, whole: bool) -> None:
        """Take what the source end sends; lose it where the cable is cut."""
        while True:
            try:
                packet = os.read(self.source, MOST_BYTES)
            except BlockingIOError:
                return
            args = self._args
            queued_s = max(0.0, self._free_s - now)
            full = queued_s * args.bytes_s > args.queue_bytes
            if not whole or full or self._random.random() < args.loss:
                continue
            if now - self._drawn_s > DRAW_S:
                self._drawn_s = now
                self._delay_s = args.delay_s + self._random.uniform(-1, 1) * args.jitter_s
            self._free_s = max(now, self._free_s) + len(packet) / args.bytes_s
            self._last_s = max(self._last_s, self._free_s + self._delay_s)
            self._waiting.append((self._last_s, packet))

    def deliver(self, now: float) -> float:
        """Hand over what is due; return for how long nothing else is [s]."""
        while self._waiting and self._waiting[0][0] <= now:
            packet = self._waiting.popleft()[1]
            self.carried += len(packet)
            with contextlib.suppress(OSError):  # the interface is not up yet
                os.write(self._target, packet)
        return self._waiting[0][0] - now if self._waiting else 1.0

    def cut(self) -> None:
        """Lose what is on its way."""
        self._waiting.clear()


def main() -> None:
    """Carry packets until the standard input ends."""
    parser = argparse.ArgumentParser()
    parser.add_argument("ends", nargs=4)
    parser.add_argument("--delay-s", type=float, default=0.15)
    parser.add_argument("--jitter-s", type=float, default=0.05)
    parser.add_argument("--loss", type=float, default=0.01)
    parser.add_argument("--bytes-s", type=float, default=1e6)
    parser.add_argument("--queue-bytes", type=float, default=2e5)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    one, other = (open_tun(*args.ends[index : index + 2]) for index in (0, 2))
    directions = [Direction(one, other, args, args.seed), Direction(other, one, args, args.seed + 1)]
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    whole, wait_s = True, 0.0
    while True:
        ready, _, _ = select.select([0, one, other], [], [], max(0.0, wait_s))
        if 0 in ready:
            line = os.read(0, 100).decode().strip()
            if not line:
                return
            if line == "carried":
                sys.stdout.write(" ".join(str(each.carried) for each in directions) + "\n")
            else:
                whole = line == "mend"
                for each in directions:
                    each.cut()
                sys.stdout.write(f"{line}\n")
            sys.stdout.flush()
        now = time.monotonic()
        for each in directions:
            if each.source in ready:
                each.take(now, whole)
        wait_s = min(each.deliver(time.monotonic()) for each in directions)


if __name__ == "__main__":
    main()
