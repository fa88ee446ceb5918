"""The memory of the emergency stop: what is on the disk after what, and what a broken disk changes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from openral_control.estop_latch import EStopLatch, latch_of_arm, latch_of_run


def test_a_new_process_is_as_the_last_one_was(tmp_path):
    path = tmp_path / "deep" / "estop.json"
    assert not EStopLatch(path).latched
    latch = EStopLatch(path)
    latch.latch()
    assert (latch.latched, latch.fault) == (True, "")
    assert EStopLatch(path).latched
    assert [entry.name for entry in path.parent.iterdir()] == ["estop.json"], "nothing half written is left"
    latch.release()
    assert (latch.latched, latch.fault) == (False, "")
    assert not EStopLatch(path).latched
    latch.release()
    assert latch.fault == ""


def test_releasing_what_was_never_written_is_no_fault(tmp_path):
    latch = EStopLatch(tmp_path / "never" / "made" / "estop.json")
    latch.release()
    assert (latch.latched, latch.fault) == (False, "")


def test_an_empty_file_says_latched(tmp_path):
    path = tmp_path / "estop.json"
    path.touch()
    assert EStopLatch(path).latched


def test_a_disk_that_cannot_be_written_latches_all_the_same_and_says_so(tmp_path):
    (tmp_path / "file").touch()
    latch = EStopLatch(tmp_path / "file" / "estop.json")
    assert (latch.latched, latch.fault) == (False, "")
    latch.latch()
    assert latch.latched
    assert str(latch.path) in latch.fault
    latch.release()
    assert not latch.latched


def test_a_file_that_cannot_be_removed_releases_this_process_and_says_so(tmp_path):
    path = tmp_path / "estop.json"
    path.mkdir()  # unlink refuses a folder, whoever asks
    latch = EStopLatch(path)
    assert latch.latched
    latch.release()
    assert not latch.latched
    assert str(path) in latch.fault


@pytest.mark.skipif(os.geteuid() == 0, reason="root may look everywhere")
def test_a_file_that_cannot_be_looked_at_counts_as_there(tmp_path):
    folder = tmp_path / "locked"
    folder.mkdir()
    folder.chmod(0)
    latch = EStopLatch(folder / "estop.json")
    folder.chmod(0o700)
    assert latch.latched
    assert latch.fault


def test_a_simulated_arm_has_its_latch_in_the_run_or_by_its_name_in_the_graph():
    environment = {"XDG_STATE_HOME": "/state"}
    assert latch_of_run("/run/1", 7, "/openral", environment) == Path("/run/1/estop.json")
    assert latch_of_run("", 7, "/openral", environment) == Path("/state/openral/estop/7-openral.json")
    assert latch_of_run("", 7, "/arm2/left", environment) == Path("/state/openral/estop/7-arm2-left.json")
    assert latch_of_run("", 0, "/openral", {}) == Path.home() / ".local/state/openral/estop/0-openral.json"
    assert latch_of_run("", 0, "/", {"XDG_STATE_HOME": "relative"}).is_relative_to(Path.home())


def test_a_real_arm_has_its_latch_by_its_address():
    environment = {"XDG_STATE_HOME": "/state"}
    assert latch_of_arm("franka", "172.16.0.2", environment) == Path(
        "/state/openral/estop/franka-172.16.0.2.json"
    )
    assert latch_of_arm("sawyer", "../paul.local:1", environment).parent == Path("/state/openral/estop")
