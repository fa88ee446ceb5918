"""Counts of what worked: bounded, shared by processes, and worth nothing to whoever alters them."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest
from typer.testing import CliRunner

from openral_core.errors import OutputError
from openral_reasoner.memory.commands import memory
from openral_reasoner.memory.outcomes import MAX_ROWS, Outcomes, outcomes_beside
from openral_reasoner.memory.row_file import RowsError


def test_counts_are_kept_and_forgotten(tmp_path: Path) -> None:
    outcomes = Outcomes(tmp_path / "deep" / "outcomes.json")
    assert outcomes.expected("a/b", "t", "home", 0.25) == 0.25
    for success in (True, True, False):
        outcomes.add("a/b", "t", "home", success)
    [row] = Outcomes(outcomes.path).rows()
    assert (row.skill, row.task, row.rung, row.tries, row.successes) == ("a/b", "t", "home", 3, 2)
    assert outcomes.expected("a/b", "t", "home", 0.25) == pytest.approx((2 + 1) / (3 + 4))
    assert (outcomes.forget(), outcomes.rows()) == (1, [])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        '{"rows": 3}',
        '{"rows": [{"skill": "a/b"}]}',
        '{"rows": [{"skill": "a/b", "task": "t", "rung": "home", "tries": 1, "successes": 9}]}',
        '{"rows": [{"skill": "a/b", "task": "t", "rung": "home", "tries": -5, "successes": 0}]}',
        '{"rows": [{"skill": "a/b", "task": "t", "rung": "home", "tries": 1, "successes": 1, "run": "rm"}]}',
        "[" * 100_000,
    ],
)
def test_a_file_that_was_altered_counts_as_empty(tmp_path: Path, text: str) -> None:
    path = tmp_path / "outcomes.json"
    path.write_text(text)
    outcomes = Outcomes(path)
    assert outcomes.rows() == []
    outcomes.add("a/b", "t", "home", success=True)
    assert len(outcomes.rows()) == 1
    assert (tmp_path / "outcomes.json.damaged").read_text() == text


def test_the_file_is_bounded_and_the_oldest_give_way(tmp_path: Path) -> None:
    path = tmp_path / "outcomes.json"
    row = {"skill": "a/b", "rung": "home", "tries": 1, "successes": 0}
    path.write_text(json.dumps({"rows": [{**row, "task": f"t{i}"} for i in range(MAX_ROWS + 50)]}))
    outcomes = Outcomes(path)
    outcomes.add("a/b", "new", "home", success=True)
    kept = json.loads(path.read_text())["rows"]
    assert (len(kept), kept[-1]["task"]) == (MAX_ROWS, "new")


def test_writers_beside_each_other_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "outcomes.json"

    def write() -> None:
        for _ in range(20):
            Outcomes(path).add("a/b", "t", "home", success=True)

    threads = [threading.Thread(target=write) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [row.tries for row in Outcomes(path).rows()] == [80]


def test_a_disk_that_fails_costs_the_count_alone(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    outcomes = Outcomes(tmp_path / "file" / "outcomes.json")
    outcomes.add("a/b", "t", "home", success=True)
    assert outcomes.rows() == []


def test_counts_lie_beside_the_notes() -> None:
    assert outcomes_beside(Path("/x/memory.txt")) == Path("/x/memory.outcomes.json")


def test_counts_are_shown_exported_and_forgotten(tmp_path: Path) -> None:
    notes = tmp_path / "notes.txt"
    Outcomes(outcomes_beside(notes)).add("openral/rskill-mini", "drawer-open-v3", "home", success=True)
    run = CliRunner().invoke
    shown = run(memory, ["show", "--file", str(notes)]).output
    assert all(word in shown for word in ("rskill-mini", "drawer-open-v3", "home"))
    assert run(memory, ["export", str(tmp_path / "all.json"), "--file", str(notes)]).exit_code == 0
    assert json.loads((tmp_path / "all.json").read_text())["counts"][0]["successes"] == 1
    assert run(memory, ["forget", "--file", str(notes)]).exit_code == 2
    assert run(memory, ["forget", "1", "--counts", "--file", str(notes)]).exit_code == 2
    assert "forgotten: 1 counts" in run(memory, ["forget", "--counts", "--file", str(notes)]).output
    assert "nothing was counted" in run(memory, ["show", "--file", str(notes)]).output


@pytest.mark.parametrize("text", ["{", "[]", '{"rows": [{"skill": "a/b"}]}'])
def test_a_damaged_file_of_counts_is_named_and_survives(tmp_path: Path, text: str) -> None:
    notes, run = tmp_path / "notes.txt", CliRunner().invoke
    counts = outcomes_beside(notes)
    counts.write_text(text)
    for verb in (["show"], ["export", str(tmp_path / "all.json")]):
        told = run(memory, [*verb, "--file", str(notes)])
        assert told.stderr.startswith(f"{counts}: ")
        assert "nothing was counted" not in told.stdout
    refused = run(memory, ["forget", "--counts", "--file", str(notes)]).exception
    assert isinstance(refused, RowsError)
    assert str(refused).endswith("mend it, or delete it yourself")
    assert counts.read_text() == text


@pytest.mark.parametrize("columns", [None, "80"])
def test_skills_are_told_apart_in_a_narrow_table(
    tmp_path: Path, columns: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    notes, ends = tmp_path / "notes.txt", ("mt10-of-the-left", "mt10-of-the-right")
    for end in ends:
        skill = f"openral/rskill-mini-metaworld-{end}"
        Outcomes(outcomes_beside(notes)).add(skill, "button-press-topdown-v3", "home", success=True)
    shown = CliRunner().invoke(memory, ["show", "--file", str(notes)], env={"COLUMNS": columns}).output
    assert "…" not in shown
    assert "1" in shown
    if columns is None:
        assert all(f"openral/rskill-mini-metaworld-{end}" in shown for end in ends)


def test_an_export_replaces_an_export_and_nothing_else(tmp_path: Path) -> None:
    words = ["export", str(tmp_path / "all.json"), "--file", str(tmp_path / "notes.txt")]
    assert [CliRunner().invoke(memory, words).exit_code for _ in range(2)] == [0, 0]
    (tmp_path / "all.json").write_text("my own")
    refused = CliRunner().invoke(memory, words).exception
    assert isinstance(refused, OutputError)
    assert "is no export of a memory" in str(refused)
    assert (tmp_path / "all.json").read_text() == "my own"
