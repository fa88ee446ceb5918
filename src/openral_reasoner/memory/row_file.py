"""A small file of rows that outlives missions: bounded, shared by processes, and read as if nobody could be trusted."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from openral_core.errors import OpenralError
from openral_core.files.atomic import write_atomically
from openral_reasoner.memory.locked_file import is_private, locked_file

_FIX = "mend it, or delete it yourself"


class RowsError(OpenralError):
    """A file that is to hold rows holds something else, which would be lost if it were deleted."""


RowT = TypeVar("RowT", bound=BaseModel)


class RowFile(Generic[RowT]):
    """The rows of one JSON file. Threads and processes may share it; every write is whole or not at all."""

    def __init__(self, path: Path | None, row_type: type[RowT], most: int, *, keeps: bool = True) -> None:
        """Take a file that need not exist.

        Args:
            path: of the file; None: nothing is kept, and nothing known.
            row_type: a strict schema; what does not fit it is passed over.
            most: rows that are kept; those at the beginning give way.
            keeps: changes are written; else the file is read alone, and nothing is added to what it says.
        """
        self.path, self._keeps = path, keeps
        self._row_type, self._most = row_type, most

    def rows(self) -> list[RowT]:
        """Return the rows; a file that is none, or rows that are none, count as empty."""
        if self.path is None:
            return []
        try:
            kept = json.loads(self.path.read_text(encoding="utf-8"))["rows"]
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return []
        rows = [self._row(each) for each in kept] if isinstance(kept, list) else []
        return [row for row in rows if row is not None][-self._most :]

    def fault(self) -> str:
        """Return one line about a file that is none of such rows, or has entries that are none; empty: all is well."""
        if self.path is None:
            return ""
        try:
            kept = json.loads(self.path.read_text(encoding="utf-8"))["rows"]
        except FileNotFoundError:
            return ""
        except OSError as error:
            return f"{self.path}: {error.strerror}"
        except (ValueError, KeyError, TypeError, RecursionError):
            kept = None
        if not isinstance(kept, list):
            return f"{self.path}: is damaged or something else, and counts as empty; {_FIX}"
        bad = sum(self._row(each) is None for each in kept)
        return f"{self.path}: {bad} of its {len(kept)} rows are not in the form; {_FIX}" if bad else ""

    def change(self, change: Callable[[list[RowT]], list[RowT]]) -> None:
        """Write what a function makes of the rows. A disk that fails costs the change and nothing else.

        Of a damaged file a copy is kept beside it, with the suffix `.damaged`.
        """
        if self.path is None or not self._keeps:
            return
        try:
            with locked_file(self.path):
                if self.fault():
                    shutil.copyfile(self.path, self.path.with_name(f"{self.path.name}.damaged"))
                self._write(self.path, change(self.rows()))
        except (OSError, ValidationError):
            return

    def forget(self) -> int:
        """Delete the file and return how many rows there were.

        Raises:
            RowsError: it holds something else; it stays as it is.
        """
        if self.path is None:
            return 0
        if fault := self.fault():
            raise RowsError(fault)
        with locked_file(self.path):
            gone = len(self.rows())
            self.path.unlink(missing_ok=True)
        return gone

    def _write(self, path: Path, rows: list[RowT]) -> None:
        document = {"rows": [row.model_dump(mode="json") for row in rows[-self._most :]]}
        write_atomically(path, json.dumps(document, indent=1) + "\n", private=is_private(path))

    def _row(self, kept: Any) -> RowT | None:
        try:
            return self._row_type.model_validate(kept)
        except ValidationError:
            return None
