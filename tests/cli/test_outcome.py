"""Judging and filming a run from its two records; the table, the exit code's reasons."""

from __future__ import annotations

import io
import json

import av
import numpy as np
import pytest
from PIL import Image
from rich.console import Console

from openral_cli.deploy.mission_video import FPS, film_frames, panel_state, write_film, write_gif
from openral_cli.deploy.outcome_table import print_outcome
from openral_cli.deploy.run_outcome import judge
from openral_core.errors import ManifestError, NotFoundError
from openral_core.mission_record import StepsFile, load_mission, load_steps
from openral_core.scene import load_scene
from openral_reasoner.mission.mission import LogEntry
from openral_reasoner.mission.record import MissionWriter
from openral_sim_bridge.backends.fake import FakeBackend
from openral_sim_bridge.truth_recorder import TruthRecorder

HZ = 80.0
TASKS = ["drawer-open-v3", "drawer-close-v3"]


def task(text, skill_task, started, ended, state="done", **changes):
    return {
        "id": "m/0",
        "text": text,
        "instruction": text,
        "skill": "openral/rskill-mini",
        "skill_task": skill_task,
        "match_score": 1.0,
        "state": state,
        "attempts": 1,
        "progress": 0.97,
        "success": 0.9,
        "outcome": "progress stayed high",
        "started_s": started,
        "ended_s": ended,
        **changes,
    }


def write_mission(folder, tasks, state="done"):
    mission = {
        "id": "m",
        "text": "open it, then close it",
        "state": state,
        "active_task": 1,
        "message": "well",
    }
    (folder / "mission.json").write_text(json.dumps({**mission, "tasks": tasks}))
    steps = [
        {"stamp_s": 0.0, "kind": "prompt", "reason": "open it", "task": -1, "outcome": "active"},
        {"stamp_s": 0.1, "kind": "attempt", "reason": "attempt 1", "task": 0, "outcome": "active"},
        {"stamp_s": 0.5, "kind": "reading", "reason": "progress 0.50", "task": 0, "outcome": "active"},
        {"stamp_s": 1.0, "kind": "done", "reason": "progress stayed high", "task": 0, "outcome": "done"},
        {"stamp_s": 1.1, "kind": "attempt", "reason": "attempt 1", "task": 1, "outcome": "active"},
        {"stamp_s": 2.0, "kind": "mission", "reason": "mission done", "task": -1, "outcome": "done"},
    ]
    lines = [
        json.dumps({"progress": 0.5, "success": 0.4, "attempt": 1, "text": "", **step}) for step in steps
    ]
    (folder / "mission.jsonl").write_text("\n".join(lines) + '\n{"stamp_s": 3.0, "ki')


@pytest.fixture
def run_dir(tmp_path):
    """Two seconds: the first task succeeds at 0.8 s and stays so until 1.2 s, the second one from 1.8 s on."""
    backend = FakeBackend(TASKS)
    recorder = TruthRecorder(tmp_path, TASKS, HZ)
    recorder.reset(0.0, TASKS[0], 3)
    for i in range(1, 161):
        stamp = i / HZ
        action = np.array([0.2, 0.0, 0.0, -1.0])
        backend.step(action[None])
        success = np.array([0.8 <= stamp < 1.2, stamp >= 1.8])
        held = i <= 8 or i > 150
        recorder.step(stamp, 100 + 2 * stamp, backend.snapshot(), action, held, success, "" if held else "g")
        if i % 4 == 0:
            recorder.chunk(stamp, 0.010 if i < 80 else 0.030, rejected=i == 40)
    recorder.close()
    return tmp_path


def test_two_done_tasks_that_the_simulator_confirms(run_dir):
    write_mission(
        run_dir, [task("open it", TASKS[0], 0.1, 1.0), task("close it", f"metaworld/{TASKS[1]}", 1.0, 2.0)]
    )
    outcome = judge(run_dir)
    assert outcome.passed
    first, second = outcome.tasks
    assert (first.simulator_success, second.simulator_success) == (True, True)
    assert first.steps == 72
    assert first.sim_s == pytest.approx(0.9)
    assert first.wall_s == pytest.approx(1.8)
    assert first.effective_hz == pytest.approx(40)
    assert first.latency_p50_ms == pytest.approx(10)
    assert second.latency_p95_ms == pytest.approx(30)
    assert outcome.rejected_chunks == 1
    summary = json.loads(outcome.write(run_dir).read_text())
    assert summary["passed"] is True
    assert summary["tasks"][1]["simulator_success"] is True


@pytest.mark.parametrize(
    ("second", "state", "words"),
    [
        (task("close it", TASKS[1], 1.0, 1.5), "done", "was called done, and is not"),
        (task("close it", "", 1.0, 2.0), "done", "cannot judge '': it is not among the scene's tasks"),
        (task("close it", "", 1.0, 2.0), "done", "mission called done, and not judged in full: well"),
        (task("close it", TASKS[1], 1.0, 2.0, "abandoned", outcome="3 attempts"), "failed", "3 attempts"),
        (task("close it", TASKS[1], 0.0, 0.0, "pending", outcome=""), "stopped", "left pending"),
    ],
)
def test_runs_that_do_not_pass_and_why(run_dir, second, state, words):
    write_mission(run_dir, [task("open it", TASKS[0], 0.1, 1.0), second], state)
    outcome = judge(run_dir)
    assert not outcome.passed
    text = io.StringIO()
    print_outcome(Console(file=text, width=200), outcome)
    assert words in text.getvalue()
    assert "1 chunk was refused" in text.getvalue()


def test_a_task_whose_part_of_the_record_is_gone_is_not_called_undone(tmp_path):
    recorder = TruthRecorder(tmp_path, TASKS, HZ, limit=80)
    backend = FakeBackend(TASKS)
    for i in range(1, 161):
        success = np.array([True, True])
        recorder.step(i / HZ, i / HZ, backend.snapshot(), np.zeros(4), False, success, "g")
    recorder.close()
    write_mission(tmp_path, [task("open it", TASKS[0], 0.1, 0.5), task("close it", TASKS[1], 0.6, 2.0)])
    outcome = judge(tmp_path)
    assert [task.simulator_success for task in outcome.tasks] == [None, True]
    text = io.StringIO()
    print_outcome(Console(file=text, width=200), outcome)
    assert "cannot judge 'drawer-open-v3': its record begins only at 1" in text.getvalue()
    assert "and is not" not in text.getvalue()


def test_a_film_of_a_world_that_rested_goes_on_at_the_pace_of_the_clock(tmp_path, fake_scene):
    recorder, backend = TruthRecorder(tmp_path, TASKS, HZ), FakeBackend(TASKS)
    for i in range(1, 641):
        held = not (i <= 80 or i > 560)
        if not held:
            backend.step(np.array([[0.2, 0.0, 0.0, -1.0]]))
        recorder.step(i / HZ, i / HZ, backend.snapshot(), np.zeros(4), held, np.zeros(2, bool), "")
    recorder.close()
    write_mission(tmp_path, [task("open it", TASKS[0], 0.1, 8.0)])
    frames = list(film_frames(tmp_path, load_scene(fake_scene)))
    assert len(frames) == pytest.approx(8.0 * FPS, abs=2)


def test_success_is_read_at_the_end_of_the_task_not_somewhere_in_it(run_dir):
    write_mission(run_dir, [task("open it", TASKS[0], 0.1, 1.3)])
    assert judge(run_dir).tasks[0].simulator_success is False


def test_a_mission_without_tasks_does_not_pass(run_dir):
    write_mission(run_dir, [])
    assert not judge(run_dir).passed


def test_missing_records_are_named(tmp_path, run_dir):
    with pytest.raises(NotFoundError, match="the reasoner did not come to a mission"):
        judge(run_dir)
    with pytest.raises(NotFoundError, match="left no record"):
        judge(tmp_path / "nothing")


def test_a_cut_off_last_line_is_left_out(run_dir):
    write_mission(run_dir, [])
    assert len(load_steps(run_dir)) == 6


def test_words_with_other_line_breaks_are_one_step_and_a_letter_that_was_cut_in_two_is_left_out(tmp_path):
    """A prompt that was copied from a page may hold a line separator, which JSON leaves as it is."""
    said = "open\u2028the\u2029drawer"
    writer = MissionWriter(tmp_path)
    writer.step(LogEntry(1.0, "prompt", "said", "m", text=said), 0.0)
    writer.step(LogEntry(2.0, "attempt", "attempt 1", "m", text=said), 0.0)
    writer.close()
    with (tmp_path / "mission.jsonl").open("ab") as file:
        file.write('{"stamp_s": 3.0, "kind": "done", "reason": "…'.encode()[:-1])
    assert [(step.kind, step.text) for step in load_steps(tmp_path)] == [("prompt", said), ("attempt", said)]


def test_steps_that_are_written_meanwhile_are_read_once(tmp_path):
    steps = StepsFile(tmp_path)
    assert steps.new() == []
    writer = MissionWriter(tmp_path)
    for stamp_s in (1.0, 2.0, 3.0):
        writer.step(LogEntry(stamp_s, "reading", "r", "m"), 0.0)
        assert [step.stamp_s for step in steps.new()] == [stamp_s]
    writer.close()
    with (tmp_path / "mission.jsonl").open("a") as file:
        file.write('{"stamp_s": 4.0, "kind"')
        file.flush()
        assert steps.new() == []
        file.write(': "done", "reason": "r"}\n{"stamp_s": "soon"}\n')
    with pytest.raises(ManifestError, match=r"mission\.jsonl:5: stamp_s: "):
        steps.new()


def test_a_writer_that_begins_after_a_kill_drops_the_line_that_was_cut_off(tmp_path):
    (tmp_path / "mission.jsonl").write_text(
        '{"stamp_s": 1.0, "kind": "done", "reason": "r"}\n{"stamp_s": 2.0, "ki'
    )
    writer = MissionWriter(tmp_path)
    writer.step(LogEntry(3.0, "resume", "r", "m"), 0.0)
    writer.close()
    assert [step.stamp_s for step in load_steps(tmp_path)] == [1.0, 3.0]


def test_the_panel_shows_what_was_known_at_the_time(run_dir):
    write_mission(run_dir, [task("open it", TASKS[0], 0.1, 1.0), task("close it", TASKS[1], 1.0, 2.0)])
    mission, steps = load_mission(run_dir), load_steps(run_dir)
    early = panel_state(mission, steps, 0.6, False)
    assert [state for _, state in early.tasks] == ["active", "pending"]
    assert early.curve.tolist() == [[0.5, 0.5, 0.4]]
    assert early.words == "attempt 1"
    late = panel_state(mission, steps, 1.5, True)
    assert [state for _, state in late.tasks] == ["done", "active"]
    assert not len(late.curve)


def test_film_and_gif_are_drawn_from_the_record(run_dir, fake_scene):
    write_mission(run_dir, [task("open it", TASKS[0], 0.1, 1.0), task("close it", TASKS[1], 1.0, 2.0)])
    told = []
    film = write_film(run_dir, load_scene(fake_scene), on_frame=lambda n, total: told.append((n, total)))
    with av.open(str(film)) as container:
        stream = container.streams.video[0]
        assert (stream.codec_context.name, stream.pix_fmt) == ("h264", "yuv420p")
        frames = [frame.to_ndarray(format="rgb24") for frame in container.decode(stream)]
    assert len(frames) == len(told) == told[-1][1] == 40
    assert frames[0].shape == (480, 840, 3)
    bright = [np.argwhere(frame[:, :480, 0] > 200).mean(axis=0) for frame in (frames[0], frames[-1])]
    assert bright[1][1] > bright[0][1] + 20, "the arm moves to the right in the recorded states"
    gif = write_gif(film, run_dir / "mission.gif", width=320)
    with Image.open(gif) as image:
        assert image.is_animated
        assert image.n_frames == 20
    assert not list(run_dir.glob("*.partial*"))


def test_a_record_that_was_altered_is_named_with_its_line(run_dir):
    write_mission(run_dir, [task("open it", TASKS[0], 0.1, 1.0)])
    steps = run_dir / "mission.jsonl"
    steps.write_text('{"stamp_s": "soon", "kind": "done", "reason": "x"}\n')
    with pytest.raises(ManifestError, match=r"mission\.jsonl:1: stamp_s: "):
        load_steps(run_dir)
    (run_dir / "mission.json").write_text("{}")
    with pytest.raises(ManifestError, match=r"mission\.json: id: "):
        load_mission(run_dir)
    with pytest.raises(NotFoundError, match=r"nosuch: there is no such folder; name the folder of a run"):
        load_mission(run_dir / "nosuch")


def test_what_disturbed_the_world_is_told_from_the_simulator_s_record(tmp_path):
    backend, recorder = FakeBackend(TASKS), TruthRecorder(tmp_path, TASKS, HZ)
    for i in range(1, 9):
        recorder.step(i / HZ, i / HZ, backend.snapshot(), np.zeros(4), False, np.array([True, False]), "g")
    recorder.disturbed(0.05, "the gripper was opened")
    recorder.close()
    write_mission(tmp_path, [task("open it", TASKS[0], 0.0, 0.1)])
    outcome = judge(tmp_path)
    assert outcome.disturbances == ("the gripper was opened, at 0.1 s",)
    text = io.StringIO()
    print_outcome(Console(file=text, width=200), outcome)
    assert "disturbed: the gripper was opened" in text.getvalue()
