"""What a process is told by configurations of the scope in which it was visited, after the scope has gone."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from launch import LaunchDescription, LaunchService
from launch.actions import ExecuteProcess, GroupAction, SetLaunchConfiguration, Shutdown, TimerAction
from launch.substitutions import LaunchConfiguration


@pytest.fixture(autouse=True)
def logs_in_a_temporary_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ROS_LOG_DIR", str(tmp_path / "log"))


def run(*entities: object) -> int:
    service = LaunchService(noninteractive=True)
    service.include_launch_description(LaunchDescription(list(entities)))

    async def limited() -> int:
        return await asyncio.wait_for(service.run_async(), 10)  # ends only a test that fails anyway

    return asyncio.run(limited())


def scoped(name: str, value: str, process: ExecuteProcess) -> GroupAction:
    return GroupAction([SetLaunchConfiguration(name, value), process])


def test_a_process_is_stopped_in_the_times_of_its_scope() -> None:
    times = LaunchConfiguration("seconds")
    process = ExecuteProcess(cmd=["sleep", "1000"], sigterm_timeout=times, sigkill_timeout=times)
    end = TimerAction(period=0.2, actions=[Shutdown()])
    assert run(scoped("seconds", "30", process), end) == 0
    assert process.return_code == -2


def test_a_process_respawns_as_its_scope_says() -> None:
    word = LaunchConfiguration("again")
    once = ExecuteProcess(cmd=["echo", "once"], respawn=word, respawn_delay=word, cached_output=True)
    assert run(scoped("again", "0", once)) == 0
    assert once.get_stdout() == "once\n"


def test_a_process_has_the_terminal_that_its_scope_says() -> None:
    command = ["sh", "-c", "test -t 1 && echo yes"]
    process = ExecuteProcess(cmd=command, emulate_tty=LaunchConfiguration("tty"), cached_output=True)
    assert run(scoped("tty", "true", process)) == 0
    assert process.get_stdout().strip() == "yes"


def test_times_that_are_no_numbers_are_told_before_the_process_starts() -> None:
    process = ExecuteProcess(cmd=["sleep", "1000"], sigterm_timeout="soon")
    assert run(process) == 1
    assert process.process_details is None or "pid" not in process.process_details


def test_a_program_that_cannot_be_started_is_tried_once(capfd: pytest.CaptureFixture[str]) -> None:
    missing = ExecuteProcess(cmd=["/no/such/program"], respawn=True)
    assert run(missing, TimerAction(period=0.2, actions=[Shutdown()])) == 0
    assert capfd.readouterr().out.count("cannot start process") == 1
    assert missing.return_code == 127
