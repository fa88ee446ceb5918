"""What the console costs: processor time with a page that shows three large cameras and without one, and the control
loop beside the same deployment without a console.

The browser, which an operator has on another machine, draws on cores of its own.
"""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest
from camera_world import CAMERAS, CONTROL_HZ, control_rate, write_world
from system_stack import Stack, wait_for

sys.path.append(str(Path(__file__).parents[2] / "console"))
from console_browser import CHROMIUM, WEBGL, WIDE, console_of, open_page, url_of

if TYPE_CHECKING:
    from playwright.sync_api import WebSocket

CAMERA_HZ = 10
SECONDS = 20.0
PAGE_BAR = 0.10
"""Cores, with a page."""
RATE_BAR = 0.99
pytestmark = pytest.mark.timeout(900)


@contextmanager
def on_cores(cores: set[int]) -> Iterator[None]:
    """Have what this process starts run on some cores."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def used_s(process: psutil.Process) -> float:
    """[s] processor time of a process and of those that it started."""
    times = [each.cpu_times() for each in (process, *process.children(recursive=True))]
    return sum(each.user + each.system for each in times)


def cores_used(process: psutil.Process) -> float:
    """Return the cores that it uses over some seconds."""
    begin_s, before_s = time.monotonic(), used_s(process)
    time.sleep(SECONDS)
    return (used_s(process) - before_s) / (time.monotonic() - begin_s)


def hear_pictures(pictures: list[object], socket: WebSocket) -> None:
    """Keep what comes by the socket of the pictures."""
    if socket.url.endswith("/pictures"):
        socket.on("framereceived", lambda frame: pictures.append(frame))


def deployed(folder: Path, *words: str) -> Stack:
    folder.mkdir()
    given = (
        f"scene:={write_world(folder, CAMERA_HZ)}",
        f"run_dir:={folder / 'run'}",
        "exit_when_done:=false",
    )
    return Stack(folder, "ros2", "launch", "openral", "deploy_sim.launch.py", *given, *words)


def until_up(stack: Stack) -> None:
    wait_for(lambda: (stack.folder / "run" / "truth.npz").exists(), lambda: stack.output)


def bare(folder: Path, cores: set[int]) -> tuple[float, float]:
    """Return the control rate and the late steps of a deployment without a console."""
    with on_cores(cores), deployed(folder) as stack:
        until_up(stack)
        begin_s = time.monotonic()
        time.sleep(SECONDS)
        end_s = time.monotonic()
        stack.interrupt()
        stack.wait()
    return control_rate(folder / "run", begin_s, end_s)


def test_a_console_with_a_page_costs_a_tenth_of_a_core_and_the_control_loop_nothing(tmp_path, report):
    sync_api = pytest.importorskip("playwright.sync_api", reason="pip install playwright")
    if CHROMIUM is None or shutil.which(CHROMIUM) is None:
        pytest.skip("no Chromium on PATH: apt install chromium")
    cores = sorted(os.sched_getaffinity(0))
    ours, others = set(cores[len(cores) // 2 :]), set(cores[: len(cores) // 2] or cores)
    bare_rate, bare_late = bare(tmp_path / "bare", ours)
    pictures: list[object] = []
    with on_cores(ours):
        started = deployed(tmp_path / "watched", "console:=true", "console_port:=0")
    with started as stack, sync_api.sync_playwright() as driver:
        until_up(stack)
        url, console = url_of(stack), console_of(stack)
        time.sleep(5.0)  # what an idle console still does at its start
        idle = cores_used(console)
        with on_cores(others):
            browser = driver.chromium.launch(executable_path=CHROMIUM, args=WEBGL)
        context = browser.new_context(viewport=WIDE)
        context.on("page", lambda page: page.on("websocket", partial(hear_pictures, pictures)))
        page = open_page(context, url, lambda fault: None)
        page.wait_for_function(f"document.querySelectorAll('[data-camera] img').length == {len(CAMERAS)}")
        page.wait_for_timeout(5000)
        pictures.clear()
        begin_s, before_s = time.monotonic(), used_s(console)
        page.wait_for_timeout(1e3 * SECONDS)  # and not a sleep, in which the page's answers would wait
        end_s = time.monotonic()
        watched = (used_s(console) - before_s) / (end_s - begin_s)
        browser.close()
        stack.interrupt()
        stack.wait()
    rate, late = control_rate(tmp_path / "watched" / "run", begin_s, end_s)
    shown_hz = len(pictures) / len(CAMERAS) / (end_s - begin_s)
    what = f"{len(CAMERAS)} cameras 640x480 at {CAMERA_HZ} Hz"
    report(
        f"console with a page, {what}, of which it shows {shown_hz:.1f} Hz",
        f"{watched:.3f} cores",
        f"without a page {idle:.3f} cores",
        f"{PAGE_BAR:.2f} cores",
    )
    report(
        f"control loop of {CONTROL_HZ} Hz beside a console with a page",
        f"{100 * rate:.1f} % of its rate, {100 * late:.2f} % of steps 2 periods after the last",
        f"without a console {100 * bare_rate:.1f} %, {100 * bare_late:.2f} %",
        f"{100 * RATE_BAR:.0f} % of the rate without",
    )
    assert len(pictures) > 0, "the page shows nothing"
    assert rate >= RATE_BAR * bare_rate
    assert watched <= PAGE_BAR
