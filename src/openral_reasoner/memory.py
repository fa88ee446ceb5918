"""Short notes that outlive a mission: a plain file that people can read, edit and delete.

One note a line: date written, date after which it is forgotten, who wrote it, and the note:

    2026-03-01 | 2026-05-30 | operator | the blue drawer sticks, it needs two attempts

Notes are shown to the planner as data under a cap. Nothing in them is ever executed.
"""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

from openral_reasoner.vocabulary import FILLERS, stem, words

MAX_NOTE = 200
"""Characters of one note."""
MAX_NOTES = 500
"""Notes in the file; the oldest give way."""
LIFETIME = timedelta(days=90)
SEPARATOR = " | "


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
    """The notes of one deployment. Thread-safe; every write is whole or not at all."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()

    def notes(self, today: date | None = None) -> list[Note]:
        """Return the notes that have not expired, oldest first; lines that are no notes are passed over."""
        now = today or date.today()
        try:
            lines = self._path.read_text(encoding="utf-8").splitlines()
        except FileNotFoundError:
            return []
        return [note for line in lines if (note := _parse(line)) and note.expires >= now]

    def remember(self, text: str, *, source: str, today: date | None = None) -> str:
        """Add a note, unless it is there already. Returns a sentence about what was done."""
        flat = " ".join("".join(c if c.isprintable() else " " for c in text).split())
        flat = flat.replace(SEPARATOR.strip(), "/")
        if not flat or len(flat) > MAX_NOTE:
            return f"a note has 1 to {MAX_NOTE} characters; nothing was kept"
        now = today or date.today()
        with self._lock:
            kept = [note for note in self.notes(now) if note.text != flat]
            kept.append(Note(now, now + LIFETIME, source, flat))
            self._path.parent.mkdir(parents=True, exist_ok=True)
            partial = self._path.with_suffix(".part")
            partial.write_text("".join(f"{note.line}\n" for note in kept[-MAX_NOTES:]), encoding="utf-8")
            os.replace(partial, self._path)
        return "kept"

    def recall(self, about: str = "", limit: int = 8, today: date | None = None) -> list[str]:
        """Return the notes nearest to some words, best first; without words the newest.

        Args:
            about: words; notes that share none of them are left out.
            limit: at most so many.
            today: date of the look-up, for tests.
        """
        notes = self.notes(today)[::-1]
        wanted = _content(about)
        if wanted:
            scored = [(len(wanted & _content(note.text)), note) for note in notes]
            notes = [note for score, note in sorted(scored, key=lambda pair: -pair[0]) if score]
        return [f"{note.text} ({note.source}, {note.written.isoformat()})" for note in notes[:limit]]


def _content(text: str) -> set[str]:
    return {stem(word) for word in words(text) if word not in FILLERS}


def _parse(line: str) -> Note | None:
    parts = line.split(SEPARATOR, 3)
    try:
        written, expires = date.fromisoformat(parts[0].strip()), date.fromisoformat(parts[1].strip())
        return Note(written, expires, parts[2].strip(), parts[3].strip()[:MAX_NOTE])
    except (ValueError, IndexError):
        return None
