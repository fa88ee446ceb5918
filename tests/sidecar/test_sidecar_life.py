"""A sidecar is found or started, watched, restarted, given up and ended, with real processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
from sidecar_helpers import PATIENCE_S, PROGRAM, running, wait_for

from openral_core.errors import PolicyError, SidecarError
from openral_sidecar import supervisor
from openral_sidecar.client import SidecarClient
from openral_sidecar.connect import RunningServer, ServerRequest
from openral_sidecar.environment.spec import SidecarSpec
from openral_sidecar.errors import IdentityMismatch, SidecarDown, SidecarTimeout
from openral_sidecar.identity import Identity
from openral_sidecar.paths import log_folder, run_folder
from openral_sidecar.server_announcement import announcements
from openral_sidecar.sidecar import Sidecar, SidecarSettings
from openral_sidecar.skill_sidecar import skill_sidecar
from openral_sidecar.supervisor import Supervisor

SPEC = SidecarSpec("echo", "3.11", (), "sidecar_echo", environment={"ECHO_SAYS": "hello"})
ECHO = Identity("echo")
OpenSidecar = Callable[..., Sidecar]


@pytest.fixture
def open_sidecar() -> Iterator[OpenSidecar]:
    """Open sidecars in this interpreter; they are closed at the end."""
    made: list[Sidecar] = []

    def make(*arguments: str, identity: Identity = ECHO, **settings: object) -> Sidecar:
        chosen = {
            "python": Path(sys.executable),
            "call_timeout_s": PATIENCE_S,
            "restart_pauses_s": (0.05, 0.1, 0.2),
            **settings,
        }
        made.append(Sidecar.open(SPEC, arguments, identity, SidecarSettings(**chosen)))
        return made[-1]

    yield make
    for sidecar in made:
        sidecar.close()


def files() -> list[str]:
    """What servers have left beside their ports."""
    return [path.name for path in run_folder().iterdir() if path.suffix != ".lock"]


def started_anew(sidecar: Sidecar, before: int | None) -> None:
    wait_for(lambda: sidecar.down is None and sidecar.pid not in (None, before), "the restart")


def test_a_bug_in_its_supervision_is_told_to_who_opens_it(
    open_sidecar: OpenSidecar, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise UnicodeDecodeError("utf-8", b"\xff", 0, 1, "no token")

    monkeypatch.setattr("openral_sidecar.supervisor.connect", broken)
    with pytest.raises(SidecarError, match="its supervision failed: UnicodeDecodeError"):
        open_sidecar()


def test_it_starts_answers_and_leaves_nothing_behind(open_sidecar) -> None:
    threads = threading.active_count()
    sidecar = open_sidecar()
    assert sidecar.description == {"pid": sidecar.pid}
    assert sidecar.call("echo", {"x": 1}) == {"x": 1}
    grandchild = sidecar.call("spawn")["pid"]
    pid = sidecar.pid
    assert running(pid)
    sidecar.close()
    sidecar.close()
    assert not running(pid)
    wait_for(lambda: not running(grandchild), "the end of what the server started")
    assert files() == []
    assert threading.active_count() == threads
    with pytest.raises(SidecarDown):
        sidecar.call("echo")


def test_the_token_is_in_no_argument_and_no_variable(open_sidecar) -> None:
    sidecar = open_sidecar()
    (announced,) = announcements()
    token = announced.token()
    assert len(token) >= 32
    server = psutil.Process(sidecar.pid)
    assert token not in " ".join(server.cmdline())
    assert all(token not in value for value in sidecar.call("environment").values())
    assert Path(announced.token_file).stat().st_mode & 0o077 == 0


def test_the_server_has_our_code_and_the_variables_of_its_spec(open_sidecar, monkeypatch) -> None:
    monkeypatch.setenv("PYTHONPATH", "/nowhere")
    variables = open_sidecar().call("environment")
    assert variables["ECHO_SAYS"] == "hello"
    assert variables["OMP_NUM_THREADS"] == "1"
    names = {path.name for path in Path(variables["PYTHONPATH"]).iterdir()}
    assert {"openral_core", "openral_policy_nodes", "sidecar_echo.py"} <= names


def test_a_second_sidecar_uses_the_server_of_the_first(open_sidecar) -> None:
    first, second = open_sidecar(), open_sidecar()
    assert second.pid is None
    assert second.description == first.description
    second.close()
    assert first.call("echo", {"x": 1}) == {"x": 1}
    third = open_sidecar()
    first.close()
    started_anew(third, first.pid)
    assert third.call("echo", {"x": 1}) == {"x": 1}


def test_two_that_start_at_the_same_time_share_one_server(open_sidecar) -> None:
    made: list[Sidecar] = []
    threads = [threading.Thread(target=lambda: made.append(open_sidecar())) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(sidecar.pid is None for sidecar in made) == [False, True]
    made[0].close()
    made[1].close()
    assert files() == []


@pytest.mark.slow
def test_other_arguments_another_model_or_a_private_one_get_a_server_of_their_own(open_sidecar) -> None:
    sidecars = [
        open_sidecar(),
        open_sidecar("--model", "echo"),
        open_sidecar("--model", "other", identity=Identity("other")),
        open_sidecar(shared=False),
        open_sidecar(shared=False),
    ]
    assert len({sidecar.pid for sidecar in sidecars} - {None}) == 5


def test_a_server_started_by_hand_is_used_and_left_running(start_server, open_sidecar) -> None:
    process, announced = start_server()
    sidecar = open_sidecar(port=announced.port)
    assert sidecar.pid is None
    assert sidecar.call("echo", {"x": 1}) == {"x": 1}
    sidecar.close()
    assert process.poll() is None


def test_a_server_started_by_hand_with_another_model_is_refused_by_both_names(
    start_server, open_sidecar
) -> None:
    _, announced = start_server("--model", "other")
    with pytest.raises(IdentityMismatch, match=r"asked for \[echo, .*serves \[other, .*stop that server"):
        open_sidecar(port=announced.port)


def test_a_server_that_says_another_name_than_its_file_is_refused(start_server, open_sidecar) -> None:
    _, announced = start_server("--model", "other")
    path = run_folder() / f"{announced.port}.json"
    path.write_text(path.read_text().replace('"other"', '"echo"', 1))
    with pytest.raises(IdentityMismatch, match="its hello"):
        open_sidecar(port=announced.port)
    path.unlink()
    with pytest.raises(IdentityMismatch, match="its hello"):
        open_sidecar(port=announced.port)


def test_our_own_server_must_be_the_model_that_was_asked_for(open_sidecar) -> None:
    with pytest.raises(IdentityMismatch, match="its hello"):
        open_sidecar("--model", "other")
    assert files() == []


def test_a_wrong_token_is_refused(start_server, open_sidecar, tmp_path) -> None:
    file = tmp_path / "token"
    file.write_text("right")
    _, announced = start_server("--token-file", str(file))
    with pytest.raises(SidecarError, match="wrong token"):
        open_sidecar(port=announced.port, token="wrong")
    assert open_sidecar(port=announced.port).call("echo", {}) == {}


def test_a_private_server_of_another_client_is_not_used(open_sidecar) -> None:
    open_sidecar(shared=False)
    (announced,) = announcements()
    with pytest.raises(SidecarError, match="belongs to another client"):
        open_sidecar(port=announced.port)


def test_nothing_is_started_where_that_is_not_wanted(open_sidecar) -> None:
    with pytest.raises(
        SidecarDown, match="none may be started here; start one with `openral sidecar start echo`"
    ):
        open_sidecar(auto_spawn=False)
    for host in ("robot..lan", "x" * 80):  # which no machine can be called
        with pytest.raises(SidecarDown, match=f"{host}:5555: .*; start it there, or fix host and port"):
            open_sidecar(host=host, port=5555)


def test_a_port_of_another_program_is_refused(open_sidecar, monkeypatch) -> None:
    import socket

    monkeypatch.setattr("openral_sidecar.connect.HELLO_S", 0.2)
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        with pytest.raises(SidecarError, match="does not answer; use another port"):
            open_sidecar(port=other.getsockname()[1])


def test_a_server_that_ends_while_it_loads_says_why(open_sidecar) -> None:
    with pytest.raises(
        SidecarDown, match=r"did not start: .*exit code 1; .*RuntimeError: no such checkpoint"
    ):
        open_sidecar("--die-at-start")
    assert files() == []


def test_a_server_that_takes_too_long_to_load_is_ended(open_sidecar) -> None:
    with pytest.raises(SidecarTimeout, match="was not ready within 0 s"):
        open_sidecar(boot_timeout_s=0.0)
    assert files() == []


def test_a_skill_waits_as_long_as_its_manifest_says_that_loading_takes(manifest) -> None:
    settings = SidecarSettings(python=Path(sys.executable), boot_timeout_s=0.0)
    hasty = skill_sidecar(manifest(latency_budget={"per_chunk_ms": 40}), SPEC, (), ECHO, settings)
    with pytest.raises(PolicyError, match=r"rskill-mini-metaworld: .*was not ready within 0 s"):
        hasty.__enter__()
    patient = manifest(latency_budget={"per_chunk_ms": 40, "load_ms": 1000 * PATIENCE_S})
    with skill_sidecar(patient, SPEC, (), ECHO, settings) as sidecar:
        assert sidecar.call("echo", {"x": 1}, timeout_s=PATIENCE_S) == {"x": 1}
    assert sidecar.call("echo", {"x": 2}, timeout_s=PATIENCE_S) == {"x": 2}  # it stays with whoever opened it
    sidecar.close()
    assert files() == []


def test_a_skill_that_does_not_come_about_leaves_its_sidecar(manifest) -> None:
    pids = []

    def make() -> None:
        settings = SidecarSettings(python=Path(sys.executable))
        with skill_sidecar(manifest(), SPEC, (), ECHO, settings) as sidecar:
            pids.append(sidecar.pid)
            raise PolicyError("the checkpoint does not fit")

    with pytest.raises(PolicyError, match="does not fit"):
        make()
    assert not running(pids[0])
    assert files() == []


def test_an_interpreter_that_is_not_there_is_named(open_sidecar) -> None:
    with pytest.raises(SidecarError, match="/nowhere/python: No such file"):
        open_sidecar(python=Path("/nowhere/python"))


def test_a_log_that_cannot_be_written_is_named_and_not_the_interpreter(
    open_sidecar, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("openral_sidecar.process.new_log", lambda spec: tmp_path / "gone" / "a.log")
    with pytest.raises(SidecarError, match=r"gone/a\.log: No such file or directory; fix that") as caught:
        open_sidecar()
    assert "sidecar build" not in str(caught.value)
    assert files() == []


def test_a_killed_server_ends_the_call_and_comes_back(open_sidecar) -> None:
    sidecar = open_sidecar()
    pid = sidecar.pid
    assert sidecar.starts == 1
    killer = threading.Timer(0.3, os.kill, (pid, signal.SIGKILL))
    killer.start()
    with pytest.raises(SidecarDown, match="killed by SIGKILL"):
        sidecar.call("sleep", {"seconds": 2 * PATIENCE_S})
    killer.join()
    started_anew(sidecar, pid)
    assert sidecar.starts == 2
    assert sidecar.call("echo", {"x": 1}) == {"x": 1}


def test_the_end_of_an_idle_server_is_noticed_and_what_it_started_ends_too(open_sidecar) -> None:
    sidecar = open_sidecar(restart_pauses_s=(PATIENCE_S,))
    grandchild = sidecar.call("spawn")["pid"]
    os.kill(sidecar.pid, signal.SIGKILL)
    wait_for(lambda: "restart 1 of 1 is under way" in (sidecar.down or ""), "the end to be noticed")
    wait_for(lambda: not running(grandchild), "the end of what the server started")
    sidecar.close()


@pytest.mark.parametrize("idle", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_a_stopped_server_is_noticed_and_replaced(open_sidecar, idle: bool) -> None:
    sidecar = open_sidecar(call_timeout_s=3.0)
    pid = sidecar.pid
    os.kill(pid, signal.SIGSTOP)
    if not idle:
        with pytest.raises((SidecarTimeout, SidecarDown)):
            sidecar.call("echo")
    started_anew(sidecar, pid)
    assert not running(pid)


def test_a_call_that_could_wait_for_long_does_not_delay_the_restart(open_sidecar) -> None:
    sidecar = open_sidecar(call_timeout_s=0.5)
    before, begun, ends = sidecar.pid, threading.Event(), []

    def wait_long() -> None:
        begun.set()
        try:
            sidecar.call("echo", timeout_s=20.0)
        except SidecarError as error:
            ends.append(error)

    os.kill(before, signal.SIGSTOP)
    waiting = threading.Thread(target=wait_long)
    waiting.start()
    assert begun.wait(PATIENCE_S)
    with pytest.raises(SidecarTimeout):
        sidecar.call("echo")
    waiting.join()
    assert [type(end) for end in ends] == [SidecarDown]
    assert "it hangs" in str(ends[0])
    started_anew(sidecar, before)


def test_a_slow_answer_is_a_timeout_and_no_reason_to_restart(open_sidecar) -> None:
    sidecar = open_sidecar()
    pid = sidecar.pid
    with pytest.raises(SidecarTimeout, match="no answer within"):
        sidecar.call("sleep", {"seconds": 1.5}, timeout_s=0.2)
    assert sidecar.call("echo", {"x": 2}) == {"x": 2}
    assert sidecar.pid == pid


@pytest.mark.slow
def test_a_model_that_never_comes_back_is_restarted_though_its_server_answers_pings(
    open_sidecar, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervisor, "LEAST_STUCK_S", 0.1)
    sidecar = open_sidecar(call_timeout_s=0.3)
    pid = sidecar.pid
    with pytest.raises(SidecarTimeout, match="no answer within"):
        sidecar.call("sleep", {"seconds": 600.0})
    started_anew(sidecar, pid)
    assert sidecar.call("echo", {"x": 2}, timeout_s=PATIENCE_S) == {"x": 2}
    assert not running(pid)


def test_after_three_restarts_the_fault_is_latched_with_the_log(open_sidecar) -> None:
    sidecar = open_sidecar()
    for _ in range(3):
        pid = sidecar.pid
        os.kill(pid, signal.SIGKILL)
        started_anew(sidecar, pid)
        assert sidecar.fault is None
    os.kill(sidecar.pid, signal.SIGKILL)
    wait_for(lambda: sidecar.fault, "the fault")
    assert "given up after 3 restarts" in sidecar.fault
    assert "answers at 127.0.0.1" in sidecar.fault
    with pytest.raises(SidecarDown, match="given up after 3 restarts"):
        sidecar.call("echo")
    wait_for(lambda: files() == [], "the files to be gone")
    assert len(list(log_folder().iterdir())) == 4


def test_a_server_that_does_not_come_back_is_given_up_however_long_each_start_takes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ended = RunningServer(SidecarClient("ipc:///nowhere"), "", {}, lambda: "it was killed", None)
    starts: list[RunningServer | None] = [ended, *[None] * 20]

    def slow(*_: object) -> RunningServer:
        if starts and (server := starts.pop(0)) is not None:
            return server
        raise SidecarTimeout("it was not ready within 900 s")

    monkeypatch.setattr("openral_sidecar.supervisor.connect", slow)
    monkeypatch.setattr("openral_sidecar.supervisor.FORGIVEN_S", -1.0)  # as if each start took longer
    settings = SidecarSettings(restart_pauses_s=(0.0, 0.0, 0.0))
    supervisor = Supervisor(ServerRequest(SPEC, Path(sys.executable), (), ECHO, settings))
    supervisor.start()
    wait_for(lambda: supervisor.fault is not None or len(starts) == 0, "the end of its patience")
    supervisor.close()
    assert supervisor.fault == "given up after 3 restarts; it was not ready within 900 s"


PARENT = f"""
import sys, time
from pathlib import Path
sys.path.insert(0, {str(PROGRAM.parent)!r})
from openral_sidecar.sidecar import Identity, Sidecar, SidecarSettings
from openral_sidecar.environment.spec import SidecarSpec
spec = SidecarSpec("echo", "3.11", (), "sidecar_echo")
sidecar = Sidecar.open(spec, [], Identity("echo"), SidecarSettings(python=Path(sys.executable)))
print(sidecar.pid, sidecar.call("spawn")["pid"], flush=True)
"""


@pytest.mark.parametrize("stopped", [False, True], ids=["server runs", "server is stopped"])
def test_nothing_outlives_a_parent_that_is_killed(stopped: bool) -> None:
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT + "time.sleep(600)"], stdout=subprocess.PIPE, text=True
    )
    assert parent.stdout is not None
    server, grandchild = (int(word) for word in parent.stdout.readline().split())
    if stopped:
        os.kill(server, signal.SIGSTOP)
    parent.kill()
    parent.communicate()
    wait_for(lambda: not running(server) and not running(grandchild), "the end of the server")
    wait_for(lambda: files() == [], "the files to be gone")


@pytest.mark.slow
def test_a_parent_that_forgets_to_close_ends_and_so_does_its_server() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PARENT], capture_output=True, text=True, timeout=PATIENCE_S, check=True
    )
    server, grandchild = (int(word) for word in done.stdout.split())
    wait_for(lambda: not running(server) and not running(grandchild), "the end of the server")
    assert files() == []


def test_a_server_is_ended_while_it_is_still_loading(open_sidecar, tmp_path) -> None:
    """The guard is there before the model is: here the parent ends while the server has not yet read its arguments."""
    log = tmp_path / "pids"
    code = f"import os, time; open({str(log)!r}, 'w').write(str(os.getpid())); time.sleep(600)"
    (tmp_path / "sidecar_slow_import.py").write_text(code)
    program = PARENT.replace("sidecar_echo", "sidecar_slow_import").replace(
        str(PROGRAM.parent), str(tmp_path)
    )
    parent = subprocess.Popen([sys.executable, "-c", program])
    wait_for(lambda: log.exists() and log.read_text(), "the server's process")
    parent.kill()
    parent.wait()
    wait_for(lambda: not running(int(log.read_text())), "the end of the server")
