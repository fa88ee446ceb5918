"""What a process that receives messages in one thread and uses them in another wants of its surroundings."""

from __future__ import annotations

import ctypes
import os
import sys

# Numbers of `mallopt` in glibc's malloc.h. Setting one switches the adaptive values off, so both are set.
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
TRIM_THRESHOLD_BYTES = 64 << 20
MMAP_THRESHOLD_BYTES = 32 << 20  # the most glibc allows, and where its adaptive value ends
SWITCH_INTERVAL_S = 0.001


def keep_big_buffers() -> bool:
    """Let the C library keep the memory of big messages for the next one; returns whether it was done.

    glibc gives a free block at the top of its heap back to the kernel when it is larger than twice the
    largest block freed so far. An image of 0.9 MB lives in two or three buffers on its way, which is just
    above that: each message would have its memory mapped, cleared and faulted in anew, page by page, which
    takes longer than all the copying (measured: 0.9 ms of 1.1 ms for each 640x480 image).

    Nothing is done where the user chose values (`MALLOC_*_`, `GLIBC_TUNABLES`) or the C library is not glibc.
    """
    chosen = ("MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_", "GLIBC_TUNABLES")
    library = ctypes.CDLL(None)
    if any(name in os.environ for name in chosen) or not hasattr(library, "gnu_get_libc_version"):
        return False
    trim = library.mallopt(_M_TRIM_THRESHOLD, TRIM_THRESHOLD_BYTES)
    return bool(trim and library.mallopt(_M_MMAP_THRESHOLD, MMAP_THRESHOLD_BYTES))


def hand_over_sooner() -> None:
    """Let a thread of Zenoh have the interpreter 1 ms after it asked, unless the program chose less.

    While callbacks use up what came, they hold the interpreter for 5 ms at a time by default, and the thread
    that receives gets in one message between. Meanwhile the sender waits: images came half as fast.
    """
    sys.setswitchinterval(min(sys.getswitchinterval(), SWITCH_INTERVAL_S))
