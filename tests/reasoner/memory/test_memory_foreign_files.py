"""A file that was named for notes by mistake, or edited badly, keeps every line that it has."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from openral_core.errors import OpenralError
from openral_reasoner.memory.commands import memory
from openral_reasoner.memory.notes_file import Memory, NotesError
from openral_reasoner.memory.outcomes import Outcomes, outcomes_beside
from openral_reasoner.mission.agent_requests import Reply
from openral_reasoner.palette import Palette
from openral_reasoner.tools.table import outside_table

GOOD = "2026-01-01 | 2099-01-01 | me | the drawer sticks"


def run(*words: object) -> Result:
    return CliRunner().invoke(memory, [str(word) for word in words])


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("# my shopping list", "is no note"),
        ("2026-13-01 | 2099-01-01 | me | a", "'2026-13-01' is no date"),
        ("2026-01-01 | tomorrow | me | a", "'tomorrow' is no date"),
        (f"2026-01-01 | 2099-01-01 | me | {'x' * 201}", "longer than 200 characters"),
    ],
)
@pytest.mark.parametrize("verb", [("add", "x is y"), ("forget", "1")])
def test_lines_that_are_no_notes_are_named_and_survive(
    tmp_path: Path, line: str, why: str, verb: tuple[str, ...]
) -> None:
    file = tmp_path / "notes.txt"
    file.write_text(f"{GOOD}\n\n{line}\n")
    result = run(*verb, "--file", file)
    assert isinstance(result.exception, NotesError)
    assert str(result.exception).startswith(f"{file}:3: ")
    assert why in str(result.exception)
    assert "\n" not in str(result.exception)
    assert file.read_text() == f"{GOOD}\n\n{line}\n"
    assert list(tmp_path.iterdir()) == [file]


def test_the_list_says_which_lines_are_no_notes(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("eggs\nmilk\n")
    result = run("list", "--file", file)
    assert f"{file}:1: is no note" in result.stderr
    assert f"{file}:2: is no note" in result.stderr
    assert result.exit_code == 0


@pytest.mark.parametrize("verb", [("list",), ("add", "x is y"), ("forget", "1"), ("export", "out.json")])
def test_a_file_that_is_no_text_is_one_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verb: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "picture"
    file.write_bytes(b"\x89PNG\xff\xfe\n")
    error = run(*verb, "--file", file).exception
    assert isinstance(error, NotesError)
    assert "no text in UTF-8" in str(error)
    assert file.read_bytes() == b"\x89PNG\xff\xfe\n"


def test_notes_that_cannot_be_read_or_written_are_a_refusal_in_words(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for path in (tmp_path, tmp_path / "file" / "notes.txt"):
        tools = {tool.name: tool for tool in outside_table(Palette(), memory=Memory(path))}
        for name, given in (("remember", {"note": "x is y"}), ("recall", {"about": "drawer"})):
            reply = tools[name].ask(given)
            assert isinstance(reply, Reply)
            assert not reply.ok
            assert reply.text.startswith(f"{path}: ")
            assert reply.text.endswith("name another file of notes")


def test_a_mission_goes_on_beside_such_a_file(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_bytes(b"\xff\n" + GOOD.encode())
    assert Memory(file).recall("drawer") == ["the drawer sticks (me, 2026-01-01)"]
    remember = next(tool for tool in outside_table(Palette(), memory=Memory(file)) if tool.name == "remember")
    reply = remember.ask({"note": "x is y"})
    assert isinstance(reply, Reply)
    assert not reply.ok
    assert "no text in UTF-8" in reply.text


def test_a_lock_of_somebody_elses_is_not_emptied(tmp_path: Path) -> None:
    (tmp_path / "uv.lock").write_text("version = 1\n")
    Memory(tmp_path / "uv.txt").remember("x is y", source="me")
    assert (tmp_path / "uv.lock").read_text() == "version = 1\n"


def test_the_export_makes_its_folder(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text(f"{GOOD}\n")
    out = tmp_path / "deep" / "memory.json"
    assert run("export", out, "--file", tmp_path / "notes.txt").exit_code == 0
    assert len(json.loads(out.read_text())["notes"]) == 1


@pytest.mark.parametrize(
    "verb", ["list", "show", "add note", "forget 1", "forget --counts", "export out.json"]
)
@pytest.mark.parametrize(("file", "why"), [(".", "is a folder"), ("/", "is a folder"), ("pipe", "is a pipe")])
def test_what_is_no_file_is_told_by_every_verb(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verb: str, file: str, why: str
) -> None:
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")  # whoever read it would wait for ever
    error = run(*verb.split(), "--file", file).exception
    assert isinstance(error, OpenralError)
    assert f"--file {file}: {why}" in str(error)


@pytest.mark.parametrize("mode", [0o600, 0o644])
def test_notes_and_counts_that_are_for_one_user_alone_stay_so(tmp_path: Path, mode: int) -> None:
    file = tmp_path / "notes.txt"
    notes, counts = Memory(file), Outcomes(outcomes_beside(file))
    for text in ("the drawer sticks", "the window does not"):
        notes.remember(text, source="me")
        counts.add("a/b", "open", "first", success=True)
        for path in (file, outcomes_beside(file)):
            if text == "the drawer sticks":
                path.chmod(mode)
            assert stat.S_IMODE(path.stat().st_mode) == mode


def test_what_a_terminal_would_obey_is_shown_and_not_obeyed(tmp_path: Path) -> None:
    file = tmp_path / "notes[" / "red].txt"
    file.parent.mkdir()
    assert "no notes in" in run("list", "--file", file).output
    assert "nothing was counted in" in run("show", "--file", file).output
    file.write_text("2026-01-01 | 2099-01-01 | m\x1b[2Je | the\x1b[2J drawer [/red] sticks\n")
    outcomes_beside(file).write_text(
        json.dumps(
            {"rows": [{"skill": "a\x1b[2J", "task": "b", "rung": "retry", "successes": 1, "tries": 2}]}
        )
    )
    shown = [
        run(*words, "--file", file) for words in (("list",), ("show",), ("forget", 1), ("list",), ("show",))
    ]
    assert [result.exit_code for result in shown] == [0] * len(shown)
    output = "".join(result.output for result in shown)
    assert "\x1b" not in output
    assert r"the\x1b[2J drawer [/red] sticks" in output
    assert r"a\x1b[2J" in output
