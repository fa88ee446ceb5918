"""The rows of a run in its folder, one JSON line each, which one process at a time writes and a resumed run reads."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO

from openral_benchmark.run_identity import RunIdentity, require_same
from openral_core.errors import ManifestError
from openral_core.files.atomic import write_atomically
from openral_core.files.output_folder import make_private

FILE_NAME = "rows.jsonl"


class RunLock:
    """Holds the lock of a folder until `release`; the kernel releases it when the process ends in any way."""

    def __init__(self, folder: Path) -> None:
        """Acquire the lock of a folder that exists.

        Raises:
            ManifestError: another process holds it.
        """
        self._folder = os.open(folder, os.O_RDONLY)
        try:
            fcntl.flock(self._folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            self.release()
            raise ManifestError(
                f"{folder}: another process runs episodes into this folder; wait for it or end it, or name another "
                "--out"
            ) from error
        except OSError:
            return  # a file system without locks

    def release(self) -> None:
        """Release the lock; called once."""
        os.close(self._folder)


class RowLog:
    """Appends lines to `rows.jsonl`, of which the first says whose rows they are; each part is written to the disk."""

    def __init__(
        self, folder: Path, identity: RunIdentity, *, resume: bool, whole: Callable[[list[str]], int] = len
    ) -> None:
        """Open the log, and hold the lock of its folder until `close`.

        Args:
            folder: of the run, made if need be.
            identity: what decides the rows.
            resume: whether to continue a run whose rows are in the folder.
            whole: called with the lines that are there, without the first; returns how many of them, from the
                beginning, are of finished work. The others are dropped from the file.

        Raises:
            ManifestError: there are rows already and `resume` is False, or they are of another run; or another process
                writes them; or a line that was written whole is none of JSON.
        """
        self._missing = [path for path in (folder, *folder.parents) if not path.exists()]
        make_private(folder)  # videos in it show what cameras saw
        self._path = folder / FILE_NAME
        self._lock = RunLock(folder)
        try:
            self._open(identity, resume, whole)
        except BaseException:
            self._lock.release()
            raise

    def add(self, lines: Sequence[Mapping[str, object]]) -> None:
        """Append lines; they are on the disk when it returns."""
        self._is_empty = False
        self._file.write("".join(f"{_text(line)}\n" for line in lines))
        self._file.flush()
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """Close the file; called once. One without rows is removed, with the folders made for it.

        So a run that is refused after its log was opened does not block the next one.
        """
        self._file.close()
        if self._is_empty:
            self._path.unlink(missing_ok=True)
            for folder in self._missing:
                with contextlib.suppress(OSError):  # something else lies in it
                    folder.rmdir()
        self._lock.release()

    def _open(self, identity: RunIdentity, resume: bool, whole: Callable[[list[str]], int]) -> None:
        path, lines = self._path, list[str]()
        if path.exists() and path.stat().st_size:
            if not resume:
                raise ManifestError(f"{path}: there are rows already; add --resume, or name another --out")
            lines = self._read(identity)
        kept = lines[: whole(lines)]
        self._is_empty = not kept
        text = "".join(f"{line}\n" for line in (_text({"identity": identity}), *kept))
        write_atomically(path, text, durable=True)
        self._file: IO[str] = path.open("a", encoding="utf-8")

    def _read(self, identity: RunIdentity) -> list[str]:
        """Return the lines after the first, without a last one that a kill cut off.

        Every other line was written whole, so one that cannot be read was damaged later. It is not dropped: the rows
        after it would be dropped with it.
        """
        lines: list[str] = []
        # Bytes, since a kill may cut a character in two; only "\n" ends a line, since words may hold other breaks.
        parts = self._path.read_bytes().split(b"\n")
        for number, raw in enumerate(parts, 1):
            try:
                line = raw.decode()
                fields = json.loads(line)
            except ValueError as error:
                if number == len(parts):  # without a line end
                    break
                raise ManifestError(
                    f"{self._path}:{number}: is damaged ({error}); copy the file back, or name another --out"
                ) from error
            if number == 1:
                said = fields.get("identity") if isinstance(fields, Mapping) else None
                require_same(self._path, said, identity)
            else:
                lines.append(line)
        return lines


def _text(line: Mapping[str, object]) -> str:
    return json.dumps(line, ensure_ascii=False)
