"""Short notes that outlive a mission: a plain file that people can read, edit and delete.

One note a line: date written, date after which it is forgotten, who wrote it, and the note:

    2026-03-01 | 2026-05-30 | operator | the blue drawer sticks, it needs two attempts

Notes are shown to a language model as data under a cap. Nothing in them is ever executed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

from openral_core.cli.printable import one_line
from openral_core.errors import OpenralError
from openral_core.files.atomic import write_atomically
from openral_core.files.user_path import user_path
from openral_reasoner.memory.locked_file import is_private, locked_file
from openral_reasoner.word_stems import FILLERS, stem, words

MAX_NOTE = 200
"""Characters of one note."""
MAX_NOTES = 500
"""Notes in the file; the oldest give way."""
LIFETIME = timedelta(days=90)
SEPARATOR = " | "


class NotesError(OpenralError):
    """A file that was named for notes cannot be read or written, or holds something else, which writing would lose."""


def default_memory_file() -> Path:
    """Return where notes are kept if nobody says otherwise: the user's data folder of the XDG base directories."""
    data = os.environ.get("XDG_DATA_HOME") or "~/.local/share"
    return user_path(data) / "openral" / "memory.txt"


@dataclass(frozen=True)
class Note:
    """One line of the file."""

    written: date
    expires: date
    source: str
    text: str

    @property
    def line(self) -> str:
        """The note as it stands in the file."""
        return SEPARATOR.join((self.written.isoformat(), self.expires.isoformat(), self.source, self.text))


class Memory:
    """The notes of one file. Threads and processes may share it; every write is whole or not at all."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def notes(self, today: date | None = None) -> list[Note]:
        """Return the notes that have not expired, oldest first; lines that are no notes are passed over.

        Raises:
            NotesError: the file cannot be read.
        """
        now = today or date.today()
        lines = self._bytes().decode(errors="replace").splitlines()
        return [note for line in lines if (note := _parse(line)) and note.expires >= now]

    def faults(self) -> list[str]:
        """Return one line for each line of the file that is neither a note nor blank, with its number and why.

        Raises:
            NotesError: the file is no text at all, or cannot be read.
        """
        try:
            lines = self._bytes().decode().splitlines()
        except UnicodeDecodeError as error:
            raise NotesError(f"{self._path}: is no text in UTF-8; name a file of notes") from error
        found = [(number, _fault(line)) for number, line in enumerate(lines, 1)]
        return [f"{self._path}:{number}: {why}" for number, why in found if why]

    def _bytes(self) -> bytes:
        try:
            return self._path.read_bytes()
        except FileNotFoundError:
            return b""
        except OSError as error:
            raise self._fault_of(error) from error

    def _fault_of(self, error: OSError) -> NotesError:
        return NotesError(f"{self._path}: {error.strerror or error}; name another file of notes")

    def _refuse_others(self) -> None:
        """Raise NotesError where a line is no note: the file is written anew as a whole, and that line would go."""
        if faults := self.faults():
            more = f" ({len(faults) - 1} more)" if faults[1:] else ""
            raise NotesError(
                f"{faults[0]}{more}; writing would delete it: mend or delete the line, or name another file"
            )

    def remember(
        self, text: str, *, source: str, lifetime: timedelta = LIFETIME, today: date | None = None
    ) -> str:
        """Add a note, or renew it if it is there already.

        Args:
            text: one line of at most `MAX_NOTE` characters; it is flattened to one.
            source: who wrote it.
            lifetime: until it is forgotten.
            today: date of the note, for tests.

        Returns:
            A word about what was done.

        Raises:
            NotesError: the file holds lines that are no notes, or cannot be written; it stays as it is.
        """
        flat = one_line(text).replace(SEPARATOR.strip(), "/")
        if not flat or len(flat) > MAX_NOTE:
            return f"a note has 1 to {MAX_NOTE} characters; nothing was kept"
        now = today or date.today()
        self._refuse_others()
        with self._locked():
            self._refuse_others()
            kept = [note for note in self.notes(now) if note.text != flat]
            self._write([*kept, Note(now, now + lifetime, source, flat)])
        return "kept"

    def forget(self, number: int, today: date | None = None) -> Note | None:
        """Take a note out of the file and return it; None: there is none of that number.

        Args:
            number: place in `notes`, from 1.
            today: date of the look-up, for tests.

        Raises:
            NotesError: the file holds lines that are no notes, or cannot be written; it stays as it is.
        """
        self._refuse_others()
        with self._locked():
            self._refuse_others()
            notes = self.notes(today)
            if not 1 <= number <= len(notes):
                return None
            gone = notes.pop(number - 1)
            self._write(notes)
        return gone

    def _write(self, notes: list[Note]) -> None:
        text = "".join(f"{note.line}\n" for note in notes[-MAX_NOTES:])
        write_atomically(self._path, text, private=is_private(self._path))

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Keep other writers out; a disk that fails meanwhile is a NotesError."""
        try:
            with locked_file(self._path):
                yield
        except OSError as error:
            raise self._fault_of(error) from error

    def recall(self, about: str = "", limit: int = 8, today: date | None = None) -> list[str]:
        """Return the notes nearest to some words, best first; without words the newest.

        Args:
            about: words; notes that share none of them are left out.
            limit: at most so many.
            today: date of the look-up, for tests.

        Raises:
            NotesError: the file cannot be read.
        """
        notes = self.notes(today)[::-1]
        wanted = _content(about)
        if wanted:
            scored = [(len(wanted & _content(note.text)), note) for note in notes]
            notes = [note for score, note in sorted(scored, key=lambda pair: -pair[0]) if score]
        return [f"{note.text} ({note.source}, {note.written.isoformat()})" for note in notes[:limit]]


def _content(text: str) -> set[str]:
    return {stem(word) for word in words(text) if word not in FILLERS}


def _fault(line: str) -> str:
    """Return why a line would not survive to be read and written; empty: it would."""
    if not line.strip():
        return ""
    parts = line.split(SEPARATOR, 3)
    if len(parts) < 4:
        return "is no note, which is `date | date | who | text`"
    for day in parts[:2]:
        try:
            date.fromisoformat(day.strip())
        except ValueError:
            return f"'{day.strip()}' is no date such as 2026-03-01"
    if len(parts[3].strip()) > MAX_NOTE:
        return f"the note is longer than {MAX_NOTE} characters"
    return ""


def _parse(line: str) -> Note | None:
    parts = line.split(SEPARATOR, 3)
    try:
        written, expires = date.fromisoformat(parts[0].strip()), date.fromisoformat(parts[1].strip())
        return Note(written, expires, parts[2].strip(), parts[3].strip()[:MAX_NOTE])
    except (ValueError, IndexError):
        return None
