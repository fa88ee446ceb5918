"""A finished run over time: what is known of each moment, and in a real browser that the slider shows it."""

from __future__ import annotations

import io
import json
import math
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from console_browser import WIDE, open_page, until_text
from PIL import Image
from system_stack import BIN

from openral_console.run.finished_run import FinishedRun
from openral_core.errors import NotFoundError
from openral_core.files.finished_run_folder import add_facts, picture_path
from openral_sim_bridge.rendering.mp4 import write_mp4

if TYPE_CHECKING:
    from playwright.sync_api import Browser

TASK = {
    "id": "m/0",
    "text": "open the drawer",
    "skill": "openral/rskill-mini",
    "skill_task": "drawer-open-v3",
    "state": "done",
    "attempts": 2,
    "progress": 0.9,
    "success": 0.9,
    "outcome": "it stayed high",
    "started_s": 1.0,
    "ended_s": 9.0,
}
MISSION = {"id": "m", "text": "open the drawer", "state": "done", "active_task": -1, "message": "all done"}
STEPS: list[dict[str, Any]] = [
    {"stamp_s": 0.5, "kind": "prompt", "reason": "open", "task": -1, "outcome": "active"},
    {"stamp_s": 0.6, "kind": "plan", "reason": "1 task", "task": -1, "outcome": "active"},
    {"stamp_s": 1.0, "kind": "attempt", "reason": "the first attempt", "attempt": 1, "outcome": "active"},
    {
        "stamp_s": 2.0,
        "kind": "reading",
        "reason": "",
        "attempt": 1,
        "progress": 0.2,
        "success": 0.1,
        "outcome": "active",
    },
    {"stamp_s": 5.0, "kind": "verdict", "reason": "stalled", "attempt": 1, "outcome": "active"},
    {"stamp_s": 6.0, "kind": "attempt", "reason": "the second attempt", "attempt": 2, "outcome": "active"},
    {
        "stamp_s": 8.0,
        "kind": "reading",
        "reason": "",
        "attempt": 2,
        "progress": 0.9,
        "success": 0.9,
        "outcome": "active",
    },
    {"stamp_s": 9.0, "kind": "verdict", "reason": "succeeded", "attempt": 2, "outcome": "done"},
    {"stamp_s": 9.1, "kind": "mission", "reason": "all done", "task": -1, "outcome": "done"},
]
SHADE = 3.5
"""Of 255, by which a frame of the film is brighter than the one before."""
MIDDLE_PIXEL = """(() => {
  const canvas = document.createElement("canvas"), pen = canvas.getContext("2d");
  pen.drawImage(document.querySelector("#film"), 0, 0, 64, 64);
  return pen.getImageData(32, 32, 1, 1).data[0];
})()"""
pytestmark = pytest.mark.timeout(120)


@pytest.fixture
def run_dir(tmp_path: Path) -> Path:
    (tmp_path / "mission.json").write_text(json.dumps({**MISSION, "tasks": [TASK]}))
    whole = [{"mission": "m", "task": 0, "text": "open the drawer", **step} for step in STEPS]
    (tmp_path / "mission.jsonl").write_text("".join(json.dumps(step) + "\n" for step in whole))
    skill = {"name": "openral/rskill-mini", "version": "0.1.0", "kind": "vla", "license": "apache-2.0"}
    facts = {"skills": [{**skill, "commercial_use": True}], "thresholds": {"success_threshold": 0.8}}
    (tmp_path / "run.json").write_text(json.dumps(facts))
    buffer = io.BytesIO()
    Image.fromarray(np.full((24, 32, 3), 200, np.uint8)).save(buffer, "PNG")
    path = picture_path(tmp_path, "m", 0, 1)
    path.parent.mkdir()
    path.write_bytes(buffer.getvalue())
    return tmp_path


@pytest.mark.parametrize(
    ("stamp_s", "mission", "task", "attempts", "readings", "steps"),
    [
        (0.0, "idle", None, 0, 0, 0),
        (0.55, "active", None, 0, 0, 1),
        (3.0, "active", "active", 1, 1, 3),
        (6.5, "active", "active", 2, 1, 5),
        (9.05, "active", "done", 2, 2, 6),
        (9.1, "done", "done", 2, 2, 7),
    ],
)
def test_each_moment_is_as_it_was(
    run_dir: Path, stamp_s: float, mission: str, task: str | None, attempts: int, readings: int, steps: int
) -> None:
    run = FinishedRun(run_dir)
    at = run.mission_at(stamp_s)
    assert at.state == mission
    assert [each.state for each in at.tasks] == ([task] if task else [])
    assert [each.attempts for each in at.tasks] == ([attempts] if task else [])
    assert len(run.readings_at(stamp_s)) == readings
    assert len(run.steps_at(stamp_s)) == steps


def test_a_run_whose_clock_began_anew_is_shown_as_a_whole(run_dir: Path) -> None:
    """As where the bridge was configured again: what came first has the later stamps."""
    before = {"mission": "m0", "task": -1, "text": "close it", "kind": "mission", "reason": "all done"}
    steps = [{**before, "stamp_s": stamp_s, "outcome": "done"} for stamp_s in (60.0, 70.0)]
    record = run_dir / "mission.jsonl"
    record.write_text("".join(json.dumps(step) + "\n" for step in steps) + record.read_text())
    run = FinishedRun(run_dir)
    assert (run.begin_s, run.end_s) == (0.5, 70.0)
    assert (len(run.steps_at(run.end_s)), run.mission_at(run.end_s).state) == (9, "done")


def test_readings_of_two_attempts_are_two_curves_under_the_threshold(run_dir: Path) -> None:
    first, second = FinishedRun(run_dir).readings_at(10.0)
    assert first.goal != second.goal
    assert (first.threshold, first.progress, second.success) == (0.8, 0.2, 0.9)


def test_a_folder_without_a_mission_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match=r"is no folder of a run: none of mission\.json"):
        FinishedRun(tmp_path)
    (tmp_path / "launch.log").write_text("")
    with pytest.raises(NotFoundError, match="the reasoner did not come to a mission"):
        FinishedRun(tmp_path)


@pytest.fixture
def filmed(run_dir: Path) -> Path:
    """The run, with a film that begins at 2 s and is a shade brighter in each of its 71 frames."""
    shades = (np.full((64, 64, 3), round(SHADE * count), np.uint8) for count in range(71))
    write_mp4(run_dir / "mission.mp4", shades, fps=10)
    add_facts(run_dir, film_begin_s=2.0)
    return run_dir


@pytest.fixture
def url(run_dir: Path) -> Iterator[str]:
    """The address of a console that shows the run."""
    command = [str(BIN / "openral"), "console", "--run", str(run_dir), "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    line = process.stdout.readline()
    yield line.rpartition(" ")[2].strip()
    process.terminate()
    assert process.wait(90) == 0


@pytest.mark.slow
def test_the_film_shows_the_moment_of_the_slider(browser: Browser, filmed: Path, url: str) -> None:
    faults: list[str] = []
    context = browser.new_context(viewport=WIDE)
    page = open_page(context, url, faults.append)
    page.wait_for_function("document.querySelector('#film').currentTime > 6.9")
    box = page.locator("#moment").bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.wait_for_function("Math.abs(document.querySelector('#film').currentTime - 2.8) < 0.3")
    page.wait_for_function(MIDDLE_PIXEL + " > 90")
    shade = page.evaluate(MIDDLE_PIXEL)
    assert abs(shade - 28 * SHADE) < 4 * SHADE, "the film's frame of that moment"
    context.close()
    assert faults == []


@pytest.mark.parametrize("huge", [10**400, float("inf"), "soon"], ids=["beyond floats", "endless", "words"])
def test_a_run_whose_facts_hold_no_numbers_is_shown_without_them(run_dir: Path, huge: object) -> None:
    (run_dir / "mission.mp4").write_bytes(b"film")
    add_facts(run_dir, film_begin_s=huge, thresholds={"success_threshold": huge})
    run = FinishedRun(run_dir)
    assert run.film is None
    assert run.readings_at(10.0)[0].threshold == 0.0


def test_a_film_of_which_nobody_wrote_down_when_it_begins_is_not_shown(run_dir: Path) -> None:
    (run_dir / "mission.mp4").write_bytes(b"film")
    assert FinishedRun(run_dir).film is None


def test_the_slider_goes_back_in_time(browser: Browser, url: str) -> None:
    faults: list[str] = []
    context = browser.new_context(viewport=WIDE)
    page = open_page(context, url, faults.append)
    until_text(page, "#mission-state", "done")
    until_text(page, "#steps", "all done")
    until_text(page, "#attempt", "attempt 2: no picture was kept")
    until_text(page, "#skills", "apache-2.0")
    box = page.locator("#moment").bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + 1, box["y"] + box["height"] / 2)
    until_text(page, "#state", "0.5 s of 9.1 s")
    until_text(page, "#attempt", "no attempt yet")
    page.mouse.click(box["x"] + 0.4 * box["width"], box["y"] + box["height"] / 2)
    until_text(page, "#mission-state", "active")
    until_text(page, "#reading", "progress 0.20")
    page.wait_for_function("document.querySelector('#picture img')?.naturalWidth == 32")
    context.close()
    assert faults == []


def dragged(low: float, high: float, step: float, ratio: float) -> float:
    """Return the value of a slider of Quasar that is dragged to a share of its length (`convertRatioToModel`)."""
    value = low + ratio * (high - low)
    rest = math.fmod(value - low, step)
    return min(max(round(value + (step if rest >= step / 2 else 0.0) - rest, 2), low), high)


@pytest.mark.parametrize("shift_s", [0.0, 0.023, 0.049, 1.7e9])
def test_a_slider_that_is_dragged_to_its_ends_shows_begin_and_end_of_the_run(
    run_dir: Path, shift_s: float
) -> None:
    """Wherever between two steps of the slider they are."""
    record = run_dir / "mission.jsonl"
    steps = [json.loads(line) for line in record.read_text().splitlines()]
    moved = [{**step, "stamp_s": step["stamp_s"] + shift_s} for step in steps]
    record.write_text("".join(json.dumps(step) + "\n" for step in moved))
    run = FinishedRun(run_dir)
    first, last = (dragged(*run.slider_ends(0.05), 0.05, ratio) for ratio in (0.0, 1.0))
    assert run.begin_s - 0.05 < first <= run.begin_s
    assert run.end_s <= last < run.end_s + 0.1
    assert run.mission_at(last).state == "done"
