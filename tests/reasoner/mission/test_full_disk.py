"""A disk that is full while a mission runs costs the record and not the mission."""

from __future__ import annotations

import json
import logging
import resource
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from openral_core.errors import OutputError
from openral_reasoner.mission.mission import LogEntry, Mission
from openral_reasoner.mission.record import MissionWriter


@pytest.fixture
def small_files() -> Iterator[None]:
    """Let files of this process grow to 4 KiB and no further, which is told as a full disk is: by an error."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)
    signal.signal(signal.SIGXFSZ, handler)


def entry(reason: str) -> LogEntry:
    return LogEntry(1.0, "reading", reason, "m1")


def test_it_says_so_once_and_goes_on(
    tmp_path: Path, small_files: None, caplog: pytest.LogCaptureFixture
) -> None:
    record = MissionWriter(tmp_path / "run")
    mission = Mission(id="m1", text="open the drawer", log=lambda step: None)
    record.state(mission)
    record.step(entry("first"), 0.0)
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
    mission.text = "x" * 5000
    with caplog.at_level(logging.ERROR):
        for _ in range(50):
            record.step(entry("a long one " * 20), 0.0)
        record.state(mission)
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    record.step(entry("last"), 0.0)
    record.close()
    (said,) = caplog.messages
    assert said.startswith(f"error: {tmp_path / 'run'}: ")
    assert "the mission goes on" in said
    lines = [json.loads(line) for line in (tmp_path / "run" / "mission.jsonl").read_text().splitlines()]
    assert [lines[0]["reason"], lines[-1]["reason"]] == ["first", "last"]
    assert json.loads((tmp_path / "run" / "mission.json").read_text())["text"] == "open the drawer"
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == ["mission.json", "mission.jsonl"]


def test_a_run_folder_that_cannot_be_is_an_error_of_ours() -> None:
    with pytest.raises(OutputError, match="run_dir /proc/nope"):
        MissionWriter(Path("/proc/nope"))
