"""Threads that import messages while others import something else."""

from __future__ import annotations

import subprocess
import sys

import pytest

BOTH = """
import faulthandler, sys, threading
import ast, csv, dataclasses, email, hashlib, importlib.metadata, numpy, pathlib, zipfile
faulthandler.dump_traceback_later(60, exit=True)  # ends only a test that fails anyway
sys.setswitchinterval(1e-6)
answers = []

def runtime():
    import ros2_embedded.rosidl.registry

def messages():
    try:
        import std_msgs.msg
        answers.append("found")
    except ImportError as error:
        answers.append(repr(error))

threads = [threading.Thread(target=each) for each in (runtime, messages)]
[each.start() for each in threads]
[each.join() for each in threads]
print(answers)
"""
STANDARD = """
import importlib, threading
answers = []
begins = threading.Event()

def standard():
    begins.set()
    import asyncio, http.server, multiprocessing.pool, unittest.mock, xml.dom.minidom

thread = threading.Thread(target=standard)
thread.start()
begins.wait()
for name in ("std_msgs.msg", "sensor_msgs.msg", "geometry_msgs.msg", "nav_msgs.msg", "std_srvs.srv"):
    try:
        importlib.import_module(name)
    except ImportError as error:
        answers.append(repr(error))
thread.join()
print(answers or ["found"])
"""


@pytest.mark.parametrize("script", [BOTH, STANDARD])
def test_messages_are_found_while_another_thread_imports(script: str) -> None:
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.stderr) == ("['found']", "")
