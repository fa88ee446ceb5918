"""The log of a run's rows, one JSON line each, from which a killed run can be resumed."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO

from pydantic import TypeAdapter, ValidationError

from openral_benchmark.run_identity import RunIdentity, require_same
from openral_benchmark.run_lock import RunLock
from openral_core.errors import ManifestError
from openral_core.files.atomic import write_atomically
from openral_core.files.output_folder import make_private
from openral_sim_bridge.rollout import EpisodeRow

FILE_NAME = "rows.jsonl"
_ROW = TypeAdapter(EpisodeRow)


@dataclass(frozen=True)
class EpisodeEntry:
    """One episode: its block, its row, and the error for which it has no result (empty: it has one)."""

    block: int
    row: EpisodeRow
    error: str = ""


class EpisodeLog:
    """Appends complete blocks to `rows.jsonl`; each is written to the disk before the next."""

    def __init__(self, folder: Path, identity: RunIdentity, *, resume: bool) -> None:
        """Open the folder of a run.

        Args:
            folder: of the run, made if need be; rows go into its `rows.jsonl`.
            identity: what decides the rows.
            resume: whether to continue a run whose rows are in the folder.

        Raises:
            ManifestError: there are rows already and `resume` is False, or they are of another run; or another process
                writes them.
        """
        self._missing = [path for path in (folder, *folder.parents) if not path.exists()]
        make_private(folder)  # videos in it show what cameras saw
        self._path = folder / FILE_NAME
        self.entries: list[EpisodeEntry] = []
        self._lock = RunLock(folder)
        try:
            self._open(identity, resume)
        except BaseException:
            self._lock.release()
            raise

    def _open(self, identity: RunIdentity, resume: bool) -> None:
        if self._path.exists() and self._path.stat().st_size:
            if not resume:
                raise ManifestError(
                    f"{self._path}: there are rows already; add --resume, or name another --out"
                )
            self._read(identity)
        self._is_new = not self._path.exists()
        self._file: IO[str] = self._path.open("a", encoding="utf-8")
        if not self._file.tell():
            self._write([{"identity": identity}])

    @property
    def done(self) -> set[int]:
        """Numbers of the blocks in the log."""
        return {entry.block for entry in self.entries}

    def add(self, entries: list[EpisodeEntry]) -> None:
        """Add the episodes of one block."""
        self._write([{"block": e.block, "error": e.error, **asdict(e.row)} for e in entries], end=True)
        self.entries += entries

    def close(self) -> None:
        """Close the file; called once. A new file without a block is removed, with the folders made for it."""
        self._file.close()
        if self._is_new and not self.entries:
            self._path.unlink(missing_ok=True)
            for folder in self._missing:
                with contextlib.suppress(OSError):  # something else lies in it
                    folder.rmdir()
        self._lock.release()

    def _write(self, lines: Sequence[Mapping[str, object]], *, end: bool = False) -> None:
        texts = [json.dumps(line, ensure_ascii=False) for line in lines]
        if end:
            texts.append(json.dumps({"complete": lines[0]["block"]}))
        self._file.write("".join(f"{text}\n" for text in texts))
        self._file.flush()
        os.fsync(self._file.fileno())

    def _read(self, identity: RunIdentity) -> None:
        """Read the complete blocks; drop an incomplete last one from the file, which a kill leaves."""
        kept: list[str] = []
        pending: list[tuple[str, EpisodeEntry]] = []
        # Bytes, since a kill may cut a character in two; only "\n" ends a line, since words may hold other breaks.
        for number, raw in enumerate(self._path.read_bytes().split(b"\n")):
            try:
                line = raw.decode()
                fields = json.loads(line)
            except ValueError:
                break
            if number == 0:
                require_same(self._path, fields.get("identity"), identity)
                kept.append(line)
            elif "complete" in fields:
                kept += [*(text for text, _ in pending), line]
                self.entries += [entry for _, entry in pending]
                pending = []
            else:
                pending.append((line, self._entry(number, line)))
        write_atomically(self._path, "".join(f"{line}\n" for line in kept), durable=True)

    def _entry(self, number: int, line: str) -> EpisodeEntry:
        try:
            fields = json.loads(line)
            return EpisodeEntry(
                int(fields["block"]), _ROW.validate_json(line, strict=True), str(fields["error"])
            )
        except (KeyError, TypeError, ValueError) as error:
            why = error.errors()[0]["loc"][0] if isinstance(error, ValidationError) else error
            raise ManifestError(
                f"{self._path}:{number + 1}: is no row of a run ({why}); copy the file back, or name another --out"
            ) from error
