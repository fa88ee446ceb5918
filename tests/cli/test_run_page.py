"""The report of a run, made from its folder: escaped, complete, and with the simulator's disagreement first."""

from __future__ import annotations

import io
import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from openral_cli.deploy.run_metadata import write_facts
from openral_cli.deploy.run_page import run_page, write_report
from openral_core.errors import NotFoundError
from openral_core.files.finished_run_folder import add_facts, attempts_of, picture_path
from openral_core.mission_record import RecordedStep
from openral_core.scene import load_scene

EVIL = "open <script>alert('x')</script> & \"it\""
TASK = {
    "id": "m/0",
    "text": EVIL,
    "skill": "openral/rskill-mini-metaworld",
    "skill_task": "drawer-open-v3",
    "state": "done",
    "attempts": 2,
    "progress": 0.9,
    "success": 0.9,
    "outcome": "stayed high",
    "started_s": 1.0,
    "ended_s": 9.0,
}


def step(stamp_s: float, kind: str, reason: str = "", attempt: int = 1, **fields: Any) -> RecordedStep:
    told = {"mission": "m", "task": 0, "text": EVIL, "attempt": attempt, **fields}
    return RecordedStep(stamp_s=stamp_s, kind=kind, reason=reason or f"{kind} <b>", **told)


STEPS = [
    step(0.0, "prompt", task=-1),
    step(1.0, "attempt", "attempt 1"),
    step(2.0, "reading", progress=0.2, success=0.1),
    step(2.5, "intervention", "anna has taken the arm over"),
    step(4.0, "intervention", "the arm was given back"),
    step(4.5, "reading", progress=0.2, success=0.1),
    step(5.0, "verdict", "stalled: progress stands at 0.20"),
    step(6.0, "attempt", "attempt 2", attempt=2),
    step(7.0, "reading", progress=0.9, success=0.9, attempt=2),
    step(9.0, "verdict", "succeeded: it stayed high", attempt=2),
    step(9.1, "mission", "mission done: 1 of 1 tasks", task=-1),
]


class Tags(HTMLParser):
    """The elements of a page, and what they refer to."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.names: list[str] = []
        self.references: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        self.references += [value for name, value in attrs if name in ("src", "href") and value]


@pytest.fixture
def run_dir(tmp_path: Path) -> Path:
    """A run of two attempts, of the first of which the last picture was kept; the simulator says that it failed."""
    mission = {
        "id": "m",
        "text": EVIL,
        "state": "done",
        "active_task": -1,
        "message": "well",
        "tasks": [TASK],
    }
    (tmp_path / "mission.json").write_text(json.dumps(mission))
    lines = "".join(each.model_dump_json() + "\n" for each in STEPS)
    (tmp_path / "mission.jsonl").write_text(lines)
    scene = load_scene("metaworld_drawer")
    write_facts(tmp_path, scene, {"scene": "metaworld_drawer", "mission": EVIL, "rviz": "false"})
    buffer = io.BytesIO()
    Image.fromarray(np.full((8, 8, 3), 200, np.uint8)).save(buffer, "PNG")
    path = picture_path(tmp_path, "m", 0, 1)
    path.parent.mkdir()
    path.write_bytes(buffer.getvalue())
    rows = 800
    np.savez(
        tmp_path / "truth.npz",
        tasks=np.array(["drawer-open-v3"]),
        control_hz=np.float64(80.0),
        stamp_s=np.arange(rows) / 80.0,
        wall_s=np.arange(rows) / 80.0,
        held=np.zeros(rows, bool),
        success=np.zeros((rows, 1), bool),
        chunk_stamp_s=np.array([2.0]),
        chunk_latency_s=np.array([0.01]),
        chunk_rejected=np.array([False]),
        disturbed_stamp_s=np.array([]),
        disturbed=np.array([], dtype=str),
    )
    return tmp_path


def test_attempts_have_their_readings_their_interventions_and_their_ends() -> None:
    first, second = attempts_of(STEPS)
    assert (first.number, first.began_s, first.ended_s) == (1, 1.0, 5.0)
    assert first.verdict.startswith("stalled")
    assert first.interventions == [(2.5, 4.0)]
    assert [reading.stamp_s for reading in first.readings] == [2.0, 4.5]
    assert (second.number, second.ended_s) == (2, 9.0)
    cut_off = attempts_of(STEPS[:4])[0]
    assert (cut_off.ended_s, cut_off.interventions) == (None, [(2.5, None)])


def test_the_report_begins_with_the_disagreement_and_runs_nothing_and_loads_nothing(run_dir: Path) -> None:
    path = write_report(run_dir)
    page = path.read_text()
    assert page.index("the simulator disagrees") < page.index("Mission <b")
    tags = Tags(page)
    assert "script" not in tags.names
    assert EVIL not in page
    assert "open &lt;script&gt;" in page
    assert len(tags.references) == 1
    assert tags.references[0].startswith("data:image/png;base64,")
    assert page.count("<polyline") == 6  # progress, success and threshold of two attempts
    assert tags.names.count("rect") == 3  # two attempts, and the time in which the operator had the arm
    assert "An operator had the arm from 2.5 s to 4.0 s" in page
    assert page.count("No picture was kept") == 1
    assert "scene metaworld_drawer · robot sawyer · ended at 9.1 s" in page
    assert "attempt 1</text>" in page  # also where the name of a task is too long for its row
    for words in (
        "openral/rskill-mini-progress",
        "apache-2.0",
        "mujoco",
        "metaworld_drawer",
        "success_threshold",
    ):
        assert words in page, words
    assert "prompt &lt;b&gt;" in page


def test_the_report_of_a_deployment_that_ran_for_weeks_shows_its_newest_attempts(run_dir: Path) -> None:
    begun = [step(10.0 + number, "attempt", attempt=number) for number in range(3, 1003)]
    with (run_dir / "mission.jsonl").open("a") as lines:
        lines.writelines(each.model_dump_json() + "\n" for each in begun)
    page = run_page(run_dir)
    assert page.count("<h3>") == 200
    assert "attempt 1002</h3>" in page
    assert "802 earlier attempts are in mission.jsonl" in page


def test_without_a_simulator_it_says_whose_opinion_it_is(run_dir: Path) -> None:
    (run_dir / "truth.npz").unlink()
    (run_dir / "run.json").unlink()
    page = run_page(run_dir)
    assert "No simulator judged this run" in page
    assert page.count("<polyline") == 4  # nobody knows the threshold


def test_a_folder_without_a_mission_is_no_run(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match=r"mission\.json is missing"):
        run_page(tmp_path)


def test_facts_that_are_none_are_left_out(run_dir: Path) -> None:
    add_facts(run_dir, thresholds={"success_threshold": 10**400}, skills=[7, {"name": "openral/rskill-x"}])
    page = run_page(run_dir)
    assert "openral/rskill-x" in page
    assert ">threshold<" not in page
