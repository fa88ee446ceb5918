"""Processes that lead a real arm are not delayed by ordinary ones, where their user may have real-time priorities."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from openral_robot_bridge.realtime_priority import PRIORITY, priority_refusal

PROGRAM = """
import os, resource, threading
from openral_robot_bridge.realtime_priority import present_priority, priority_refusal, take_priority

FORBIDDEN = {forbidden}
if FORBIDDEN:
    resource.setrlimit(resource.RLIMIT_RTPRIO, (0, 0))
    os.setuid(65534)  # which also gives up CAP_SYS_NICE
print(repr(priority_refusal()), present_priority())
told, done = threading.Event(), threading.Event()
found = {{}}

def before():
    told.wait()
    found["before"] = present_priority()

def after():
    found["after"] = present_priority()

early = threading.Thread(target=before)
early.start()
print(repr(take_priority()), present_priority())
told.set()
late = threading.Thread(target=after)
late.start()
early.join(), late.join()
print(found["before"], found["after"])
"""


def lines_of(forbidden: bool) -> list[str]:
    command = [sys.executable, "-c", PROGRAM.format(forbidden=forbidden)]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout.splitlines()


@pytest.mark.skipif(bool(priority_refusal()), reason="the user may have no real-time priorities")
def test_all_threads_get_it_and_looking_changes_nothing() -> None:
    assert lines_of(forbidden=False) == ["'' 0", f"'' {PRIORITY}", f"{PRIORITY} {PRIORITY}"]


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
def test_a_user_who_may_not_is_told_and_the_process_goes_on() -> None:
    refusal = "'the user may have no real-time priorities'"
    assert lines_of(forbidden=True) == [f"{refusal} 0", f"{refusal} 0", "0 0"]
