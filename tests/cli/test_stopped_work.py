"""Ctrl-C under a progress bar says whether and how the work is taken up again."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from openral_core.cli.progress import progress_bar

WORK = """
import time
from openral_core.cli.progress import BY_ITSELF, progress_bar
with progress_bar("working", 2{words}):
    print("begun", flush=True)
    time.sleep(60)
"""


@pytest.mark.parametrize(
    ("words", "said"),
    [("", "stopped"), (", goes_on=BY_ITSELF", "stopped; the same command goes on from what is kept")],
)
def test_it_says_how_the_work_is_taken_up_again(words: str, said: str) -> None:
    work = [sys.executable, "-c", WORK.format(words=words)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(work, **pipes) as process:  # type: ignore[call-overload]
        while "begun" not in process.stdout.readline():
            assert process.poll() is None, process.stderr.read()
        process.send_signal(signal.SIGINT)
        told = process.communicate(timeout=60)[1]
    assert told.splitlines()[0] == said
    assert process.returncode


def test_a_note_is_no_markup(capsys: pytest.CaptureFixture[str]) -> None:
    with progress_bar("working", 2) as (bar, task):
        bar.update(task, completed=2, note="last fake/near [/old]")
    assert "last fake/near [/old]" in capsys.readouterr().out
