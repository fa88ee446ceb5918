"""Atomic writing of weights files, which reports faults of the disk as OSError."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from openral_core.files.atomic import replaced_file

_OS_ERROR = re.compile(r"\(os error (\d+)\)")
"""How the safetensors library, which has no error of a disk of its own, tells of one."""


@contextmanager
def replaced_weights(path: Path) -> Iterator[Path]:
    """Yield a new file that takes the place of `path`, to be written by `save_file` of safetensors.

    Args:
        path: the file to make or to replace; its folder exists.

    Raises:
        OSError: it cannot be written; what was at `path` is still there.
    """
    from safetensors import SafetensorError

    try:
        with replaced_file(path) as partial:
            yield partial
    except SafetensorError as error:
        if told := _OS_ERROR.search(str(error)):
            number = int(told[1])
            raise OSError(number, os.strerror(number), str(path)) from error
        raise
