"""However a program with a node ends, its process ends too, with the right exit code and without noise.

`make soak` runs it with `SOAK_STARTS=200`.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType

import pytest

PROGRAM = Path(__file__).with_name("exits.py")
PATIENCE_S = 60.0
# Words of threads that met the end of the interpreter, and of Rust.
NOISE = ("FATAL", "panicked", "Fatal Python error", "Exception ignored")


def load(path: Path) -> ModuleType:
    """Import a file that is no part of a package."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


KINDS = load(PROGRAM).KINDS
STARTS = int(os.environ.get("SOAK_STARTS", len(KINDS)))
ROUNDS = -(-STARTS // len(KINDS))


@pytest.mark.timeout(ROUNDS * 2 * PATIENCE_S)
@pytest.mark.parametrize("kind", KINDS)
def test_the_process_ends(kind: str) -> None:
    signal, codes = KINDS[kind]
    times = []
    for _ in range(ROUNDS):
        command = [sys.executable, str(PROGRAM), kind]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            begin = time.monotonic()
            if signal is not None:
                process.send_signal(signal)
            _, errors = process.communicate(timeout=PATIENCE_S)
            times.append(time.monotonic() - begin)
        finally:
            process.kill()
            process.communicate()
        assert process.returncode in codes, errors
        assert not [word for word in NOISE if word in errors], errors
    if ROUNDS > 1:
        sys.stdout.write(f"{kind}: {ROUNDS} ends, exit codes {codes}, slowest {max(times):.2f} s\n")


FORKS = """
import os, sys, rclpy
rclpy.init()
node = rclpy.create_node("forks")
child = os.fork()
if child == 0:
    sys.exit(7)
print(child, flush=True)
_, status = os.waitpid(child, 0)
other = rclpy.create_node("after")
print(os.waitstatus_to_exitcode(status), node.wait_for_node("/after", 60.0), flush=True)
rclpy.shutdown()
"""


def test_a_forked_process_ends_and_leaves_the_session_to_its_parent() -> None:
    process = subprocess.Popen([sys.executable, "-c", FORKS], stdout=subprocess.PIPE, text=True)
    child = None
    try:
        assert process.stdout is not None
        child = int(process.stdout.readline())
        said, _ = process.communicate(timeout=PATIENCE_S)
        child = None
    finally:
        if child is not None:
            os.kill(child, 9)
        process.kill()
        process.communicate()
    assert said == "7 True\n"
