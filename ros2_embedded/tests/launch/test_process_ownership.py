"""Whatever happens to the launcher, nothing it started is left."""

# ruff: noqa: E501 (launch files are quoted in the form users write them)
from __future__ import annotations

import asyncio
import os
import signal
import sys

import pytest

from launch.processes import ChildProcess, ChildSpec, Guard

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks processes up in /proc")

# A child that obeys, one that ignores SIGINT, one that ignores all it can and has children in and out of its session.
BODY = """
    folder = {folder!r}
    def child(name, script):
        return ExecuteProcess(cmd=['bash', '-c', f'echo $$ > {{folder}}/{{name}}.pid; ' + script], name=name)
    return LaunchDescription([
        child('obeys', 'exec sleep 1000'),
        child('deaf', 'trap "" INT; while true; do sleep 0.1; done'),
        child('stubborn', 'trap "" INT TERM; setsid bash -c "echo \\\\$\\\\$ > ' + folder + '/own_session.pid; exec sleep 1000" & '
              'bash -c "echo \\\\$\\\\$ > ' + folder + '/grandchild.pid; trap : TERM; while true; do sleep 0.1; done" & '
              'while true; do sleep 0.1; done'),
    ])
"""


def start(launcher, *arguments):
    process = launcher.start(BODY.format(folder=str(launcher.folder)), *arguments)
    pids = launcher.pids(5)
    assert all(map(launcher.alive, pids))
    return process, pids


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signal_stops_all_with_escalation(launcher, number):
    process, pids = start(launcher, "sigterm_timeout:=0.5", "sigkill_timeout:=0.5")
    process.send_signal(number)
    output, _ = process.communicate(timeout=90)
    assert process.returncode == 0
    assert not [pid for pid in pids if launcher.alive(pid)]
    assert "sending signal 'SIGINT' to process[obeys-1]" in output
    assert "escalating to 'SIGTERM'" in output
    assert "sending signal 'SIGKILL' to process[stubborn-3]" in output
    assert "sending signal 'SIGTERM' to process[obeys-1]" not in output


def test_second_and_third_interrupt_do_not_wait(launcher):
    # With timeouts longer than the test may take, only the repeated signal can bring the escalation forward.
    process, pids = start(launcher, "sigterm_timeout:=500", "sigkill_timeout:=500")
    process.send_signal(signal.SIGINT)
    for word in ("'SIGINT' to process[stubborn", "'SIGTERM' to process[stubborn"):
        for line in process.stdout:
            if word in line:
                break
        process.send_signal(signal.SIGINT)
    process.communicate(timeout=90)
    assert not [pid for pid in pids if launcher.alive(pid)]


SLOW_START = """
import os, pathlib, sys, time
if "ros2_embedded.run" in sys.orig_argv:
    pathlib.Path({folder!r}, "node.pid").write_text(str(os.getpid()))
    time.sleep(1)
"""


SWALLOWED = """
import os, pathlib, sys, time
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name.startswith("tf2_ros") and not node.exists():
            node.write_text(str(os.getpid()))
            try:
                time.sleep(60)
            except KeyboardInterrupt:
                pass
node = pathlib.Path({folder!r}, "node.pid")
if "ros2_embedded.run" in sys.orig_argv:
    sys.meta_path.insert(0, Finder())
"""


@pytest.mark.parametrize("interrupted", [SLOW_START, SWALLOWED])
def test_interrupt_before_a_node_can_take_care_of_it_is_quiet(launcher, interrupted):
    """Python imports `sitecustomize` before any code of the node; an exception there is the interpreter's own.

    Extension modules that are being imported drop an exception at times.
    """
    (launcher.folder / "sitecustomize.py").write_text(interrupted.format(folder=str(launcher.folder)))
    launcher.environment["PYTHONPATH"] = str(launcher.folder)
    process = launcher.start(
        "return LaunchDescription([Node(package='tf2_ros', executable='static_transform_publisher',"
        " arguments=['--frame-id', 'a', '--child-frame-id', 'b'])])",
        "sigterm_timeout:=500",
    )
    launcher.pids(1)
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=90)
    assert "exit code 130" in output
    assert "Traceback" not in output
    assert "Fatal" not in output


def test_killed_launcher_leaves_nothing(launcher):
    process, pids = start(launcher)
    process.kill()
    process.wait()
    assert launcher.wait_until(lambda: not [pid for pid in pids if launcher.alive(pid)])


def test_grandchild_of_a_finished_process_goes_with_the_launch(launcher):
    body = f"""
    return LaunchDescription([
        ExecuteProcess(cmd=['bash', '-c', 'sleep 1000 & echo $! > {launcher.folder}/left.pid']),
        ExecuteProcess(cmd=['sleep', '0.3']),
    ])
    """
    code, output = launcher.run(body)
    assert code == 0, output
    assert not launcher.alive(launcher.pids(1)[0])


def test_service_in_a_thread_owns_its_processes(launcher, monkeypatch):
    """The thread that started the children may end before they do; the service is stopped from another thread."""
    import threading

    from launch import LaunchDescription, LaunchService
    from launch.actions import ExecuteProcess
    from launch.logging import launch_config

    monkeypatch.setattr(launch_config, "_log_dir", launcher.folder / "log")
    service = LaunchService()
    action = ExecuteProcess(cmd=["bash", "-c", f"echo $$ > {launcher.folder}/child.pid; exec sleep 1000"])
    service.include_launch_description(LaunchDescription([action]))
    codes = []
    thread = threading.Thread(target=lambda: codes.append(service.run(shutdown_when_idle=False)))
    thread.start()
    pid = launcher.pids(1)[0]
    assert os.getsid(pid) == pid
    service.shutdown()
    thread.join(timeout=90)
    assert codes == [0]
    assert not launcher.alive(pid)
    assert action.return_code == -signal.SIGINT


def test_killed_guardian_is_replaced(tmp_path):
    """Without it a later SIGKILL of the launch would leave processes behind."""
    import subprocess

    from launch.processes import Guard

    guard = Guard(grace=0.2)
    guard.start()
    guard._process.kill()
    guard._process.wait()
    child = subprocess.Popen(["sleep", "1000"], start_new_session=True)
    guard.add(child.pid)
    guard.close()
    assert child.wait(timeout=90) == -signal.SIGINT


def test_the_exit_of_a_process_is_told_while_one_that_it_left_behind_floods_its_output():
    async def run() -> int:
        loop, guard, total = asyncio.get_running_loop(), Guard(), 0
        ended = loop.create_future()

        def take(stream, data):
            nonlocal total
            total += len(data)
            if total > 1 << 24:  # ends a test that fails
                ended.cancel()
                raise RuntimeError("output without end")
            os.write(left_behind, bytes(1024))

        spec = ChildSpec(["sh", "-c", "read line; echo $line"], None, dict(os.environ))
        child = ChildProcess(spec, loop, guard, take, ended.set_result)
        left_behind = os.open(f"/proc/{child.pid}/fd/1", os.O_WRONLY)
        child.write(b"go\n")
        try:
            return await ended
        finally:
            child.close()
            os.close(left_behind)
            await loop.run_in_executor(None, guard.close)

    assert asyncio.run(run()) == 0
