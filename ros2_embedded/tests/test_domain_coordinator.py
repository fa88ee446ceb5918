"""Domains are held by one process at a time and come back when it ends."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from domain_coordinator import HIGHEST, LOWEST, domain_id

HOLD = """
import domain_coordinator, sys
with domain_coordinator.domain_id(lambda: 231) as domain:
    print(domain, flush=True)
    sys.stdin.read()
"""


def test_two_at_once_differ():
    with domain_id() as one, domain_id() as other:
        assert one != other
        assert {one, other} <= set(range(LOWEST, HIGHEST + 1))


def test_a_taken_domain_is_not_given_twice_and_is_free_after_a_kill(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """The locks lie in a folder of the test's own: another test run may hold this very domain."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD],
        env={**os.environ, "TMPDIR": str(tmp_path)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert holder.stdout.readline() == "231\n"
    with pytest.raises(RuntimeError, match="every ROS domain is taken"), domain_id(lambda: 231):
        pass
    holder.kill()
    holder.communicate()
    with domain_id(lambda: 231) as domain:
        assert domain == 231
