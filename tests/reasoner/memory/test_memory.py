"""Notes: a plain file with provenance and expiry, shared by processes, that people read and edit."""

from __future__ import annotations

import subprocess
import sys
from datetime import date, timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner

from openral_core.errors import NotFoundError
from openral_reasoner.memory.commands import memory
from openral_reasoner.memory.notes_file import MAX_NOTES, Memory, default_memory_file

TODAY = date(2026, 3, 1)


def test_a_note_has_a_source_and_an_end(tmp_path: Path) -> None:
    notes = Memory(tmp_path / "deep" / "notes.txt")
    assert notes.remember("the drawer\n sticks | a bit", source="operator", today=TODAY) == "kept"
    line = "2026-03-01 | 2026-05-30 | operator | the drawer sticks / a bit"
    assert (tmp_path / "deep/notes.txt").read_text() == f"{line}\n"
    assert notes.recall("drawers", today=TODAY) == ["the drawer sticks / a bit (operator, 2026-03-01)"]
    assert notes.recall("window", today=TODAY) == []
    assert notes.notes(TODAY + timedelta(days=91)) == []


def test_what_people_wrote_badly_is_passed_over(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("hello\n2026-13-01 | x | y | z\n2026-01-01 | 2099-01-01 | me | a | b\n\n")
    assert [note.text for note in Memory(file).notes()] == ["a | b"]


def test_retrieval_is_capped_and_the_nearest_come_first(tmp_path: Path) -> None:
    notes = Memory(tmp_path / "notes.txt")
    for number in range(20):
        notes.remember(f"the drawer is number {number}", source="test")
    notes.remember("the blue drawer sticks", source="test")
    found = notes.recall("the blue drawer", limit=3)
    assert len(found) == 3
    assert found[0].startswith("the blue drawer sticks")


def test_the_oldest_give_way(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("".join(f"2026-01-01 | 2099-01-01 | me | note {n}\n" for n in range(MAX_NOTES)))
    Memory(file).remember("one more", source="me")
    kept = [note.text for note in Memory(file).notes()]
    assert (len(kept), kept[0], kept[-1]) == (MAX_NOTES, "note 1", "one more")


def test_two_processes_lose_nothing(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    code = (
        "import sys; from pathlib import Path; from openral_reasoner.memory.notes_file import Memory\n"
        "for n in range(40): Memory(Path(sys.argv[1])).remember(f'{sys.argv[2]} {n}', source='p')"
    )
    writers = [subprocess.Popen([sys.executable, "-c", code, str(file), name]) for name in "ab"]
    assert [writer.wait() for writer in writers] == [0, 0]
    assert {note.text for note in Memory(file).notes()} == {f"{name} {n}" for name in "ab" for n in range(40)}


def test_the_command_line_lists_adds_and_forgets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert default_memory_file() == tmp_path / "openral/memory.txt"
    run = CliRunner().invoke
    assert "no notes in" in run(memory, ["list"]).output
    assert run(memory, ["add", "the drawer sticks", "--days", "3"]).exit_code == 0
    assert run(memory, ["add", "x" * 201]).exit_code == 1
    assert "the drawer sticks" in run(memory, ["list"], env={"COLUMNS": "120"}).output
    assert run(memory, ["forget", "1"]).output == "forgotten: the drawer sticks\n"
    assert isinstance(run(memory, ["forget", "1"]).exception, NotFoundError)
