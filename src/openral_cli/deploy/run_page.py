"""A finished run as one HTML page that needs neither server nor network: `report.html` in its folder."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from openral_cli.deploy.outcome_table import disagreement
from openral_cli.deploy.run_outcome import RunOutcome, TaskOutcome, judge
from openral_core.errors import NotFoundError
from openral_core.files.finished_run_folder import (
    AttemptRecord,
    attempts_of,
    decisions_of,
    load_facts,
    number_of,
    picture_path,
)
from openral_core.html.episode_page_parts import begin, fact_rows
from openral_core.html.plots import PLOT_STYLE, plot
from openral_core.html.timeline import TIMELINE_STYLE, Bar, timeline
from openral_core.mission_record import (
    STEPS_FILE,
    RecordedMission,
    RecordedStep,
    load_mission,
    load_steps,
    words_after,
)

REPORT_FILE = "report.html"
STYLE = """
.attempt { display: flex; gap: 1.5rem; flex-wrap: wrap; margin: 1.2rem 0; align-items: flex-start; }
.attempt img { width: 16rem; image-rendering: auto; background: #eee; } .attempt svg { width: 26rem; }
.origin { color: #5c636a; }
.good { color: #2b6a2b; } .bad { color: #a02b2b; } .log td:first-child { white-space: nowrap; }
"""
GOOD, BAD = ("done", "success", "succeeded"), ("failed", "failure", "abandoned", "stopped")
MAX_DECISIONS = 2000
"""Most decisions that are listed, the newest."""
MAX_ATTEMPTS = 200
"""Most attempts that are shown with pictures and curves, the newest."""


def write_report(run_dir: Path) -> Path:
    """Write `report.html` and return its path.

    Raises:
        NotFoundError: the folder has no mission.
        ManifestError: the record was altered.
        OSError: the file cannot be written.
    """
    path = run_dir / REPORT_FILE
    path.write_text(run_page(run_dir), encoding="utf-8")
    return path


def run_page(run_dir: Path) -> str:
    """Return the page of a run's folder."""
    mission, steps, facts = load_mission(run_dir), load_steps(run_dir), load_facts(run_dir)
    try:
        outcome: RunOutcome | None = judge(run_dir)
    except NotFoundError:
        outcome = None  # a real arm, for which there is no simulator's record
    attempts, last_s = attempts_of(steps), steps[-1].stamp_s if steps else 0.0
    earlier, attempts = len(attempts[:-MAX_ATTEMPTS]), attempts[-MAX_ATTEMPTS:]
    threshold = number_of(facts, "thresholds", "success_threshold")
    return "".join(
        [
            begin(mission.text or "A run without a mission", STYLE, PLOT_STYLE, TIMELINE_STYLE),
            *_origin(facts, last_s),
            *_verdict(mission, outcome),
            *_tasks(mission, outcome),
            "<h2>Attempts</h2>",
            f"<p class=note>{earlier} earlier attempts are in {STEPS_FILE}.</p>" if earlier else "",
            timeline([_bar(attempt, last_s) for attempt in attempts])
            or "<p>No policy was asked to do anything.</p>",
            *(_attempt(attempt, run_dir, threshold, last_s) for attempt in attempts),
            *_decisions(steps),
            *_facts(facts),
            "</html>\n",
        ]
    )


def _origin(facts: Mapping[str, Any], last_s: float) -> Iterator[str]:
    """Yield when and where it was run, and how long it took."""
    began = str(facts.get("began", ""))  # 2026-11-24T00:00:41+0000
    words = [f"{began[:10]} {began[11:16]} {began[19:]}".strip()]
    words += [f"{name} {facts[name]}" for name in ("scene", "robot") if facts.get(name)]
    words += [f"ended at {last_s:.1f} s of the deployment's clock"]
    yield f"<p class=origin>{escape(' · '.join(filter(None, words)))}</p>"


def _verdict(mission: RecordedMission, outcome: RunOutcome | None) -> Iterator[str]:
    """Yield the simulator's disagreements, the disturbances, and the reasoner's verdict."""
    if outcome is not None:
        for task in outcome.disagreements:
            yield f"<p class='note bad'><b>{escape(disagreement(task))}</b></p>"
        for words in outcome.disturbances:
            yield f"<p class=note>disturbed: {escape(words)}</p>"
    words = words_after(mission.state, mission.message)
    said = words.removeprefix(f"mission {mission.state}").lstrip(": ").rstrip(".")
    state = f"<b class={_tone(mission.state)}>{escape(mission.state)}</b>"
    yield f"<p>Mission {state}{': ' if said else ''}{escape(said)}.</p>"
    if outcome is None:
        yield "<p>No simulator judged this run: what is called done is the reward monitor's opinion.</p>"
    elif outcome.passed:
        yield "<p>The simulator agrees on every task.</p>"


def _tasks(mission: RecordedMission, outcome: RunOutcome | None) -> Iterator[str]:
    yield "<div class=scroll><table id=tasks>"
    yield "<tr><th>task<th>skill<th class=n>attempts<th>reasoner<th>simulator<th>why</tr>"
    judged: Sequence[TaskOutcome | None] = outcome.tasks if outcome else [None] * len(mission.tasks)
    for task, seen in zip(mission.tasks, judged, strict=True):
        truth = {True: "success", False: "failure", None: "not judged"}[
            seen.simulator_success if seen else None
        ]
        yield (
            f"<tr><td>{escape(task.text)}<td>{escape(task.skill)}<td class=n>{task.attempts}"
            f"<td class={_tone(task.state)}>{escape(task.state)}<td class={_tone(truth)}>{truth}"
            f"<td>{escape(task.outcome)}</tr>"
        )
    yield "</table></div>"


def _bar(attempt: AttemptRecord, last_s: float) -> Bar:
    end_s = last_s if attempt.ended_s is None else attempt.ended_s
    spans = tuple((begin_s, end_s if back_s is None else back_s) for begin_s, back_s in attempt.interventions)
    verdict = attempt.verdict or "the record ends here"
    return Bar(
        attempt.text,
        attempt.began_s,
        end_s,
        _kind(attempt.verdict),
        note=f", attempt {attempt.number}",
        title=verdict,
        spans=spans,
    )


def _attempt(attempt: AttemptRecord, run_dir: Path, threshold: float | None, last_s: float) -> str:
    """Return one attempt: its last picture, its curves, and how it ended."""
    picture = picture_path(run_dir, attempt.mission, attempt.task, attempt.number)
    shown = "<p>No picture was kept.</p>"
    if picture.is_file():
        data = base64.b64encode(picture.read_bytes()).decode()
        shown = f"<img alt='its last picture' src='data:image/png;base64,{data}'>"
    end_s = last_s if attempt.ended_s is None else attempt.ended_s
    taken = "".join(
        f"<p>An operator had the arm from {begin_s:.1f} s"
        + (f" to {back_s:.1f} s.</p>" if back_s is not None else " on.</p>")
        for begin_s, back_s in attempt.interventions
    )
    return (
        f"<h3>{escape(attempt.text)}, attempt {attempt.number}</h3>"
        f"<p>{attempt.began_s:.1f} s to {end_s:.1f} s: {escape(attempt.reason)}. "
        f"<b class={_kind(attempt.verdict)}>{escape(attempt.verdict or 'the record ends here')}</b></p>{taken}"
        f"<div class=attempt>{shown}{_curves(attempt, threshold, end_s)}</div>"
    )


def _curves(attempt: AttemptRecord, threshold: float | None, end_s: float) -> str:
    if not attempt.readings:
        return "<p>The reward monitor said nothing.</p>"
    lines = {
        "progress": [(step.stamp_s, step.progress) for step in attempt.readings],
        "success": [(step.stamp_s, step.success) for step in attempt.readings],
    }
    if threshold is not None:
        lines["threshold"] = [(attempt.began_s, threshold), (end_s, threshold)]
    return plot(lines, x=(attempt.began_s, end_s), unit="s")


def _decisions(steps: Sequence[RecordedStep]) -> Iterator[str]:
    yield "<h2>Decisions, with their reasons</h2><div class=scroll><table class=log id=decisions>"
    for step in list(decisions_of(steps))[-MAX_DECISIONS:]:
        yield (
            f"<tr><td class=n>{step.stamp_s:.1f} s<td class=k>{escape(step.kind)}<td>{escape(step.text)}"
            f"<td>{escape(step.reason)}</tr>"
        )
    yield "</table></div>"


def _facts(facts: Mapping[str, Any]) -> Iterator[str]:
    """Yield the facts of `run.json`: the skills with versions and licences, and all others."""
    if not facts:
        return
    yield "<h2>What it was run with</h2>"
    skills = facts.get("skills")
    if isinstance(skills, list) and any(isinstance(skill, dict) for skill in skills):
        yield "<div class=scroll><table id=skills><tr><th>skill<th>version<th>kind<th>licence<th>commercial use</tr>"
        for skill in (skill for skill in skills if isinstance(skill, dict)):
            cells = (skill.get(name, "") for name in ("name", "version", "kind", "license"))
            allowed = "allowed" if skill.get("commercial_use") else "not allowed"
            yield "<tr>" + "".join(f"<td>{escape(str(cell))}" for cell in cells) + f"<td>{allowed}</tr>"
        yield "</table></div>"
    yield "<div class=scroll><table id=facts>"
    yield from fact_rows({name: value for name, value in facts.items() if name != "skills"})
    yield "</table></div>"


def _tone(state: str) -> str:
    return "good" if state in GOOD else "bad" if state in BAD else "open"


def _kind(verdict: str) -> str:
    """Return the colour of an attempt, by the first word of its verdict."""
    return "open" if not verdict else "good" if verdict.startswith(("succeeded", "mission done")) else "bad"
