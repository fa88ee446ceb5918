"""`openral sidecar`, as a user types it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sidecar_helpers import PATIENCE_S, running, wait_for

from openral_cli.app import main
from openral_core.errors import UsageError
from openral_core.files.bounded_log import LOG_LIMIT, earlier_log
from openral_sidecar import table
from openral_sidecar.environment.build import environment_folder, is_built
from openral_sidecar.environment.file_lock import exclusive
from openral_sidecar.environment.spec import SidecarSpec
from openral_sidecar.identity import Identity
from openral_sidecar.paths import environments_folder, log_folder, run_folder
from openral_sidecar.process import old_logs
from openral_sidecar.server_announcement import announcements
from openral_sidecar.server_argument_check import check_arguments
from openral_sidecar.sidecar import Sidecar, SidecarSettings
from openral_sidecar.sidecar_inventory import size_of

SPEC = SidecarSpec(
    "echo",
    "3.11",
    (),
    "sidecar_echo",
    parser="sidecar_echo:echo_parser",
    description="sends back what comes",
)
BROKEN = {"broken": "no_such_module:SPEC", "misspelt": "json:SPEC"}
Openral = Callable[..., str]


@pytest.fixture
def openral(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Openral:
    """Run `openral sidecar` with a table of three: the echo, and two that cannot be imported."""
    monkeypatch.setattr(table, "BUILT_IN", {**BROKEN, "echo": f"{__name__}:SPEC"})
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("OPENRAL_ACCEPT_NONCOMMERCIAL", "1")  # nothing is known of the weights of an echo

    def run(*words: str, fails: bool = False) -> str:
        monkeypatch.setattr(sys, "argv", ["openral", "sidecar", *words])
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capsys.readouterr()
        assert bool(ended.value.code) == fails, out + err
        return out + err

    return run


@pytest.fixture
def started(openral: Openral) -> Iterator[str]:
    """The port of a server that `openral sidecar start` left running."""
    printed = openral("start", "echo", "--python", sys.executable, "--", "--model", "m1")
    (server,) = announcements()
    assert f"echo serves m1, tag -, quantization none, revision - at 127.0.0.1:{server.port}" in printed
    assert server.token_file in printed
    yield str(server.port)
    if running(server.pid):
        os.killpg(server.pid, signal.SIGKILL)
        wait_for(lambda: not running(server.pid), "the end of the server")


def test_a_stranger_with_the_number_of_a_server_that_ended_is_left_alone(started, openral) -> None:
    (server,) = announcements()
    left = (run_folder() / f"{started}.json").read_text()
    openral("stop", started)
    with subprocess.Popen(["sleep", "60"], start_new_session=True) as stranger:
        said = json.loads(left) | {"pid": stranger.pid}
        (run_folder() / f"{started}.json").write_text(json.dumps(said))
        assert list(announcements()) == []
        openral("stop", "--all")
        assert running(stranger.pid)
        assert "no server" in openral("stop", started, fails=True)
        assert running(stranger.pid)
        stranger.kill()
    assert said["began"] != ""
    assert server.pid != stranger.pid


def test_list_shows_sidecars_servers_and_what_is_broken(started, openral) -> None:
    printed = openral("list")
    assert "sends back what comes" in printed
    assert "not built" in printed
    assert "No module named 'no_such_module'" in printed
    assert f"echo at port {started}, pid" in printed
    assert "module 'json' has no attribute 'SPEC'" in " ".join(printed.split())
    rows = json.loads(openral("list", "--json"))
    assert [row["name"] for row in rows["sidecars"]] == ["broken", "echo", "misspelt"]
    assert rows["servers"][0]["port"] == int(started)


def test_a_started_server_is_used_and_stays_until_it_is_stopped(started, openral) -> None:
    settings = SidecarSettings(python=Path(sys.executable), call_timeout_s=PATIENCE_S)
    with Sidecar.open(SPEC, ["--model", "m1"], Identity("m1"), settings) as sidecar:
        assert sidecar.pid is None
        assert sidecar.call("echo", {"x": 1}) == {"x": 1}
        grandchild = sidecar.call("spawn")["pid"]
    (server,) = announcements()
    assert f"stopped echo at port {started}, pid {server.pid}" in openral("stop", started)
    wait_for(lambda: not running(server.pid) and not running(grandchild), "the end of the server")
    assert not (run_folder() / f"{started}.json").exists()
    assert f"no server '{started}'; those that run: none" in openral("stop", started, fails=True)


def test_stop_by_name_or_all_and_never_by_silence(started, openral) -> None:
    assert "give a port or a sidecar's name, or --all" in openral("stop", fails=True)
    assert "stopped echo" in openral("stop", "echo")
    assert openral("stop", "--all") == ""


def test_a_stopped_process_is_killed(started, openral) -> None:
    (server,) = announcements()
    os.kill(server.pid, signal.SIGSTOP)
    openral("stop", started)
    wait_for(lambda: not running(server.pid), "the end of the server")


def test_logs_are_found_by_port_and_by_name(started, openral) -> None:
    for words in ([started], ["echo"], []):
        assert f"answers at 127.0.0.1:{started}" in openral("logs", *words, "-n", "5")
    assert "no log of 'nothing'" in openral("logs", "nothing", fails=True)


def test_a_log_does_not_command_the_terminal(started, openral) -> None:
    (server,) = announcements()
    with open(server.log, "ab") as log:
        log.write(b"a model's words: \x1b]0;owned\x07\n")
    assert openral("logs", started, "-n", "1").splitlines()[-1] == r"a model's words: \x1b]0;owned\x07"


@pytest.mark.slow
def test_the_log_of_a_server_is_bounded_and_its_newest_lines_are_shown(started, openral) -> None:
    (server,) = announcements()
    log = Path(server.log)
    with log.open("ab") as output:
        for number in range(LOG_LIMIT // 1000 + 1):
            output.write(f"{number:09} {'x' * 990}\n".encode())
    wait_for(lambda: log.stat().st_size < LOG_LIMIT, "the move of the log's text")
    with log.open("ab") as output:
        output.write(b"after\n")
    shown = [line[:9] for line in openral("logs", started, "-n", "3").splitlines()[1:]]
    assert shown == [f"{LOG_LIMIT // 1000 - 1:09}", f"{LOG_LIMIT // 1000:09}", "after"]
    openral("prune", "--all")
    assert earlier_log(log).exists(), "its server is running"
    openral("stop", started)
    openral("prune", "--all")
    assert not earlier_log(log).exists()


@pytest.mark.slow
def test_a_start_deletes_old_logs_of_servers_that_have_ended(started, openral) -> None:
    (server,) = announcements()
    ended, recent = log_folder() / "echo-1.log", log_folder() / "echo-2.log"
    for log in (ended, recent):
        log.write_text("words")
    for log in (ended, Path(server.log)):
        os.utime(log, (0, 0))
    openral("start", "echo", "--python", sys.executable, "--", "--model", "m2")
    assert [log.exists() for log in (ended, recent, Path(server.log))] == [False, True, True]
    openral("stop", "--all")


def test_a_log_that_another_process_deletes_meanwhile_hinders_nobody(openral) -> None:
    gone, kept = log_folder() / "echo-1.log", log_folder() / "echo-2.log"
    gone.symlink_to("deleted")
    kept.write_text("words\n")
    os.utime(kept, (0, 0))
    assert "words" in openral("logs", "echo")
    assert old_logs([]) == [kept]
    assert f"removed {kept}" in openral("prune")


def test_the_log_of_a_sidecar_is_not_that_of_another_whose_name_begins_so(openral) -> None:
    ours = log_folder() / "echo-20261128-150000-0a1b.log"
    for log in (ours, *(log_folder() / f"echo-{more}-20261128-160000-0a1b.log" for more in ("two", "2"))):
        log.write_text(f"words of {log.name}\n")
    os.utime(ours, (0, 0))
    assert f"words of {ours.name}" in openral("logs", "echo")


def test_what_is_gone_while_it_is_measured_takes_no_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("12345")
    monkeypatch.setattr(os, "walk", lambda folder: [(folder, [], ["file", "gone"])])
    assert size_of(tmp_path) == 5


@pytest.mark.parametrize("name", ["/tmp", "**", "../echo", "["])
def test_a_name_that_no_sidecar_has_has_no_log(openral, name: str) -> None:
    assert f"no log of {name!r}" in openral("logs", name, fails=True)


@pytest.mark.slow
def test_a_server_by_hand_has_no_log_and_hinders_neither_a_start_nor_a_prune(openral, start_server) -> None:
    by_hand, _ = start_server("--model", "m1")
    openral("start", "echo", "--python", sys.executable, "--", "--model", "m2")
    openral("prune", "--all")
    assert {server.log == "" for server in announcements()} == {True, False}
    assert by_hand.poll() is None
    openral("stop", "--all")


def test_an_empty_name_stops_no_server(openral, start_server) -> None:
    by_hand, _ = start_server("--model", "m1")
    assert "no server ''" in openral("stop", "", fails=True)
    assert by_hand.poll() is None


def test_a_server_that_does_not_start_says_why(openral) -> None:
    printed = openral("start", "echo", "--python", sys.executable, "--", "--die-at-start", fails=True)
    assert "RuntimeError: no such checkpoint" in printed
    assert "no 'nothing'; known are broken, echo" in openral("start", "nothing", fails=True)
    assert list(announcements()) == []


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (
            ["--modle", "m1"],
            "sidecar echo: unrecognized arguments: --modle m1; `openral sidecar start echo -- --help`",
        ),
        (
            ["--mod", "m1"],
            "sidecar echo: unrecognized arguments: --mod m1",
        ),  # the licence gate would not see it
        (["--folder", "nowhere"], "sidecar echo: --folder nowhere: no such file or folder"),
    ],
)
def test_arguments_are_looked_at_before_the_environment_is_built(openral, words: list[str], why: str) -> None:
    assert why in openral("start", "echo", "--", *words, fails=True)
    assert "--die-at-start" in openral("start", "echo", "--", "--help")
    assert not environments_folder().exists()


@pytest.mark.parametrize("name", sorted(table.BUILT_IN))
def test_each_sidecar_says_what_it_takes_before_it_is_built(name: str) -> None:
    spec = table.sidecar_spec(name)
    with pytest.raises(UsageError, match=rf"sidecar {name}: .*; `openral sidecar start {name} -- --help`"):
        check_arguments(spec, ["--no-such"])
    assert not is_built(spec)


def test_a_source_that_is_not_there_is_told_before_anything_is_built(openral) -> None:
    assert "there is no folder /nowhere; fix --source" in openral(
        "build", "echo", "--source", "/nowhere", fails=True
    )
    assert not environment_folder(SPEC.with_source(Path("/nowhere"))).exists()


def test_prune_leaves_the_files_of_consoles_and_mcp_servers(openral) -> None:
    others = [run_folder() / name for name in ("console-8420.url", "console-8420.jsonl", "mcp-8425.token")]
    left = [run_folder() / name for name in ("echo-0123abcd.token", "40000.json", "40000.sock")]
    for path in (*others, *left):
        path.write_text("words")
        os.utime(path, (0, 0))
    openral("prune", "--all")
    assert [path.exists() for path in (*others, *left)] == [True] * 3 + [False] * 3


def test_prune_keeps_what_is_used(started, openral) -> None:
    (server,) = announcements()
    wanted, unwanted = environment_folder(SPEC), environments_folder() / "old-0123456789ab"
    building = environments_folder() / "new-0123456789ab"
    for folder in (wanted, unwanted, building):
        folder.mkdir(parents=True)
        (folder / "file").write_text("x" * 1000)
    old_log, stale, fresh_token = (
        log_folder() / "old.log",
        run_folder() / "1.json",
        run_folder() / "new.token",
    )
    for file in (old_log, stale, fresh_token):
        file.write_text("{}")
    os.utime(old_log, (0, 0))
    with exclusive(environments_folder() / f".{building.name}.building", 0.0):
        assert f"would remove {unwanted}" in openral("prune", "--dry-run")
        assert unwanted.exists()
        assert f"kept {building}: it is being built" in openral("prune")
        assert [path.exists() for path in (unwanted, old_log, stale)] == [False, False, False]
        assert [path.exists() for path in (wanted, building, fresh_token)] == [True, True, True]
        openral("prune", "--all")
    assert wanted.exists(), "a server with this spec is running"
    assert Path(server.log).exists()
    openral("stop", "--all")
    openral("prune", "--all")
    assert not wanted.exists()
