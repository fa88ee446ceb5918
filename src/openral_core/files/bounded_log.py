"""A bound on the size of a log that a process writes through a descriptor which it holds open.

The writer cannot be told to open another file, so the text is moved to a file beside the log and the log is truncated.
It must be open for appending, as the next line otherwise leaves a hole in the place of the moved text. What the writer
writes in the microseconds between the end of the copy and the truncation is lost. It uses the standard library only.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import threading
from pathlib import Path

from openral_core.files.atomic import replaced_file

LOG_LIMIT = 16 * 2**20
"""[bytes] size above which a log's text is moved; log and moved text together stay below twice that, and what is
written between two looks."""
LOOK_S = 1.0
"""[s] between two looks at a log's size."""


def earlier_log(log: Path) -> Path:
    """Return the file to which the text of a log is moved; the next text that is moved replaces it."""
    return log.with_name(f"{log.name}.1")


def log_text(log: Path) -> str:
    r"""Return all text of a log that was kept, the moved text first, with line ends as `\n`; empty: there is none."""
    text = b""
    for path in (earlier_log(log), log):
        with contextlib.suppress(OSError):
            text += path.read_bytes()
    return text.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")


def move_when_long(log: Path, limit: int | None = None) -> bool:
    """Move a log's text to `earlier_log` if it is longer than `limit`; return whether it was moved.

    Args:
        log: the log; its writers append to it.
        limit: [bytes]; None: LOG_LIMIT.

    Raises:
        OSError: it cannot be moved; the log is as it was.
    """
    if log.stat().st_size <= (LOG_LIMIT if limit is None else limit):
        return False
    with log.open("r+b") as text:
        with replaced_file(earlier_log(log)) as path, path.open("wb") as moved:
            shutil.copyfileobj(text, moved)
        with earlier_log(log).open("ab", buffering=0) as moved:
            while late := text.read():  # what was written during the copy
                moved.write(late)
            os.ftruncate(text.fileno(), 0)
    return True


def keep_bounded(log: Path) -> None:
    """Start a thread that bounds the size of a log until this process ends."""
    threading.Thread(target=_keep_bounded, args=(log,), name=f"bound of {log.name}", daemon=True).start()


def _keep_bounded(log: Path) -> None:
    never = threading.Event()
    while not never.wait(LOOK_S):
        with contextlib.suppress(OSError):  # such as a full disk, where the log cannot grow either
            move_when_long(log)
