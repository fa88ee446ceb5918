"""What recording three large cameras costs the control loop, on two cores."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pyarrow.parquet as pq
from camera_world import CONTROL_HZ, control_rate, write_world
from system_stack import Stack, wait_for

CAMERA_HZ = 30
SECONDS = 20.0
CORES = 2
RATE_BAR = 0.99


def run(folder: Path, strategy: str) -> tuple[float, float]:
    """Let the world run; return the share of its control rate, and of steps that came two periods after the last."""
    folder.mkdir()
    words = (f"scene:={write_world(folder, CAMERA_HZ)}", f"run_dir:={folder / 'run'}", f"record:={strategy}")
    launch = ("ros2", "launch", "openral", "deploy_sim.launch.py", *words, "exit_when_done:=false")
    with Stack(folder, *launch) as stack:
        wait_for(lambda: (folder / "run" / "truth.npz").exists(), lambda: stack.output)
        if strategy != "none":
            done = stack.beside("openral", "data", "record", "start", "--patience", "60")
            assert done.returncode == 0, done.stdout + done.stderr
        begin = time.monotonic()
        time.sleep(SECONDS)
        end = time.monotonic()
        if strategy != "none":
            assert stack.beside("openral", "data", "record", "stop").returncode == 0
            wait_for(lambda: stack.said("episode 0"), lambda: stack.output)
        stack.interrupt()
        assert stack.wait() == 0, stack.output
    return control_rate(folder / "run", begin, end)


def test_three_cameras_are_recorded_without_a_dropped_control_step(tmp_path, report):
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(before)[-CORES:])
    try:
        bare, bare_late = run(tmp_path / "bare", "none")
        rate, late = run(tmp_path / "recorded", "episodes")
    finally:
        os.sched_setaffinity(0, before)
    [episode] = pq.read_table(
        tmp_path / "recorded" / "run" / "recording" / "dataset" / "meta" / "episodes"
    ).to_pylist()
    lost = f"{episode['repeated_images']} pictures, {episode['missing_steps']} control steps"
    report(
        f"recording 3 cameras 640x480 at {CAMERA_HZ} Hz, {CORES} cores, {episode['length'] / CAMERA_HZ:.0f} s",
        f"{100 * rate:.1f} % of {CONTROL_HZ} Hz, {100 * late:.2f} % of steps 2 periods after the last, lost {lost}",
        f"not recorded {100 * bare:.1f} %, {100 * bare_late:.2f} %",
        f"{100 * RATE_BAR:.0f} % of the rate without",
    )
    assert rate >= RATE_BAR * bare
