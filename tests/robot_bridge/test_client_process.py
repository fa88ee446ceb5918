"""Answers of a driver's client process come one by one, however they arrive."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from openral_robot_bridge.driver import ArmError
from openral_robot_bridge.drivers.client_process import ClientProcess

CLIENT = """
import sys
sys.stdin.readline()
sys.stdout.write('{"first": 1}\\n{"second": 2}\\n{"error": "it is off"}\\n')
sys.stdout.flush()
sys.stdin.readline()
"""


@pytest.fixture
def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ClientProcess:
    (tmp_path / "three_answers.py").write_text(CLIENT)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    return ClientProcess("three_answers", {})


def test_answers_that_come_at_once_are_heard_one_by_one(client: ClientProcess) -> None:
    time.sleep(0.5)  # all three are there before the first is read
    try:
        assert client.answer(30.0) == {"first": 1}
        assert client.answer(30.0) == {"second": 2}
        with pytest.raises(ArmError, match="it is off"):
            client.answer(30.0)
        with pytest.raises(ArmError, match="did not answer"):
            client.answer(0.1)
    finally:
        client.close()
