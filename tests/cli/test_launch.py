"""The command that owns a deployment: what it shows, and that nothing outlives it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import psutil
import pytest

from openral_core.errors import InstallationError
from openral_core.files import bounded_log
from openral_core.process import launched_deployment as deploy
from openral_core.process.announcements import arm_line, console_line, is_announcement
from openral_core.process.launched_deployment import LaunchedDeployment, is_trouble, running

FILE = "deploy_sim.launch.py"
STAND_IN = """#!{python}
import subprocess, sys, time, signal
signal.signal(signal.SIGTERM, lambda *_: sys.exit(15))
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
print("args", *sys.argv[1:], flush=True)
print("child", child.pid, flush=True)
try:
    time.sleep(float("{seconds}"))
except KeyboardInterrupt:
    print("interrupted", flush=True)
finally:
    child.kill()
    child.wait()
sys.exit({code})
"""


@pytest.fixture
def ros2(tmp_path, monkeypatch):
    """Put a stand-in for `ros2` in place, which sleeps with a child and then ends with a code."""

    def install(seconds=600.0, code=0):
        path = tmp_path / "ros2"
        path.write_text(STAND_IN.format(python=sys.executable, seconds=seconds, code=code))
        path.chmod(0o755)
        monkeypatch.setattr(deploy, "ros2_command", lambda: str(path))

    return install


def wait_for(condition, timeout=90.0):
    end = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < end, "did not happen in time"
        time.sleep(0.01)


def test_arguments_output_and_exit_code(ros2, tmp_path):
    ros2(seconds=0.1, code=3)
    lines = []
    with running(
        FILE, {"scene": "s", "mission": "open it; $(rm x)"}, tmp_path / "log", lines.append
    ) as deployment:
        wait_for(lambda: deployment.poll() is not None)
        assert deployment.close() == 3
    assert lines[0].endswith("deploy_sim.launch.py scene:=s mission:=open it; $(rm x)")
    assert (tmp_path / "log").read_text().splitlines() == lines


def test_the_log_of_a_long_run_is_bounded_and_its_lines_are_all_told(tmp_path, monkeypatch):
    limit, bursts, lines_each = 10_000, 8, 400
    path = tmp_path / "ros2"
    path.write_text(
        f"#!{sys.executable}\nimport os, time\n"
        f"for burst in range({bursts}):\n"
        f"    os.write(1, ''.join(f'{{burst}} \u00fc {{line}}\\n' for line in range({lines_each})).encode())\n"
        f"    while os.fstat(1).st_size > {limit}: time.sleep(0.01)\n"
        "os.write(1, b'the last line')\n"
    )
    path.chmod(0o755)
    monkeypatch.setattr(deploy, "ros2_command", lambda: str(path))
    monkeypatch.setattr(bounded_log, "LOG_LIMIT", limit)
    lines, log = [], tmp_path / "launch.log"
    with running(FILE, {}, log, lines.append) as deployment:
        wait_for(lambda: deployment.poll() is not None)
    whole = [f"{burst} ü {line}" for burst in range(bursts) for line in range(lines_each)]
    assert lines == [*whole, "the last line"]
    assert log.stat().st_size < limit
    assert bounded_log.earlier_log(log).stat().st_size < 2 * limit
    assert bounded_log.log_text(log).endswith(f"{bursts - 1} ü {lines_each - 1}\nthe last line")


def test_leaving_the_block_ends_everything(ros2, tmp_path):
    ros2()
    lines = []

    def interrupted_run():
        with running(FILE, {}, tmp_path / "log", lines.append):
            wait_for(lambda: len(lines) == 2)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted_run()
    assert lines[-1] == "interrupted"
    wait_for(lambda: not psutil.pid_exists(int(lines[1].split()[1])))


@pytest.mark.skipif(
    sys.platform != "linux", reason="the kernel tells children of their parent's death on Linux only"
)
def test_killing_the_command_ends_the_launch(ros2, tmp_path):
    ros2()
    program = (
        "import sys, time\n"
        "from pathlib import Path\n"
        "from openral_core.process import launched_deployment as deploy\n"
        f"deploy.ros2_command = lambda: {str(tmp_path / 'ros2')!r}\n"
        f"deploy.LaunchedDeployment({FILE!r}, {{}}, Path({str(tmp_path / 'log')!r}), lambda line: None)\n"
        "time.sleep(600)\n"
    )
    command = subprocess.Popen([sys.executable, "-c", program])
    log = tmp_path / "log"
    wait_for(lambda: log.is_file() and log.read_text().count("\n") == 2)
    child = int(log.read_text().splitlines()[1].split()[1])
    os.kill(command.pid, signal.SIGKILL)
    command.wait()
    wait_for(lambda: not psutil.pid_exists(child))


def test_a_launch_that_ignores_ctrl_c_is_ended_all_the_same(tmp_path, monkeypatch):
    path = tmp_path / "ros2"
    path.write_text(
        f"#!{sys.executable}\nimport signal, time\n"
        "signal.signal(signal.SIGINT, signal.SIG_IGN); signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "print('up', flush=True)\ntime.sleep(600)\n"
    )
    path.chmod(0o755)
    monkeypatch.setattr(deploy, "ros2_command", lambda: str(path))
    monkeypatch.setattr(deploy, "GRACE_S", (0.2, 0.2))
    lines = []
    deployment = LaunchedDeployment(FILE, {}, tmp_path / "log", lines.append)
    wait_for(lambda: lines)
    assert deployment.close() == -signal.SIGKILL


def test_a_last_line_without_an_end_is_told_too(tmp_path, monkeypatch):
    path = tmp_path / "ros2"
    path.write_text("#!/bin/sh\nprintf 'begun\\nerror: no ca\\303'\n")
    path.chmod(0o755)
    monkeypatch.setattr(deploy, "ros2_command", lambda: str(path))
    lines = []
    deployment = LaunchedDeployment(FILE, {}, tmp_path / "log", lines.append)
    wait_for(lambda: lines)
    deployment.close()
    assert lines == ["begun", "error: no ca\ufffd"]


def test_a_line_without_an_end_is_told_in_pieces(tmp_path, monkeypatch):
    path = tmp_path / "ros2"
    path.write_text("#!/bin/sh\nhead -c 200000 /dev/zero | tr '\\0' a\nsleep 600\n")
    path.chmod(0o755)
    monkeypatch.setattr(deploy, "ros2_command", lambda: str(path))
    lines = []
    with running(FILE, {}, tmp_path / "log", lines.append):
        wait_for(lambda: len(lines) == 3)
    assert lines == [*["a" * deploy.MAX_LINE] * 3, "a" * (200_000 - 3 * deploy.MAX_LINE)]


def test_a_folder_that_is_removed_as_the_launch_begins_costs_its_lines_alone(tmp_path, monkeypatch):
    path = tmp_path / "ros2"
    path.write_text(f"#!/bin/sh\nrm -r {tmp_path / 'run'}\necho begun\n")
    path.chmod(0o755)
    monkeypatch.setattr(deploy, "ros2_command", lambda: str(path))
    start, lines = threading.Thread.start, []

    def late(thread):
        wait_for(lambda: not (tmp_path / "run").exists())
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", late)
    (tmp_path / "run").mkdir()
    with running(FILE, {}, tmp_path / "run" / "log", lines.append) as deployment:
        deployment.wait(60.0)
    assert lines == ["begun"]


def test_without_ros2_the_fix_is_named(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InstallationError, match="pip install ros2-embedded"):
        deploy.ros2_command()


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("[sim_bridge-1] [FATAL] [1.2] [openral.sim_bridge]: the simulation ended", True),
        ("[policy_node-2] [WARN] [1.2] [x]: slow", True),
        ("[INFO] [launch]: process[sim_bridge-1] was required: shutting down launched system", True),
        ("[INFO] [launch]: process[reasoner-4] was required: shutting down (the mission has ended)", False),
        ("[console-7] error: --port 8430 on 127.0.0.1: Address already in use; use another", True),
        ("[reasoner-4] [INFO] [1.2] [openral.reasoner]: an ERROR in a word", False),
        ("[reasoner-4] [INFO] [1.2] [openral.reasoner]: [a] error: in a word", False),
        ("[INFO] [sim_bridge-1]: process started with pid [13412]", False),
    ],
)
def test_only_trouble_is_shown_unasked(line, shown):
    assert is_trouble(line) is shown


@pytest.mark.parametrize(
    ("line", "announced"),
    [
        (arm_line("ros2_control", "7", 0.5, "shadow mode, nothing is sent"), True),
        (console_line("https://0.0.0.0:8420/?token=x"), True),
        ("the arm at 10.0.0.7 does not answer", False),
        ("the camera at 10.0.0.7 gives 20 Hz, which is slow", False),
    ],
)
def test_what_is_for_the_operator_is_known_by_the_form_it_is_said_in(line, announced):
    assert is_announcement(f"[bridge-1] [INFO] [1.2] [openral.bridge]: {line}") is announced


def run_launch(*arguments):
    launch_file = Path(__file__).parents[2] / "launch" / "deploy_sim.launch.py"
    return subprocess.run(
        [deploy.ros2_command(), "launch", str(launch_file), *arguments],
        env={**os.environ, "ROS_DOMAIN_ID": os.environ["ROS_DOMAIN_ID"]},
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_the_launch_file_shows_its_arguments():
    shown = run_launch("--show-args").stdout
    for name in (
        "scene",
        "mission",
        "mode",
        "real_time_factor",
        "init_id",
        "run_dir",
        "enable_reward_monitor",
    ):
        assert f"'{name}'" in shown


@pytest.mark.slow
def test_the_launch_file_names_a_wrong_scene():
    ended = run_launch("scene:=no_such_scene")
    assert ended.returncode == 1
    assert "no_such_scene" in ended.stdout + ended.stderr
    assert "metaworld_drawer" in ended.stdout + ended.stderr


@pytest.mark.parametrize(
    "word",
    [
        "real_time_factor:=fast",
        *(pytest.param(word, marks=pytest.mark.slow) for word in ("real_time_factor:=nan", "init_id:=1e99")),
    ],
)
def test_the_launch_file_names_an_argument_that_is_no_number_of_its_kind(word):
    ended = run_launch("scene:=metaworld_drawer", word)
    assert ended.returncode == 1
    assert f"{word}: give a number from " in ended.stdout + ended.stderr
