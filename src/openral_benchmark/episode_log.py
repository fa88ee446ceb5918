"""The log of a run's episodes, from which a killed run can be resumed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from openral_benchmark.row_log import FILE_NAME, RowLog
from openral_benchmark.run_identity import RunIdentity
from openral_core.errors import ManifestError
from openral_sim_bridge.rollout import EpisodeRow

_ROW = TypeAdapter(EpisodeRow)


@dataclass(frozen=True)
class EpisodeEntry:
    """One episode: its block, its row, and the error for which it has no result (empty: it has one)."""

    block: int
    row: EpisodeRow
    error: str = ""


class EpisodeLog:
    """Appends complete blocks to the run's `RowLog`."""

    def __init__(self, folder: Path, identity: RunIdentity, *, resume: bool) -> None:
        """Open the folder of a run. Arguments and errors are those of `RowLog`.

        Raises:
            ManifestError: besides, if a line is no row.
        """
        self.entries: list[EpisodeEntry] = []
        self._path = folder / FILE_NAME
        self._log = RowLog(folder, identity, resume=resume, whole=self._read)

    @property
    def done(self) -> set[int]:
        """Numbers of the blocks in the log."""
        return {entry.block for entry in self.entries}

    def add(self, entries: list[EpisodeEntry]) -> None:
        """Add the episodes of one block."""
        lines = [{"block": e.block, "error": e.error, **asdict(e.row)} for e in entries]
        self._log.add([*lines, {"complete": entries[0].block}])
        self.entries += entries

    def close(self) -> None:
        """Close the log; called once."""
        self._log.close()

    def _read(self, lines: list[str]) -> int:
        """Read the complete blocks; return how many lines they have, without those of a block that a kill cut off."""
        whole, pending = 0, list[EpisodeEntry]()
        for number, line in enumerate(lines, 1):
            fields = json.loads(line)
            if isinstance(fields, Mapping) and "complete" in fields:
                self.entries += pending
                whole, pending = number, []
            else:
                pending.append(self._entry(number + 1, line))
        return whole

    def _entry(self, number: int, line: str) -> EpisodeEntry:
        """Return the episode in a line of the file, whose number is for the message."""
        try:
            fields = json.loads(line)
            return EpisodeEntry(
                int(fields["block"]), _ROW.validate_json(line, strict=True), str(fields["error"])
            )
        except (KeyError, TypeError, ValueError) as error:
            why = error.errors()[0]["loc"][0] if isinstance(error, ValidationError) else error
            raise ManifestError(
                f"{self._path}:{number}: is no row of a run ({why}); copy the file back, or name another --out"
            ) from error
