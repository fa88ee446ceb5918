"""Settings of a process for receiving messages in one thread and using them in another."""

from __future__ import annotations

import ctypes
import os
import sys

# Parameters of `mallopt` in glibc's malloc.h. Setting one disables the adaptation of both, so both are set.
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
TRIM_THRESHOLD_BYTES = 64 << 20
MMAP_THRESHOLD_BYTES = 32 << 20  # the largest value in glibc, and the limit of its adaptive value
SWITCH_INTERVAL_S = 0.001


def keep_big_buffers() -> bool:
    """Make the C library keep the memory of large messages for the next one; return whether it was set.

    glibc returns a free block at the top of its heap to the kernel if it is larger than twice the largest
    block freed so far. An image of 0.9 MB has two or three buffers on its path, which is just above that.
    Each message's memory would be mapped, cleared and faulted in again, page by page, which takes longer than
    all copies (measured: 0.9 ms of 1.1 ms for each 640x480 image).

    Nothing is set where the user chose values (`MALLOC_*_`, `GLIBC_TUNABLES`) or the C library is not glibc.
    """
    chosen = ("MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_", "GLIBC_TUNABLES")
    library = ctypes.CDLL(None)
    if any(name in os.environ for name in chosen) or not hasattr(library, "gnu_get_libc_version"):
        return False
    trim = library.mallopt(_M_TRIM_THRESHOLD, TRIM_THRESHOLD_BYTES)
    return bool(trim and library.mallopt(_M_MMAP_THRESHOLD, MMAP_THRESHOLD_BYTES))


def hand_over_sooner() -> None:
    """Reduce the interpreter's switch interval to 1 ms, unless the program set a shorter one.

    By default callbacks hold the interpreter for 5 ms at a time, and between them the receiving thread of
    Zenoh takes only one message, while the sender waits. Images then arrived at half the rate.
    """
    sys.setswitchinterval(min(sys.getswitchinterval(), SWITCH_INTERVAL_S))
